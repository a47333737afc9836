"""Algorithm 2 (refineAccuracy): how accurate is a model *now*?

One round of evidence is noisy; all of it is stale. So double the window while the longer one
agrees with the shorter, and stop when they part by more than noise explains.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, log, sqrt
from typing import NamedTuple, Protocol

from spanwise.core.spans import power_of_two
from spanwise.core.tally import Count, Tally
from spanwise.errors import DataError, SettingError


class Estimate(NamedTuple):
    """How accurate a model is judged to be, and over how many of the last rounds."""

    accuracy: float
    window: int


class Window(Protocol):
    """How much of the past tells how good a model is now?"""

    def estimate(self, tally: Tally, reference: Tally | None, rounds: int) -> Estimate | None:
        """The estimate from `tally`, or None when it holds no points.

        Args:
            tally: what the model got right, by round.
            reference: the same of start 1, where it is alive.
            rounds: completed rounds of the stream, the paper's tau.
        """
        ...


def noise(n: int, delta: float, horizon: int, c1: float = 1.0, c2: float = 20.0) -> float:
    r"""How far an accuracy measured on `n` points may stray by chance.

    $$S(n, \delta) = \sqrt{c_1 \log(T/\delta)/n} + \sqrt{c_2 \log(T)/n}$$

    Halving it takes four times the points:

    >>> round(noise(400, delta=0.05, horizon=16), 4), round(noise(1600, delta=0.05, horizon=16), 4)
    (0.4924, 0.2462)

    Args:
        n: points in the window; none at all tells nothing, which is infinite noise.
        delta: probability of failure allowed, in (0, 1).
        horizon: rounds in the stream, the paper's T.
        c1, c2: 1 and 20 in the paper.

    References: Algorithm 2, line 2; after Mazzetto and Upfal (2023).
    """
    if n == 0:
        return inf
    return sqrt(c1 * log(horizon / delta) / n) + sqrt(c2 * log(horizon) / n)


@dataclass(frozen=True)
class Doubling:
    """Algorithm 2 with the constants as printed, each of them a parameter.

    As printed the test hardly ever stops: 4 S(n) exceeds 1 until some 1,500 points are in the
    window, so the estimate is the accuracy over the last 2^floor(log2 t) rounds.
    `schemes.windows` has tests that do stop.

    Args:
        delta: probability of failure allowed, in (0, 1).
        horizon: T; if None, the smallest power of two that is at least the rounds so far.
        scale: the 4 in front of S.
        c1, c2: the constants inside S.
    """

    delta: float = 0.1
    horizon: int | None = None
    scale: float = 4.0
    c1: float = 1.0
    c2: float = 20.0

    def __post_init__(self) -> None:
        check_delta(self.delta)
        check_horizon(self.horizon)

    def estimate(self, tally: Tally, reference: Tally | None, rounds: int) -> Estimate | None:
        horizon = self.horizon or power_of_two(rounds)

        def agrees(short: Count, long: Count) -> bool:
            threshold = self.scale * noise(short.total, self.delta, horizon, self.c1, self.c2)
            return abs(short.accuracy - long.accuracy) <= threshold

        return widen(tally, agrees)


def widen(tally: Tally, agrees: Callable[[Count, Count], bool]) -> Estimate | None:
    """Double the window while `agrees(window, doubled window)`; one without points is always doubled."""
    if not len(tally):
        return None
    r, short = 1, tally.last(1)
    while 2 * r <= len(tally):
        long = tally.last(2 * r)
        if short.total and not agrees(short, long):
            break
        r, short = 2 * r, long
    return Estimate(short.accuracy, r) if short.total else None


def refine_accuracy(
    correct: Sequence[int],
    total: Sequence[int],
    *,
    horizon: int,
    delta: float,
    scale: float = 4.0,
    c1: float = 1.0,
    c2: float = 20.0,
) -> tuple[float, int]:
    """Algorithm 2 on counts by round, newest first: the accuracy now, and the window it was measured on.

    Two rounds at 90 % after six at 20 %: with enough points, it stops at the shift.

    >>> refine_accuracy([90_000, 90_000] + 6 * [20_000], 8 * [100_000], horizon=8, delta=0.05)
    (0.9, 2)

    Args:
        correct: points the model got right, by round, newest first.
        total: points in each of those rounds.
        horizon: rounds in the stream, the paper's T.
        delta: probability of failure allowed, in (0, 1).
        scale, c1, c2: the constants of the test as printed.
    """
    whole = all(int(count) == count for count in (*correct, *total))
    if len(correct) != len(total) or not whole or any(not 0 <= c <= n for c, n in zip(correct, total, strict=True)):
        raise DataError(
            f"correct={list(correct)!r} and total={list(total)!r} must be whole numbers, as many of the one as of "
            "the other, with 0 <= correct <= total in every round"
        )
    tally = Tally([Count(n, c, 0, 0) for c, n in zip(reversed(correct), reversed(total), strict=True)])
    estimate = Doubling(delta, horizon, scale, c1, c2).estimate(tally, None, len(correct))
    if estimate is None:
        raise DataError("there is not a single point to estimate an accuracy from")
    return estimate.accuracy, estimate.window


def check_horizon(horizon: int | None) -> None:
    if horizon is not None and horizon < 1:
        raise SettingError(f"horizon={horizon}: a stream has at least 1 round; leave it out where it is not known")


def check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise SettingError(f"delta={delta}: a probability of failure lies strictly between 0 and 1")
