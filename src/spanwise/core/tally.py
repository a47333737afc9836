"""How often a model was right, round by round, with the sum of any last rounds at hand.

Sums are kept from the beginning, so the last r rounds cost one subtraction however long the
stream. Copies share their rows until one of them goes its own way: a scheme copies its evidence
before every round and throws one of the two away.
"""

from array import array
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from spanwise.learner import Array


class Count(NamedTuple):
    """Counts over some rounds; `won` and `lost` compare with the reference on the same points."""

    total: int  # points
    correct: int  # points the model got right
    won: int  # points it got right and the reference wrong
    lost: int  # points it got wrong and the reference right

    @property
    def accuracy(self) -> float:
        return self.correct / self.total

    @property
    def advantage(self) -> float:
        """Accuracy minus the reference's on the same points."""
        return (self.won - self.lost) / self.total


class Tally:
    """Counts by round, newest last.

    >>> tally = Tally()
    >>> for correct in (5, 9, 9):
    ...     tally.add(Count(total=10, correct=correct, won=0, lost=0))
    >>> len(tally), tally.last(2).accuracy
    (3, 0.9)
    """

    def __init__(self, by_round: Array | Sequence[Count] = ()) -> None:
        """The rounds so far, oldest first: counts, or an array (rounds, 4) with the columns of `Count`."""
        rows = np.asarray(by_round, dtype=np.int64).reshape(-1, len(Count._fields))
        sums = np.vstack([np.zeros_like(rows, shape=(1, rows.shape[1])), rows.cumsum(axis=0)])
        self._sums = tuple(array("q", column.tobytes()) for column in sums.T)
        self._rounds = len(rows)

    def __len__(self) -> int:
        return self._rounds

    def add(self, count: Count) -> None:
        """One more round."""
        end = self._rounds
        if len(self._sums[0]) != end + 1:  # a copy that was thrown away has written here
            self._sums = tuple(sums[: end + 1] for sums in self._sums)
        for sums, value in zip(self._sums, count, strict=True):
            sums.append(sums[end] + value)
        self._rounds = end + 1

    def last(self, rounds: int) -> Count:
        """The counts of the last `rounds` rounds together."""
        end = self._rounds
        total, correct, won, lost = self._sums
        begin = end - rounds
        return Count(
            total[end] - total[begin], correct[end] - correct[begin], won[end] - won[begin], lost[end] - lost[begin]
        )

    def by_round(self, rounds: int) -> Array:
        """The last `rounds` rounds one by one, oldest first: (rounds, 4), columns as in `Count`."""
        begin, end = self._rounds - rounds, self._rounds
        return np.diff(np.array([sums[begin : end + 1] for sums in self._sums]), axis=1).T

    def forget(self, keep: int) -> None:
        """Let go of all but the last `keep` rounds, now and then, so that it costs little."""
        if self._rounds > 2 * keep:
            begin, end = self._rounds - keep, self._rounds
            self._sums = tuple(sums[begin : end + 1] for sums in self._sums)
            self._rounds = keep

    def copy(self) -> Self:
        twin = type(self).__new__(type(self))
        twin._sums, twin._rounds = self._sums, self._rounds
        return twin

    def state(self) -> Mapping[str, Any]:
        return {"rounds": self.by_round(self._rounds)}

    def restore(self, state: Mapping[str, Any]) -> None:
        fresh = type(self)(state["rounds"])
        self._sums, self._rounds = fresh._sums, fresh._rounds
