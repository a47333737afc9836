"""Other answers to: which starts are alive at round t?

None of them needs a horizon. What each gives up against `MRI` shows in its worst coverage: the
share of the rounds since the last shift that some instance has seen with nothing older.
"""

from dataclasses import dataclass

from spanwise.core.spans import MRI, Cover, Span, check_round, lowbit
from spanwise.errors import SettingError


@dataclass(frozen=True)
class Geometric(Cover):
    """Geometric covering, SAOL's: at every level k the intervals [i 2^k, (i + 1) 2^k - 1], i >= 1.

    One interval a level contains t; intervals with the same start are one instance. Right after a
    round that is a large power of two, everybody alive is young: coverage falls to 0.

    >>> [(s.start, s.end) for s in Geometric().intervals(9)], Geometric().starts(9)
    ([(9, 9), (8, 9), (8, 11), (8, 15)], [8, 9])

    Args:
        base: keep the plain learner, started at round 1, alive beside the intervals.
    """

    base: bool = False

    def starts(self, t: int) -> list[int]:
        return sorted({span.start for span in self.active(t)})

    def active(self, t: int) -> list[Span]:
        starts = sorted({span.start for span in self.intervals(t)})
        return [Span(1)] * self.base + [Span(s, s + lowbit(s) - 1) for s in starts]

    def intervals(self, t: int) -> list[Span]:
        check_round(t)
        levels = range(t.bit_length())
        return [Span(t >> k << k, ((t >> k) + 1 << k) - 1, "geometric", k) for k in levels]


@dataclass(frozen=True)
class FLH(Cover):
    """The pruned set of Follow the Leading History: start odd * 2^j lives 2^(j + 2) + 1 rounds.

    It is `MRI` counted from 0, without the learner that is never dropped.

    >>> FLH().starts(9)
    [2, 4, 5, 6, 7, 8, 9]
    """

    def starts(self, t: int) -> list[int]:
        check_round(t)
        found: set[int] = set()
        step = 1
        while step <= t:
            first = step * (-(-max(1, t - 4 * step) // step) | 1)
            found.update(range(first, t + 1, 2 * step))
            step *= 2
        return sorted(found)

    def active(self, t: int) -> list[Span]:
        return [Span(s, s + 4 * lowbit(s)) for s in self.starts(t)]


@dataclass(frozen=True)
class OneResolution(Cover):
    """One resolution of the paper's pool: R of `length` rounds, and B half a length later, twice as long.

    One to three are alive. Its length has to be guessed, which is what the whole pool is there to avoid.

    >>> OneResolution(length=4).starts(9)
    [3, 7, 9]

    Args:
        length: rounds of an R span, even.
    """

    length: int

    def __post_init__(self) -> None:
        if self.length < 2 or self.length % 2:
            raise SettingError(f"length={self.length}: a resolution has an even length of at least 2 rounds")

    def starts(self, t: int) -> list[int]:
        return [span.start for span in self.active(t)]

    def active(self, t: int) -> list[Span]:
        check_round(t)
        length, half = self.length, self.length // 2
        ours = (t - 1) // length * length + 1
        late = [start for start in (ours - length - half, ours - half, ours + half) if 1 <= start <= t]
        found = [Span(ours, ours + length - 1)] + [Span(start, start + 2 * length - 1) for start in late]
        return sorted(span for span in found if span.end is not None and span.end >= t)


@dataclass(frozen=True)
class ROnly(Cover):
    """The dyadic intervals alone, without the paper's B: odd start s lives lowbit(s - 1) rounds, start 1 for ever.

    Right after the middle of a long interval all but start 1 are young: coverage falls to 0.

    >>> ROnly().starts(9), ROnly().starts(12)
    ([1, 9], [1, 9, 11])
    """

    def starts(self, t: int) -> list[int]:
        check_round(t)
        lengths = [1 << k for k in range(1, t.bit_length())]
        return sorted({1} | {(t - 1) // length * length + 1 for length in lengths})

    def active(self, t: int) -> list[Span]:
        return [Span(s, s + lowbit(s - 1) - 1 if s > 1 else None) for s in self.starts(t)]


@dataclass(frozen=True)
class Thinned(Cover):
    """`MRI`, of whose later starts only some are kept: after a shift the next may have to be waited for.

    Whenever the data last shifted, the instance that has seen most of the rounds since, and nothing older, has seen at
    most `every` / 2 rounds less than with all starts.

    >>> from spanwise.core.spans import MRI
    >>> Thinned(MRI(2), every=4, after=4).starts(12), MRI(2).starts(12)
    ([1, 5, 9], [1, 5, 9, 11, 12])

    Args:
        cover: whose starts they are.
        every: rounds from one start that is kept to the next, a power of two, as lifetimes are.
        after: the last round up to which all starts are kept.
    """

    cover: MRI
    every: int
    after: int = 1

    def __post_init__(self) -> None:
        if self.every < 1 or self.every != lowbit(self.every):
            raise SettingError(f"every={self.every}: it must be a power of two, such as 4")

    def starts(self, t: int) -> list[int]:
        return [start for start in self.cover.starts(t) if self._keeps(start)]

    def active(self, t: int) -> list[Span]:
        return [span for span in self.cover.active(t) if self._keeps(span.start)]

    def _keeps(self, start: int) -> bool:
        return start <= self.after or (start - 1) % self.every == 0


@dataclass(frozen=True)
class WithCopies(Cover):
    """Another cover, whose start 1 is several independent instances.

    >>> from spanwise.core.spans import MRI
    >>> [(span.start, span.copy) for span in WithCopies(MRI(2), 2).active(4)]
    [(1, 0), (1, 1), (3, 0), (4, 0)]

    Args:
        cover: one that keeps start 1 alive.
        copies: instances of start 1.
    """

    cover: Cover
    copies: int

    def __post_init__(self) -> None:
        if self.copies < 1:
            raise SettingError(f"copies={self.copies}: keep at least one copy")

    def starts(self, t: int) -> list[int]:
        return self.cover.starts(t)

    def active(self, t: int) -> list[Span]:
        first, *others = self.cover.active(t)
        return [Span(first.start, first.end, copy=copy) for copy in range(self.copies)] + others


@dataclass(frozen=True)
class Copies(Cover):
    """Start 1 alone, as `count` independent instances of it: the plain learner, or an ensemble of plain ones."""

    count: int = 1

    def __post_init__(self) -> None:
        if self.count < 1:
            raise SettingError(f"count={self.count}: keep at least one copy")

    def starts(self, t: int) -> list[int]:
        check_round(t)
        return [1]

    def active(self, t: int) -> list[Span]:
        return [Span(1, copy=copy) for copy in range(self.count)]
