r"""How far may a gain be luck? A paired bootstrap over examples.

Two schemes on the same rows differ only where one was right and the other wrong, so a round of n rows
is known by two counts: rows ahead and rows behind. To draw n of its rows again, with replacement, is to
draw those counts from a multinomial. The models and the rounds stay as they are: the interval says
what other rows of the same rounds would have shown, not what another stream would.

Several seeds are judged on the *same* rows, and a row that helps a scheme under one seed tends to help it
under the next. To draw rows for each seed apart would take seeds for new data and make the interval too
narrow by up to the root of their number. So every resample draws its rows once, for all seeds. Which
rows each seed was ahead on, the counts do not say; we take the arrangement with the widest interval of all
that they allow: a row that is ahead for a seed with few such rows is ahead for every seed with more, and
so for rows behind. The interval is then too wide if anything, and that of the bootstrap itself for one seed.
What changes from seed to seed is told by `deviation`, beside it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from spanwise.errors import SettingError
from spanwise.evaluate.record import Row
from spanwise.evaluate.summary import PLAIN, Evaluation
from spanwise.learner import Array

LEVEL = 0.95
"""How often an interval should hold the truth."""

RESAMPLES = 2_000

TINY = 1e-9
"""Differences in accuracy below this are sums of fractions that did not cancel: a draw."""


@dataclass(frozen=True)
class Pairs:
    """A scheme and `plain` on the same rows: how many of them only one of the two got right.

    Attributes:
        rounds: those that were scored.
        n: labelled rows of each.
        ahead, behind: (seeds, rounds); rows that only the scheme got right, and only `plain`.
    """

    rounds: Array
    n: Array
    ahead: Array
    behind: Array

    @property
    def gains(self) -> Array:
        """Points of accuracy over `plain` by round, averaged over seeds."""
        points: Array = 100 * (self.ahead - self.behind).mean(axis=0) / self.n
        return points


@dataclass(frozen=True)
class Bands:
    """Gain over `plain` in points, round by round, with an interval around each; to draw.

    Attributes:
        rounds: those that were scored.
        gain, low, high: one of each a round.
    """

    rounds: Array
    gain: Array
    low: Array
    high: Array


def pairs(evaluations: Sequence[Evaluation], scheme: str) -> Pairs | None:
    """What a bootstrap needs of a scheme, from one evaluation a seed; None where the counts were not recorded."""
    scored = aligned(evaluations, scheme)
    if scheme != PLAIN and any(row.ahead is None or row.behind is None for rows in scored for row in rows):
        return None
    if not scored[0] or not all(PLAIN in evaluation.schemes for evaluation in evaluations):
        return None
    return Pairs(
        rounds=np.array([row.round for row in scored[0]]),
        n=np.array([row.n for row in scored[0]]),
        ahead=np.array([[row.ahead or 0 for row in rows] for rows in scored]),
        behind=np.array([[row.behind or 0 for row in rows] for rows in scored]),
    )


def aligned(evaluations: Sequence[Evaluation], scheme: str) -> list[list[Row]]:
    """The scored rows of a scheme, one list an evaluation: all of the same rounds, each with as many rows of data."""
    if not evaluations:
        raise SettingError("no evaluation came: pass one a seed")
    scored = [evaluation.scored(scheme) for evaluation in evaluations]
    first = [(row.round, row.n) for row in scored[0]]
    for rows in scored:
        if [(row.round, row.n) for row in rows] != first:
            raise SettingError(
                f"{scheme} was scored on {_told(scored[0])}, but on {_told(rows)}: seeds are averaged over the "
                "same rounds of one stream, so finish the shorter run, or leave it out"
            )
    return scored


def resampled(pairs: Pairs, *, resamples: int = RESAMPLES, seed: int = 0) -> Array:
    """(resamples, rounds): the gain of each round, in points and averaged over seeds, on rows drawn again."""
    rng = np.random.default_rng(seed)
    columns = [
        100 * (rng.multinomial(n, widths / n, size=resamples) @ values) / n
        for n, ahead, behind in zip(pairs.n, pairs.ahead.T, pairs.behind.T, strict=True)
        for widths, values in [_cells(n, ahead, behind)]
    ]
    return np.stack(columns, axis=1)


def interval(pairs: Pairs, *, resamples: int = RESAMPLES, seed: int = 0) -> tuple[float, float]:
    """Between what values the gain of the stream lies, in points: the middle 95 % of resamples.

    The gain of a stream is the mean over rounds, so that small rounds count as much as large ones.

    >>> one_round = Pairs(np.array([2]), np.array([100]), ahead=np.array([[30]]), behind=np.array([[10]]))
    >>> low, high = interval(one_round)
    >>> 0 < low < 20 < high < 40
    True
    """
    low, high = _middle(resampled(pairs, resamples=resamples, seed=seed).mean(axis=1))
    return float(low), float(high)


def bands(pairs: Pairs, *, resamples: int = RESAMPLES, seed: int = 0) -> Bands:
    """The same for each round by itself."""
    low, high = _middle(resampled(pairs, resamples=resamples, seed=seed))
    return Bands(pairs.rounds, pairs.gains, low, high)


def deviation(values: Sequence[float]) -> float | None:
    """Standard deviation over seeds, as of a sample; None for fewer than two.

    >>> deviation([81.0, 83.0, 85.0])
    2.0
    """
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def standing(differences: Iterable[float]) -> tuple[int, int, int]:
    """(wins, draws, losses) among differences in accuracy, one a round.

    >>> standing([0.25, 0.1 + 0.2 - 0.3, -0.5, 0.125])
    (2, 1, 1)
    """
    signs = [0 if abs(difference) < TINY else 1 if difference > 0 else -1 for difference in differences]
    return signs.count(1), signs.count(0), signs.count(-1)


def _cells(n: int, ahead: Array, behind: Array) -> tuple[Array, Array]:
    """One round as (rows, gain of such a row averaged over seeds), by kinds of rows.

    The rows are laid out from those ahead, on the left, to those behind, on the right, in the same order for
    every seed: of all arrangements of the counts, the one in which the mean over seeds varies most.
    """
    cuts = np.sort(np.concatenate([ahead, n - behind]))
    left = np.concatenate([[0], cuts])
    widths = np.diff(np.append(left, n))
    values = (left[:, None] < ahead).astype(float) - (left[:, None] >= n - behind)
    return widths, values.mean(axis=1)


def _middle(draws: Array) -> Array:
    tail = (1 - LEVEL) / 2
    ends: Array = np.quantile(draws, [tail, 1 - tail], axis=0)
    return ends


def _told(rows: Sequence[Row]) -> str:
    seed = f" with seed {rows[0].seed}" if rows else ""
    return f"{len(rows)} rounds of {sum(row.n for row in rows)} rows in all{seed}"
