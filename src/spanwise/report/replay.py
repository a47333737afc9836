"""What the charts of a report draw: figures by round and scheme, over the seeds of one comparison."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property
from math import fsum

import numpy as np

from spanwise.errors import SettingError
from spanwise.evaluate.record import Row
from spanwise.evaluate.statistics import LEVEL, pairs, resampled
from spanwise.evaluate.summary import PLAIN, Evaluation
from spanwise.learner import Array
from spanwise.report.changes import Change, agreed, likely_changes

MOST_WIDTH = 9
"""Rounds that a point of a smoothed curve averages over, at most."""

Weights = dict[tuple[int, int], float]
"""By (round predicted, start): that start's share of all weight, mean over the seeds."""


class Replay:
    """One stream, played by the same schemes with one or several seeds.

    Args:
        evaluations: one a seed, at least one.
        told: the scheme that the report is about.
        periods: names of the rounds; their numbers if left out.
    """

    def __init__(self, evaluations: Sequence[Evaluation], told: str, periods: Sequence[str] | None = None) -> None:
        if not evaluations or not all(evaluation.rows for evaluation in evaluations):
            raise SettingError("a report needs at least one evaluation with a round in it")
        self.evaluations = list(evaluations)
        self.schemes = evaluations[0].schemes
        if told not in self.schemes or told == PLAIN:
            others = ", ".join(name for name in self.schemes if name != PLAIN)
            raise SettingError(f"a report cannot be about {told!r}: choose from {others or 'schemes beside plain'}")
        self.told = told
        self.last = max(row.round for evaluation in evaluations for row in evaluation.rows)
        self.dated = periods is not None
        self.names = [str(t) for t in range(1, self.last + 1)] if periods is None else list(periods)
        if len(self.names) < self.last or len(set(self.names)) < len(self.names):
            raise SettingError(
                f"{len(self.names)} names of rounds ({len(set(self.names))} different ones) for {self.last} rounds: "
                "pass one for each, no two alike"
            )

    def rows(self, scheme: str) -> list[list[Row]]:
        """By seed, the rows of a scheme."""
        return [[row for row in evaluation.rows if row.scheme == scheme] for evaluation in self.evaluations]

    def by_round(self, scheme: str, figure: Callable[[Row], float | None]) -> dict[int, float]:
        """Mean over the seeds of a figure, by round in which it is known."""
        found: dict[int, list[float]] = defaultdict(list)
        for rows in self.rows(scheme):
            for row in rows:
                if (value := figure(row)) is not None:
                    found[row.round].append(value)
        return {t: fsum(values) / len(values) for t, values in sorted(found.items())}

    def accuracy(self, scheme: str) -> dict[int, float]:
        """In per cent, by round scored."""
        return {t: 100 * value for t, value in self.by_round(scheme, lambda row: row.accuracy).items()}

    def gain(self, scheme: str) -> dict[int, float]:
        """Accuracy minus that of the plain learner, in points, by round scored."""
        found = [evaluation.differences(scheme) for evaluation in self.evaluations if scheme in evaluation.schemes]
        return {t: 100 * fsum(one[t] for one in found) / len(found) for t in found[0]}

    def band(self) -> tuple[dict[int, float], dict[int, float]]:
        """Between what values the smoothed gain of `told` lies, by round; nothing where the counts are not known."""
        counts = pairs(self.evaluations, self.told)
        if counts is None:
            return {}, {}
        tail = (1 - LEVEL) / 2
        low, high = np.quantile(trailing_mean(resampled(counts), self.width), [tail, 1 - tail], axis=0)
        rounds = counts.rounds.tolist()
        return dict(zip(rounds, low, strict=True)), dict(zip(rounds, high, strict=True))

    @cached_property
    def width(self) -> int:
        """Rounds to smooth curves over: few where there are few."""
        return smoothing(len(self.accuracy(self.told)))

    @property
    def shifts(self) -> list[int]:
        """Rounds at which the stream itself says that it shifted."""
        return self.evaluations[0].shifts

    def changes(self) -> list[Change]:
        """Where the span of `told` collapsed, in most seeds."""
        found = agreed([likely_changes(rows) for rows in self.rows(self.told)])
        return [change for change in found if change.round <= self.last]

    def weights(self) -> Weights:
        """The share of each start in what predicts a round, or in the ensemble passed over for one instance."""
        shares: Weights = defaultdict(float)
        for row in (row for rows in self.rows(self.told) for row in rows):
            if row.round < self.last:
                for start, share in row.shares.items():
                    shares[row.round + 1, start] += share / len(self.evaluations)
        return dict(shares)

    def by_class(self, scheme: str) -> dict[str, tuple[int, float]]:
        """Rows of each class and per cent of them that were right, over all rounds; the largest class first."""
        counts: dict[str, tuple[int, int]] = {}
        for row in (row for rows in self.rows(scheme) for row in rows):
            for label, (n, right) in row.by_class.items():
                before = counts.get(label, (0, 0))
                counts[label] = before[0] + n, before[1] + right
        ordered = sorted(counts.items(), key=lambda item: (-item[1][0], item[0]))
        return {label: (n // len(self.evaluations), 100 * right / n) for label, (n, right) in ordered}


def smoothing(rounds: int) -> int:
    """Over how many rounds to smooth so many.

    >>> [smoothing(rounds) for rounds in (6, 24, 500)]
    [1, 3, 9]
    """
    return min(MOST_WIDTH, max(1, rounds // 8))


def trailing_mean(values: Array, width: int) -> Array:
    """The mean of each value and up to `width` - 1 before it, along the last axis.

    >>> trailing_mean(np.array([1.0, 0.0, 0.5]), width=2).tolist()
    [1.0, 0.5, 0.25]
    """
    sums = np.insert(np.cumsum(values, axis=-1), 0, 0.0, axis=-1)
    end = np.arange(1, sums.shape[-1])
    begin = np.maximum(0, end - width)
    return np.asarray((sums[..., end] - sums[..., begin]) / (end - begin))


def bins(positions: Sequence[int], most: int) -> dict[int, int]:
    """By position, the first of the run of neighbours that it is drawn with, so that no more than `most` are left.

    >>> bins([1, 2, 3, 4, 7], most=3)
    {1: 1, 2: 1, 3: 3, 4: 3, 7: 7}
    """
    size = max(1, -(-len(positions) // most))
    return {one: positions[i - i % size] for i, one in enumerate(positions)}
