"""The table of an evaluation: every scheme beside the plain learner and the plain ensemble.

Gains are in points of accuracy, against the plain learner on all data and, beside it, against the
plain learner on the rows that the scheme itself trains on.
"""

from collections.abc import Sequence

from spanwise.evaluate.summary import Summary

HEADER = ("scheme", "accuracy %", "gain", "same fold", "win/draw/lose", "seconds")


def cells(summary: Sequence[Summary]) -> list[tuple[str, ...]]:
    """The rows below `HEADER`; figures that are not known are left empty."""
    return [
        (
            row.scheme,
            _figure(row.accuracy, "{:.2f}", 100),
            _figure(row.gain, "{:+.2f}"),
            _figure(row.gain_same_fold, "{:+.2f}"),
            "" if row.wins is None else f"{row.wins}/{row.draws}/{row.losses}",
            f"{row.seconds:.1f}",
        )
        for row in summary
    ]


def markdown(summary: Sequence[Summary]) -> str:
    """The same as a Markdown table."""
    lines = [HEADER, ("---", *["---:"] * (len(HEADER) - 1)), *cells(summary)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _figure(value: float | None, form: str, scale: float = 1.0) -> str:
    return "" if value is None else form.format(scale * value)
