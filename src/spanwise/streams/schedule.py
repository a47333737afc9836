"""A number that jumps, moves or stays as the rounds go by: an angle, a severity."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal

import numpy as np

from spanwise.errors import SettingError

Kind = Literal["abrupt", "gradual", "none"]
KINDS = ("abrupt", "gradual", "none")


class Schedule:
    """The level of every round.

    >>> levels = [(1, 0.0), (5, 80.0)]
    >>> Schedule("abrupt", levels).at(4), Schedule("gradual", levels).at(4), Schedule("none", levels).at(9)
    (0.0, 60.0, 0.0)
    >>> Schedule("abrupt", levels).jumps(10)
    [5]

    Args:
        kind: "abrupt", it jumps; "gradual", it moves evenly from one level to the next; "none", it stays at the first.
        levels: (round, level), by round: the level from that round on, or at that round where it moves.
        name: what the levels are called where the user gave them.
    """

    def __init__(self, kind: Kind, levels: Sequence[tuple[int, float]], name: str = "levels") -> None:
        if kind not in KINDS:
            raise SettingError(f"kind={kind!r}: it must be one of {', '.join(KINDS)}")
        if not levels or [t for t, _ in levels] != sorted({t for t, _ in levels}):
            raise SettingError(f"{name}={levels!r}: give pairs (round, level), rounds ascending")
        self.kind = kind
        self.rounds, self.levels = zip(*levels, strict=True)

    def at(self, t: int) -> float:
        """The level of round `t`."""
        if self.kind == "gradual":
            return float(np.interp(t, self.rounds, self.levels))
        return float(self.levels[max(0, bisect_right(self.rounds, t) - 1) if self.kind == "abrupt" else 0])

    def jumps(self, rounds: int) -> list[int]:
        """The rounds at which it jumps, of so many."""
        if self.kind != "abrupt":
            return []
        return [t for t in range(2, rounds + 1) if self.at(t) != self.at(t - 1)]
