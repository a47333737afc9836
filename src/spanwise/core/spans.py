"""Section 4.1: which instances are alive at round t? Integers only, no state.

The paper lays two families of spans over a horizon T: R, the dyadic intervals, and B, half a
step later and twice as long. An instance is decided by its start alone, since it trains on every
round from there on; so spans with the same start can be one instance, and what remains is

    start 1 lives for ever; any other start s lives 4 * lowbit(s - 1) rounds,

where lowbit(n) is the largest power of two that divides n. No horizon is left in that sentence.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from spanwise.errors import HorizonError, SettingError


class Span(NamedTuple):
    """The rounds [start, end] that an instance lives; `end` is None where none is set.

    `kind` is "R" or "B" for the paper's spans (`resolution` 1 is the one whose R has length T) and
    empty for merged ones; `copy` tells apart independent instances of the same span.
    """

    start: int
    end: int | None = None
    kind: str = ""
    resolution: int = 0
    copy: int = 0


class Cover(Protocol):
    """Which spans are alive at round t. Subclass it and write `starts`."""

    def starts(self, t: int) -> list[int]:
        """The distinct starts alive at round `t`, ascending."""
        ...

    def active(self, t: int) -> list[Span]:
        """The paper's ACTIVE(t): one span an instance, by start."""
        return [Span(start) for start in self.starts(t)]

    def intervals(self, t: int) -> list[Span]:
        """The spans that a scheme with weights of its own (SAOL, CBCE) puts weight on."""
        return self.active(t)


def lowbit(n: int) -> int:
    """The largest power of two that divides `n`.

    >>> [lowbit(n) for n in (1, 2, 3, 4, 12)]
    [1, 2, 1, 4, 4]
    """
    return n & -n


def power_of_two(n: int) -> int:
    """The smallest power of two that is at least `n`, and at least 2.

    >>> [power_of_two(n) for n in (1, 2, 5, 16)]
    [2, 2, 8, 16]
    """
    return 1 << max(1, (n - 1).bit_length())


@dataclass(frozen=True)
class MRI(Cover):
    """Multi-resolution instances, merged by start: at most 2 ceil(log2 t) alive, and no horizon.

    >>> MRI().starts(9)
    [1, 3, 5, 6, 7, 8, 9]

    Wherever the distribution last changed, some instance has seen at least 3/5 of the rounds
    since, and nothing older (Theorem 3, which claims 1/4). A smaller `factor` keeps fewer alive
    and covers less: 2 halves the pool and still covers 1/3.

    Args:
        factor: how many times lowbit(s - 1) a start s lives; 4 is the paper's.
    """

    factor: int = 4

    def __post_init__(self) -> None:
        if self.factor < 1:
            raise SettingError(f"factor={self.factor}: a start must live at least 1 round")

    def starts(self, t: int) -> list[int]:
        check_round(t)
        found = {1}
        step = 1
        while step < t:  # starts s with lowbit(s - 1) == step: s - 1 is an odd multiple of it
            oldest = max(1, t - self.factor * step)
            first = step * (-(-oldest // step) | 1)
            found.update(range(first + 1, t + 1, 2 * step))
            step *= 2
        return sorted(found)

    def active(self, t: int) -> list[Span]:
        return [Span(s, s + self.factor * lowbit(s - 1) - 1 if s > 1 else None) for s in self.starts(t)]

    def spans(self, t: int, horizon: int) -> list[Span]:
        """The paper's own spans that contain round `t`, of R and B, by start and then coarsest first.

        >>> [(s.start, s.end, s.kind) for s in MRI().spans(9, 16)]
        [(1, 16, 'R'), (3, 10, 'B'), (5, 16, 'B'), (6, 9, 'B'), (7, 14, 'B'), (8, 11, 'B'), (9, 16, 'B'), (9, 16, 'R'),
         (9, 12, 'R'), (9, 10, 'R')]

        Args:
            t: the round, 1 to the padded horizon.
            horizon: T; padded to a power of two.
        """
        check_round(t)
        horizon = power_of_two(horizon)
        if t > horizon:
            raise HorizonError(f"round {t} is past the padded horizon {horizon}; pass horizon={t} or more")
        found: list[tuple[int, int, str, int]] = []
        for resolution in range(1, horizon.bit_length()):
            length = horizon >> (resolution - 1)
            half = length // 2
            found += [(k, k + length - 1, "R", resolution) for k in range(1, t + 1, length)]
            found += [(k, k + 2 * length - 1, "B", resolution) for k in range(1 + half, t + 1, length)]
        alive = [Span(k, min(end, horizon), kind, resolution) for k, end, kind, resolution in found if end >= t]
        return sorted(alive, key=lambda span: (span.start, span.resolution))


@dataclass(frozen=True)
class LiteralMRI(Cover):
    """The paper's pool for a known horizon, spans with the same start kept apart.

    At most 3 log2 T - 1 alive. After the last round the pool stays as it was; there is no round
    past the padded horizon.
    """

    horizon: int

    def starts(self, t: int) -> list[int]:
        return sorted({span.start for span in self.active(t)})

    def active(self, t: int) -> list[Span]:
        padded = power_of_two(self.horizon)
        if t > padded + 1:
            raise HorizonError(
                f"round {t - 1} is past the horizon: the literal cover was laid out for {padded} rounds. "
                f"Pass horizon={power_of_two(t - 1)} or more, or leave literal=True out."
            )
        return MRI().spans(min(t, padded), padded)


def check_round(t: int) -> None:
    """Rounds count from 1."""
    if t < 1:
        raise SettingError(f"round {t}: rounds count from 1")
