"""What the suite says of each scheme: what it gains, what it harms, how it ranks, what it costs.

A cell is a stream and a learner, averaged over seeds. It is harmed when its mean gain is below minus the bar and the
interval of the gain, over seeds and rounds, lies below 0. Schemes are compared on the same seeds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

import numpy as np

from spanwise.bench.suite.scores import Score
from spanwise.bench.tables import markdown
from spanwise.evaluate.ranks import by_stream, ranking, wilcoxon
from spanwise.evaluate.summary import PLAIN
from spanwise.learner import Array

BARS = (0.1, 0.3)
"""Points of accuracy; a loss below the first is none worth speaking of."""

DRAWS = 2000
BLOCK = 10
"""Rounds that are drawn together, at most: a scheme that is behind in one round mostly is in the next."""

OURS, ENSEMBLE, FALL_BACK = "spanwise", "plain-ensemble", "fall-back"


@dataclass(frozen=True)
class Place:
    """One scheme on one stream with one learner, over seeds.

    Attributes:
        stream, role, learner, scheme: which one.
        seeds: which ones.
        accuracy: mean over rounds and seeds.
        gain: over the plain learner of the same seed, in points.
        low, high: 95 % interval of the gain, over seeds and rounds.
        cost: seconds, in those of the plain learner in the same play, or else on a machine of that kind; None else.
    """

    stream: str
    role: str
    learner: str
    scheme: str
    seeds: tuple[int, ...]
    accuracy: float
    gain: float
    low: float
    high: float
    cost: float | None

    def harmed(self, bar: float) -> bool:
        return self.gain < -bar and self.high < 0


def places(scores: Iterable[Score], roles: Mapping[str, str]) -> list[Place]:
    """All scores by stream, learner and scheme; those without their plain learner are left out."""
    known = list(scores)
    plains = {(one.stream, one.learner, one.seed): one for one in known if one.scheme == PLAIN}
    together: dict[tuple[str, str, str], list[tuple[Score, Score]]] = {}
    for one in sorted(known, key=lambda one: (one.stream, one.learner, one.scheme, one.seed)):
        plain = plains.get((one.stream, one.learner, one.seed))
        if plain is not None:
            together.setdefault((one.stream, one.learner, one.scheme), []).append((one, plain))
    return [
        place(stream, roles.get(stream, ""), learner, scheme, pairs)
        for (stream, learner, scheme), pairs in together.items()
    ]


def place(stream: str, role: str, learner: str, scheme: str, pairs: Sequence[tuple[Score, Score]]) -> Place:
    """From the scores of a scheme and of the plain learner, by seed."""
    ours = np.array([one.accuracies for one, _ in pairs])
    differences = 100 * (ours - np.array([plain.accuracies for _, plain in pairs]))
    low, high = interval(differences)
    gain = float(differences.mean())
    seeds = tuple(one.seed for one, _ in pairs)
    return Place(stream, role, learner, scheme, seeds, float(ours.mean()), gain, low, high, cost_of(pairs))


def cost_of(pairs: Sequence[tuple[Score, Score]]) -> float | None:
    """Seconds of a scheme in those of the plain learner; None where nobody knows what that would have taken there."""
    plains = []
    for one, plain in pairs:
        if one.plain_seconds is None and one.machine != plain.machine:
            return None
        plains.append(plain.seconds if one.plain_seconds is None else one.plain_seconds)
    return fmean(one.seconds for one, _ in pairs) / max(1e-9, fmean(plains))


def comparable(found: Iterable[Place]) -> list[Place]:
    """Those that have been played with the seeds that ours has been played with."""
    known = list(found)
    seeds = {(one.stream, one.learner): one.seeds for one in known if one.scheme == OURS}
    return [one for one in known if one.seeds == seeds.get((one.stream, one.learner))]


def interval(differences: Array) -> tuple[float, float]:
    """95 % of means over seeds and rounds that are both drawn again.

    >>> interval(np.full((5, 30), 1.5))
    (1.5, 1.5)

    Args:
        differences: (seeds, rounds).
    """
    low, high = np.quantile(drawn_again(differences, 0), [0.025, 0.975])
    return float(low), float(high)


def drawn_again(differences: Array, seed: int) -> Array:
    """Means over seeds and rounds that are both drawn with replacement, many times.

    Rounds are drawn in blocks of neighbours, the last followed by the first. The same `seed` draws the same rounds,
    whatever the seeds of the plays.
    """
    which, when = (np.random.default_rng((seed, part)) for part in range(2))
    seeds, rounds = differences.shape
    length = max(1, min(BLOCK, rounds // 4))
    begins = when.integers(rounds, size=(DRAWS, -(-rounds // length)))
    blocks = (begins[:, :, None] + np.arange(length)).reshape(DRAWS, -1)[:, :rounds] % rounds
    chosen = how_often(which.integers(seeds, size=(DRAWS, seeds)), seeds)
    return np.asarray((chosen @ differences * how_often(blocks, rounds)).sum(axis=1) / (seeds * rounds))


def how_often(drawn: Array, choices: int) -> Array:
    """How often each of so many choices is in each line.

    >>> how_often(np.array([[0, 2, 2], [1, 1, 1]]), 3).tolist()
    [[1, 0, 2], [0, 3, 0]]
    """
    lines = np.arange(len(drawn))[:, None] * choices
    return np.bincount((drawn + lines).ravel(), minlength=len(drawn) * choices).reshape(len(drawn), choices)


def chance(values: Mapping[tuple[str, str], float]) -> float:
    """Wilcoxon's p over streams."""
    means = by_stream(values)
    return wilcoxon(means, [0.0] * len(means)).p_value


