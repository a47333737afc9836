"""One line a scheme over several seeds: what holds on average, and how far it moves from seed to seed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from spanwise.errors import SettingError
from spanwise.evaluate.record import Row
from spanwise.evaluate.statistics import RESAMPLES, aligned, deviation, interval, pairs, standing
from spanwise.evaluate.summary import Evaluation, Summary


@dataclass(frozen=True)
class AcrossSeeds:
    """One scheme on one stream, over seeds; None where a figure is not known.

    Attributes:
        scheme: its name.
        seeds: how many it was run with.
        rounds: rounds scored, the same in each.
        accuracy: mean over rounds, then over seeds.
        accuracy_sd: standard deviation of a seed's accuracy over seeds; None with one seed.
        gain: mean difference in accuracy against the `plain` of the same seed, in points.
        gain_sd: standard deviation of a seed's gain over seeds, in points; None with one seed.
        gain_low, gain_high: 95 % of resampled rows give a gain between these; see `statistics`.
        gain_same_fold: gain over the plain learner on the rows that this scheme trains on.
        wins, draws, losses: rounds in which accuracy averaged over seeds is more than, equal to, less than `plain`'s.
        seconds: spent predicting and learning, mean over seeds.
    """

    scheme: str
    seeds: int
    rounds: int
    accuracy: float | None
    accuracy_sd: float | None
    gain: float | None
    gain_sd: float | None
    gain_low: float | None
    gain_high: float | None
    gain_same_fold: float | None
    wins: int | None
    draws: int | None
    losses: int | None
    seconds: float


def by_seed(rows: Iterable[Row]) -> list[Evaluation]:
    """The rows of a record as one evaluation a seed: `across(by_seed(read("run.jsonl")))`."""
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(row.seed, []).append(row)
    return [Evaluation(found[seed]) for seed in sorted(found)]


def across(evaluations: Sequence[Evaluation], *, resamples: int = RESAMPLES) -> list[AcrossSeeds]:
    """One line a scheme, over evaluations of the same stream that differ by their seed.

    With one seed it says what `Evaluation.summary` does, and how far the gain may be luck. A scheme that
    some seeds lack is averaged over those that have it.

    >>> from spanwise.adapters.functions import majority_class
    >>> from spanwise.core.awe import AWE
    >>> from spanwise.evaluate.compare import compare
    >>> from spanwise.streams import Abrupt
    >>> stream = Abrupt(rounds=4, size=20)
    >>> lines = across([compare(majority_class(), stream, {"awe": AWE}, seed=seed) for seed in (0, 1, 2)])
    >>> [(line.scheme, line.seeds, line.rounds) for line in lines]
    [('plain', 3, 3), ('plain-same-fold', 3, 3), ('awe', 3, 3)]

    Args:
        evaluations: one a seed.
        resamples: of the bootstrap.
    """
    found = [evaluation for evaluation in evaluations if evaluation.rows]
    seeds = [evaluation.rows[0].seed for evaluation in found]
    if len(set(seeds)) < len(seeds):
        raise SettingError(
            f"two of these evaluations are of one seed, among {', '.join(map(str, seeds))}: "
            "pass seed= to `evaluate` or `compare`, and each run once"
        )
    runs: dict[str, list[tuple[Evaluation, Summary]]] = {}
    for evaluation in found:
        for line in evaluation.summary():
            runs.setdefault(line.scheme, []).append((evaluation, line))
    return [_across(of_scheme, resamples) for of_scheme in runs.values()]


def _across(runs: Sequence[tuple[Evaluation, Summary]], resamples: int) -> AcrossSeeds:
    evaluations, lines = [evaluation for evaluation, _ in runs], [line for _, line in runs]
    name = lines[0].scheme
    rounds = len(aligned(evaluations, name)[0])
    counts = pairs(evaluations, name)
    low, high = interval(counts, resamples=resamples) if counts is not None else (None, None)
    wins, draws, losses = _standing(evaluations, name)
    accuracy, gain = _all(lines, "accuracy"), _all(lines, "gain")
    return AcrossSeeds(
        scheme=name,
        seeds=len(lines),
        rounds=rounds,
        accuracy=_mean(accuracy),
        accuracy_sd=deviation(accuracy),
        gain=_mean(gain),
        gain_sd=deviation(gain),
        gain_low=low,
        gain_high=high,
        gain_same_fold=_mean(_all(lines, "gain_same_fold")),
        wins=wins,
        draws=draws,
        losses=losses,
        seconds=float(np.mean([line.seconds for line in lines])),
    )


def _standing(evaluations: Sequence[Evaluation], name: str) -> tuple[int, int, int] | tuple[None, None, None]:
    """Wins, draws and losses of the means over seeds; none of them known where a seed has no baseline."""
    differences = [list(evaluation.differences(name).values()) for evaluation in evaluations]
    if not all(differences):
        return None, None, None
    return standing(np.mean(differences, axis=0).tolist())


def _all(lines: Sequence[Summary], figure: str) -> list[float]:
    """A figure of every seed, or nothing where a seed does not know it."""
    values = [getattr(line, figure) for line in lines]
    return [] if None in values else values


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
