"""Where did the stream likely change? Where a scheme threw its past away, and did not take it back.

A scheme that goes on as before looks back one round further every round. So its span is compared with what
it would be had it gone on as it did a round or two ago: when it falls below half of that, and stays below it
for some rounds, the scheme has found that what is old no longer helps. One short dip is noise, a fall by a
round or three tells nothing, and an instance that had to retire was not left.

It is a sign, not a test: a scheme may also leave the past because a younger instance was luckier.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spanwise.evaluate.record import Row
from spanwise.report.story import mean_span

SHARE = 0.5
"""A span has collapsed when less than this is left of what it would have been."""

WITHIN = 2
"""Rounds that the fall may take."""

STAY = 4
"""Rounds that the span must be short to count."""

LEAST = 4
"""Rounds of history that must be gone, at least."""


@dataclass(frozen=True)
class Change:
    """A collapse of the span.

    Attributes:
        round: the first that was predicted from the short span.
        before: rounds of history that would be looked back on, had the scheme gone on as it did.
        after: those that are.
    """

    round: int
    before: float
    after: float


def likely_changes(rows: Iterable[Row]) -> list[Change]:
    """The collapses in the rows of one scheme and one seed."""
    used = [(row, span) for row in rows if row.chosen is not None and (span := mean_span(row)) is not None]
    found: list[Change] = []
    last = 0
    for t in range(1, len(used) - STAY + 1):
        now, after = used[t][0], [span for _, span in used[t : t + STAY]]
        expected = [gone_on(before, now) for before, _ in used[max(last, t - WITHIN) : t]]
        fallen = [span for span in expected if span is not None and collapsed(span, after)]
        if fallen:
            found.append(Change(now.round + 1, max(fallen), after[0]))
            last = t
    return found


def gone_on(before: Row, now: Row) -> float | None:
    """The span that a scheme would have now with the weights it had before; None where most of them have retired.

    An ensemble is compared with the ensemble of the round before, played or not: to ask several instances
    after one changes who is asked, not how far back they look.
    """
    alone = now.span is not None and isinstance(before.chosen, int)
    shares = {int(before.chosen or 0): 1.0} if alone else before.shares
    alive = {start: share for start, share in shares.items() if start in now.starts}
    left = sum(alive.values())
    if left <= 0.5:
        return None
    return sum(share * (now.round + 1 - start) for start, share in alive.items()) / left


def collapsed(expected: float, spans: Sequence[float]) -> bool:
    """Whether so little is left, and stays so little, while `expected` would have grown by 1 a round.

    >>> collapsed(13, [2, 3, 4, 5])
    True
    >>> collapsed(13, [2, 14, 15, 16])  # it came back
    False
    >>> collapsed(5, [2, 2, 3, 3])      # too little to tell
    False
    """
    short = all(span < SHARE * (expected + i) for i, span in enumerate(spans))
    return short and expected - spans[0] >= LEAST


def agreed(by_seed: Sequence[Sequence[Change]]) -> list[Change]:
    """The changes that more than half of the seeds show within `WITHIN` rounds of each other, once each.

    >>> one, other = Change(20, 19, 2), Change(21, 20, 3)
    >>> agreed([[one], [other], []])
    [Change(round=20, before=19, after=2)]
    """
    kept: list[Change] = []
    for change in sorted((one for seed in by_seed for one in seed), key=lambda one: one.round):
        votes = sum(any(abs(one.round - change.round) <= WITHIN for one in seed) for seed in by_seed)
        if 2 * votes > len(by_seed) and (not kept or change.round - kept[-1].round > WITHIN):
            kept.append(change)
    return kept