def summary(found: Sequence[Place], role: str) -> str:
    """A line a scheme over the cells of one role, as Markdown, and how their ranks differ."""
    here = comparable(one for one in found if one.role == role)
    by_scheme: dict[str, dict[tuple[str, str], Place]] = {}
    for one in here:
        by_scheme.setdefault(one.scheme, {})[one.stream, one.learner] = one
    common = sorted(by_scheme.get(ENSEMBLE, {}).keys() & by_scheme.get(OURS, {}).keys())
    if not common:
        return f"No cell of the {role} streams has been played by {OURS} and {ENSEMBLE} yet.\n"
    played = {one.scheme for one in found if one.role == role}
    partly = sorted(name for name in played if not by_scheme.get(name, {}).keys() >= set(common))
    by_scheme = {name: cells for name, cells in by_scheme.items() if name not in partly}
    gains = {name: by_stream({at: cells[at].gain for at in common}) for name, cells in by_scheme.items()}
    gains.pop(FALL_BACK, None)  # it is a smaller ensemble
    ranks = ranking(gains)
    lines = [
        line(name, f"{rank:.2f}", by_scheme, common) for name, rank in zip(ranks.schemes, ranks.ranks, strict=True)
    ]
    lines += [line(FALL_BACK, "", by_scheme, common)] if FALL_BACK in by_scheme else []
    told = f"{len(common)} cells of the {role} streams. "
    told += (
        f"Ranks and Wilcoxon's p are over streams ({ranks.streams}), each with the mean of its learners; mean ranks "
        f"that differ by less than {ranks.critical_difference:.2f} may do so by chance (Nemenyi, 5 %).\n"
        if ranks.streams > 1
        else "It is one stream, so that ranks and p prove nothing.\n"
    )
    told += f"Not played in all of them with the same seeds, and left out: {', '.join(partly)}.\n" if partly else ""
    header = ("scheme", "mean gain", "worst cell", *(f"harmed > {bar}" for bar in BARS), "mean rank", "cost")
    return markdown((*header, "over the ensemble", "worst against it"), lines) + "\n" + told


def line(
    name: str,
    rank: str,
    by_scheme: Mapping[str, Mapping[tuple[str, str], Place]],
    common: Sequence[tuple[str, str]],
) -> tuple[str, ...]:
    """What is told of one scheme."""
    cells = [by_scheme[name][at] for at in common]
    worst = min(cells, key=lambda one: one.gain)
    harmed = [f"{100 * fmean(one.harmed(bar) for one in cells):.0f} %" for bar in BARS]
    rival = by_scheme[ENSEMBLE]
    against = {at: by_scheme[name][at].gain - rival[at].gain for at in common}
    differs = any(against.values())
    costs = [one.cost for one in cells if one.cost is not None]
    return (
        name,
        f"{fmean(one.gain for one in cells):+.2f}",
        f"{worst.gain:+.2f} ({worst.stream}, {worst.learner})",
        *harmed,
        rank,
        f"{fmean(costs):.1f}x" if len(costs) == len(cells) else "",
        f"{fmean(against.values()):+.2f} (p {chance(against):.2g})" if differs else "",
        f"{min(against.values()):+.2f}" if differs else "",
    )


def document(found: Sequence[Place], scores: Sequence[Score], roles: Mapping[str, str]) -> dict[str, object]:
    """One row a scheme, stream, learner and seed; and one a cell."""
    plains = {(one.stream, one.learner, one.seed): one.accuracy for one in scores if one.scheme == PLAIN}
    rows = []
    for one in sorted(scores, key=lambda one: (one.stream, one.learner, one.scheme, one.seed)):
        plain = plains.get((one.stream, one.learner, one.seed))
        gain = None if plain is None else round(100 * (one.accuracy - plain), 4)
        told = {"stream": one.stream, "role": roles.get(one.stream, ""), "learner": one.learner, "scheme": one.scheme}
        figures = {"accuracy": round(one.accuracy, 6), "gain": gain, "seconds": round(one.seconds, 2)}
        rows.append({**told, "seed": one.seed, **figures} | ({"where": one.where} if one.where else {}))
    return {"rows": rows, "cells": [asdict(one) for one in found]}
