"""Selection alone: two instances whose accuracies are known, and a rule that must tell which is the better one.

Nothing is learned here. In every round each instance gets each held-out point right with a known probability, the two
a gap apart, so the regret of what is played is known too: the gap where it is the worse instance, and 0 where not. A
wide gap is seen at once and a narrow one costs nothing, so each gap has regret that falls faster than any power, in the
end. A bound that holds for all gaps at once shows at the worst of them; that is why many are tried.

The doubling test is that of `core.refine` and `schemes.windows`, and the weights are those of `schemes.saol`, for all
gaps and draws at once; the tests hold them to the originals.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log2, sqrt

import numpy as np

from spanwise.core.refine import noise
from spanwise.core.spans import Span, power_of_two
from spanwise.learner import Array
from spanwise.schemes.saol import rate

DELTA = 0.1
GAPS = 0.96 * 0.5 ** np.arange(13)
"""Differences in accuracy between the two instances, from what nobody misses to what nobody sees."""

Threshold = Callable[[int, int], float]
"""(points in the shorter window, horizon) -> how far the window of twice the rounds may be from it."""


def printed(points: int, horizon: int) -> float:
    """4 S(n, delta), as in Algorithm 2."""
    return 4 * noise(points, DELTA, horizon)


def hoeffding(points: int, horizon: int) -> float:
    """That of `windows.Hoeffding`, for rounds of equal size."""
    tests = horizon * 2 * max(1.0, log2(horizon)) ** 2
    return sqrt(np.log(2 * tests / DELTA) / (4 * points))


THRESHOLDS: dict[str, Threshold] = {"awe": printed, "awe-hoeffding": hoeffding}


@dataclass(frozen=True)
class Script:
    """Phases of equal length; with each, the two instances change places.

    Attributes:
        phases: how many; the better instance of one is the worse of the next.
        length: rounds of a phase.
        points: points a round that the instances are judged on.
        draws: independent repetitions; in half of them each instance is the better one of phase 1.
        seed: one seed makes the draws repeatable.
    """

    phases: int
    length: int
    points: int
    draws: int
    seed: int = 0

    @property
    def rounds(self) -> int:
        return self.phases * self.length

    @property
    def better(self) -> Array:
        """(draws, rounds): which of the two is the better one."""
        phase = np.arange(self.rounds) // self.length
        return np.asarray((np.arange(self.draws)[:, None] + phase) % 2)

    def right(self) -> Array:
        """(gaps, draws, 2, rounds): points that each instance gets right, independently of the other."""
        rng = np.random.default_rng((self.seed, self.phases, self.length, self.points))
        side = np.where(np.arange(2)[:, None] == self.better[:, None, :], 0.5, -0.5)
        return rng.binomial(self.points, 0.5 + GAPS[:, None, None, None] * side)

    def regret(self, share: Array) -> Array:
        """(gaps, draws, rounds): what is lost when each instance predicts its share, (gaps, draws, 2, rounds)."""
        worse = np.take_along_axis(share, 1 - self.better[None, :, None, :], axis=2)[:, :, 0]
        return np.asarray(GAPS[:, None, None] * worse)


def best_judged(right: Array, points: int, threshold: Threshold, since: int = 0) -> Array:
    """(gaps, draws, 2, rounds): AWE's choice; all of a round to the instance with the higher refined accuracy.

    Args:
        right: points each instance got right, (gaps, draws, 2, rounds).
        points: points a round.
        threshold: of the doubling test.
        since: rounds that need no choice, as their regret is not asked for.
    """
    sums = np.concatenate([np.zeros_like(right[..., :1]), right.cumsum(axis=-1)], axis=-1)
    share = np.zeros(right.shape)
    for t in range(since, right.shape[-1]):
        first = refined(sums[..., : t + 1], points, threshold).argmax(axis=-1) if t else 0
        share[:, :, 0, t] = np.equal(first, 0)
        share[:, :, 1, t] = np.equal(first, 1)
    return share


def refined(sums: Array, points: int, threshold: Threshold) -> Array:
    """Algorithm 2 for many tallies at once.

    >>> blocks = np.repeat([0, 2_000, 9_000], [1, 6, 2])  # of 10,000 points: six rounds at 20 %, then two at 90 %
    >>> refined(blocks.cumsum(), 10_000, hoeffding)
    array(0.9)

    Args:
        sums: (..., rounds + 1), points right from the beginning up to each round, 0 first.
        points: points a round.
        threshold: when to stop.
    """
    rounds = sums.shape[-1] - 1
    now, r = sums[..., -1], 1
    short = (now - sums[..., -2]) / points
    agrees = np.ones(short.shape, dtype=bool)
    while 2 * r <= rounds:
        long = (now - sums[..., -1 - 2 * r]) / (2 * r * points)
        agrees = agrees & (np.abs(short - long) <= threshold(r * points, power_of_two(rounds)))
        short = np.where(agrees, long, short)
        r *= 2
    return short


def saol_shares(right: Array, points: int, *, mixed: bool = False) -> Array:
    """(gaps, draws, 2, rounds): SAOL's choice on one interval as long as `right`, both instances born with it.

    Args:
        right: points each instance got right, (gaps, draws, 2, rounds).
        points: points a round.
        mixed: play the weighted mean of what both say, which with two is what the heavier one says; else an
            instance is drawn by its weight, as in SAOL's theorem.
    """
    rounds = right.shape[-1]
    eta = rate(Span(1, rounds), 1)
    lost = 1 - right / points
    weights = np.full(right.shape[:-1], eta)
    share = np.zeros(right.shape)
    for t in range(rounds):
        played = weights / weights.sum(axis=-1, keepdims=True)
        if mixed:
            played = 0.5 + 0.5 * np.sign(played - 0.5)
        share[..., t] = played
        loss = (played * lost[..., t]).sum(axis=-1, keepdims=True)
        weights = weights * (1 + eta * (loss - lost[..., t]))
    return share
