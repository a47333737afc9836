"""Tables of evaluations: every scheme beside the plain learner and the plain ensemble.

Gains are in points of accuracy, against the plain learner on all data and, beside it, against the
plain learner on the rows that the scheme itself trains on.
"""

from collections.abc import Sequence

from spanwise.evaluate.seeds import AcrossSeeds
from spanwise.evaluate.summary import Summary

HEADER = ("scheme", "accuracy %", "gain", "same fold", "win/draw/lose", "seconds")
HEADER_ACROSS = ("scheme", "accuracy %", "gain", "95 %", "same fold", "win/draw/lose", "seconds")


def cells(summary: Sequence[Summary]) -> list[tuple[str, ...]]:
    """The rows below `HEADER`; figures that are not known are left empty."""
    return [
        (
            row.scheme,
            _figure(row.accuracy, "{:.2f}", 100),
            _figure(row.gain, "{:+.2f}"),
            _figure(row.gain_same_fold, "{:+.2f}"),
            _standing(row),
            f"{row.seconds:.1f}",
        )
        for row in summary
    ]


def cells_across(lines: Sequence[AcrossSeeds]) -> list[tuple[str, ...]]:
    """The rows below `HEADER_ACROSS`, with the deviation over seeds where there are several."""
    return [
        (
            line.scheme,
            _figure(line.accuracy, "{:.2f}", 100) + _figure(line.accuracy_sd, " ± {:.2f}", 100),
            _figure(line.gain, "{:+.2f}"),
            _figure(line.gain_low, "{:+.2f}..") + _figure(line.gain_high, "{:+.2f}"),
            _figure(line.gain_same_fold, "{:+.2f}"),
            _standing(line),
            f"{line.seconds:.1f}",
        )
        for line in lines
    ]


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose first column is a name and whose others are figures."""
    lines = [header, ("---", *["---:"] * (len(header) - 1)), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _standing(row: Summary | AcrossSeeds) -> str:
    return "" if row.wins is None else f"{row.wins}/{row.draws}/{row.losses}"


def _figure(value: float | None, form: str, scale: float = 1.0) -> str:
    return "" if value is None else form.format(scale * value)
