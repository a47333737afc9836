"""Other answers to: how much of the past tells how good a model is now?"""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from spanwise.core.refine import Estimate, Window, check_delta, check_horizon, widen
from spanwise.core.spans import power_of_two
from spanwise.core.tally import Count, Tally
from spanwise.errors import SettingError


@dataclass(frozen=True)
class Hoeffding(Window):
    r"""Algorithm 2 with a threshold that fits what it tests, so that it does stop.

    The two windows overlap, so the shorter and the longer accuracy differ by less than two
    independent ones would. By Hoeffding's inequality and a union bound, with no shift, all of N tests
    pass with probability $1 - \delta$ when the threshold is

    $$\sqrt{\tfrac12 \log(2N/\delta) \, (1/n(r) - 1/n(2r))}$$

    which is $\sqrt{\log(2N/\delta)/(4n)}$ for rounds of equal size: a 5-point drop shows with 900
    points a round. N counts one test for each round, instance and doubling: T times 2 log2 T times log2 T.

    Args:
        delta: probability of a false stop in T rounds, in (0, 1).
        horizon: T; if None, the smallest power of two that is at least the rounds so far, so that
            delta is spent anew whenever their number has doubled.
    """

    delta: float = 0.1
    horizon: int | None = None

    def __post_init__(self) -> None:
        check_delta(self.delta)
        check_horizon(self.horizon)

    def estimate(self, tally: Tally, reference: Tally | None, rounds: int) -> Estimate | None:
        horizon = self.horizon or power_of_two(rounds)
        tests = horizon * 2 * max(1.0, log(horizon, 2)) ** 2
        spread = 0.5 * log(2 * tests / self.delta)

        def agrees(short: Count, long: Count) -> bool:
            return abs(short.accuracy - long.accuracy) <= sqrt(spread * (1 / short.total - 1 / long.total))

        return widen(tally, agrees)


@dataclass(frozen=True)
class ARW(Window):
    r"""Adaptive rolling window: the length with the least bias plus noise, judged by Bernstein's inequality.

    A window of length k has mean $\mu_k$ and noise
    $\psi_k = v_k \sqrt{2 \log(2/\delta)/B} + 8 M \log(2/\delta) / (3 (B - 1))$ over its B points; its
    bias shows in how far it is from shorter ones, beyond their noise:
    $\phi_k = \max_{i \le k} (|\mu_k - \mu_i| - \psi_k - \psi_i)_+$. The k with the least
    $\phi_k + \psi_k$ wins, the shortest among equals. Lengths are powers of two, and all there is.

    Paired, it judges the difference to start 1 on the same points, in which what makes a round hard
    for everybody cancels, and adds it to the estimate of start 1.

    Args:
        delta: probability of failure allowed for one comparison, in (0, 1).
        paired: compare with start 1 point by point, where it is alive.
        bound: M, the range of one point's value (doubled for differences); 0 trusts the variance alone.

    References: Han, Huang and Wang (2024).
    """

    delta: float = 0.1
    paired: bool = True
    bound: float = 1.0

    def __post_init__(self) -> None:
        check_delta(self.delta)

    def estimate(self, tally: Tally, reference: Tally | None, rounds: int) -> Estimate | None:
        if not self.paired or reference is None:
            return self._rolling(tally, paired=False)
        base, gap = self._rolling(reference, paired=False), self._rolling(tally, paired=True)
        if base is None or gap is None:
            return None
        apart = tally.last(len(tally))
        if not apart.won and not apart.lost:
            return base  # start 1 itself, or one that never differed from it
        return Estimate(min(1.0, max(0.0, base.accuracy + gap.accuracy)), gap.window)

    def _rolling(self, tally: Tally, *, paired: bool) -> Estimate | None:
        lengths = [1 << k for k in range(len(tally).bit_length())]
        lengths += [len(tally)] if len(tally) not in lengths else []
        windows = [(r, tally.last(r)) for r in lengths if r <= len(tally)]
        windows = [(r, count) for r, count in windows if count.total]
        if not windows:
            return None
        means = [count.advantage if paired else count.accuracy for _, count in windows]
        noises = [self._noise(count, paired=paired) for _, count in windows]
        scores = []
        for k, (mean, own) in enumerate(zip(means, noises, strict=True)):
            biases = [abs(mean - means[i]) - own - noises[i] for i in range(k + 1)]
            scores.append(max(0.0, *biases) + own)
        best = int(np.argmin(scores))
        return Estimate(means[best], windows[best][0])

    def _noise(self, count: Count, *, paired: bool) -> float:
        n, bound = count.total, self.bound * (2 if paired else 1)
        if n == 1:
            return max(bound, 1.0)
        mean, square = (count.advantage, count.won + count.lost) if paired else (count.accuracy, count.correct)
        variance = max(0.0, (square - n * mean * mean) / (n - 1))
        level = log(2 / self.delta)
        return sqrt(variance * 2 * level / n) + 8 * bound * level / (3 * (n - 1))


@dataclass(frozen=True)
class Fixed(Window):
    """The last `length` rounds, come what may."""

    length: int = 16

    def __post_init__(self) -> None:
        if self.length < 1:
            raise SettingError(f"length={self.length}: a window has at least 1 round")

    def estimate(self, tally: Tally, reference: Tally | None, rounds: int) -> Estimate | None:
        window = min(self.length, len(tally))
        count = tally.last(window)
        return Estimate(count.accuracy, window) if count.total else None


@dataclass(frozen=True)
class Decayed(Window):
    """All rounds, each worth `decay` times the one after it; the window told is the rounds' worth in all."""

    decay: float = 0.95

    def __post_init__(self) -> None:
        if not 0 < self.decay < 1:
            raise SettingError(f"decay={self.decay}: it lies strictly between 0 and 1")

    def estimate(self, tally: Tally, reference: Tally | None, rounds: int) -> Estimate | None:
        reach = min(len(tally), 1 + int(log(1e-9) / log(self.decay)))  # beyond, a round is worth nothing
        by_round = tally.by_round(reach)[::-1]
        worth = self.decay ** np.arange(reach)
        total, correct = worth @ by_round[:, 0], worth @ by_round[:, 1]
        return Estimate(float(correct / total), max(1, round(float(worth.sum())))) if total else None
