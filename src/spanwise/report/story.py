"""Which span was chosen when, in words: one line for each stretch between two shifts."""

from collections import Counter
from collections.abc import Iterator, Sequence

from spanwise.evaluate.record import Row
from spanwise.evaluate.summary import Evaluation


def stretches(evaluation: Evaluation, scheme: str) -> list[str]:
    """What `scheme` chose between shifts, and how soon after each it left the past behind."""
    rows = [row for row in evaluation.rows if row.scheme == scheme and row.chosen is not None]
    if not rows:
        return []
    starts = [rows[0].round, *evaluation.shifts]
    ends = [*(start - 1 for start in starts[1:]), rows[-1].round]
    return [_stretch(rows, first, last) for first, last in zip(starts, ends, strict=True) if first <= last]


def mean_span(row: Row) -> float | None:
    """Rounds of history behind the next prediction: of the instance chosen, or the mean of several by their shares."""
    if row.span is not None:
        return float(row.span)
    shares = row.shares
    return sum(share * (row.round + 1 - start) for start, share in shares.items()) if shares else None


def _stretch(rows: Sequence[Row], first: int, last: int) -> str:
    inside = [row for row in rows if first <= row.round <= last]
    chosen = Counter(row.chosen if isinstance(row.chosen, str) else f"start {row.chosen}" for row in inside)
    often = ", ".join(f"{name} {times}x" for name, times in chosen.most_common(3))
    spans = [span for row in inside if (span := mean_span(row)) is not None]
    middle = sorted(spans)[len(spans) // 2] if spans else 0.0
    text = f"rounds {first} to {last}: {often}; half of the time {middle:.0f} rounds of history or fewer"
    new = next(_left_the_past(inside, first), None)
    return text if first == rows[0].round or new is None else f"{text}; past left behind {new} rounds after the shift"


def _left_the_past(rows: Sequence[Row], shift: int) -> Iterator[int]:
    """Rounds from the shift to each choice of an instance that has seen nothing older."""
    return (row.round + 1 - shift for row in rows if not isinstance(row.chosen, str | None) and row.chosen >= shift)
