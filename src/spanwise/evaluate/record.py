"""One JSON line a round and scheme, written as the evaluation goes.

A line counts once its line break is on the file, so a run that was killed leaves a record that can be
read up to the round it died in.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from spanwise.core.report import RoundReport
from spanwise.errors import DataError, SettingError


@dataclass(frozen=True)
class Row:
    """What one scheme did in one round.

    Attributes:
        round: of the stream, from 1.
        scheme: its name in the evaluation.
        seed: of the run.
        n: rows that had a label.
        skipped: no row had one, so nobody was asked and nobody learned.
        shift: the stream says that the distribution jumped here.
        holds_back: the scheme does not train on all rows.
        accuracy, balanced_accuracy, macro_f1, log_loss: None in the first round, where nothing had trained.
        by_class: label, as text -> (rows of it, rows of it that were right); empty where the others are None.
        ahead, behind: rows that this scheme got right and `plain` wrong, and the other way round; None for
            `plain` itself, where it was not among the models, and where nothing was scored.
        regret: accuracy of the round's best classifier minus ours, where the stream knows it.
        chosen, span, starts, estimates, windows, weights, why: as in `RoundReport`, so of who predicts next.
        seconds: spent predicting and learning.
    """

    round: int
    scheme: str
    seed: int = 0
    n: int = 0
    skipped: bool = False
    shift: bool = False
    holds_back: bool = False
    accuracy: float | None = None
    balanced_accuracy: float | None = None
    macro_f1: float | None = None
    log_loss: float | None = None
    by_class: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    ahead: int | None = None
    behind: int | None = None
    regret: float | None = None
    chosen: int | str | None = None
    span: int | None = None
    starts: tuple[int, ...] = ()
    estimates: Mapping[int, float] = field(default_factory=dict)
    windows: Mapping[int, int] = field(default_factory=dict)
    weights: Mapping[int, float] = field(default_factory=dict)
    why: str = ""
    seconds: float = 0.0

    @property
    def shares(self) -> Mapping[int, float]:
        """How much each start counts of all; a weight that is negative counts by its size.

        >>> Row(9, "spanwise", weights={1: 1.5, 8: -0.5}).shares
        {1: 0.75, 8: 0.25}
        """
        total = sum(map(abs, self.weights.values()))
        return {start: abs(weight) / total for start, weight in self.weights.items()} if total else {}

    def line(self) -> str:
        """As one line of JSON."""
        return json.dumps(asdict(self)) + "\n"

    @classmethod
    def of(cls, line: str | bytes) -> Self:
        """The row whose `line()` this was; one that is older than some of the fields has them at their defaults."""
        values = json.loads(line)
        values["starts"] = tuple(values["starts"])
        for name in ("estimates", "windows", "weights"):
            values[name] = {int(start): value for start, value in values[name].items()}
        values["by_class"] = {label: (n, right) for label, (n, right) in values.get("by_class", {}).items()}
        return cls(**values)


def reported(report: RoundReport) -> dict[str, Any]:
    """What a row takes over from a report, as Python's own numbers."""
    return {
        "chosen": report.chosen if isinstance(report.chosen, str) else int(report.chosen),
        "span": report.span if report.span is None else int(report.span),
        "starts": tuple(int(start) for start in report.starts),
        "estimates": {int(start): float(accuracy) for start, accuracy in report.estimates.items()},
        "windows": {int(start): int(rounds) for start, rounds in report.windows.items()},
        "weights": {int(start): float(weight) for start, weight in report.weights.items()},
        "why": report.why,
    }


class Record:
    """A file that rows are appended to; use it in a `with`. Without a path, nothing is written.

    What is there already is kept, so that one file can collect several evaluations of one stream, of
    other schemes or of other seeds; a torn last line is cut off.

    Args:
        path: the file.
        schemes, seed: whose rows are coming.
        resume: they have rows there, of which those up to this round are kept; None refuses.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        schemes: Iterable[str],
        seed: int = 0,
        resume: int | None = None,
    ) -> None:
        self._file = None
        self.kept: list[Row] = []
        if path is None:
            return
        path = Path(path)
        if path.exists():
            os.truncate(path, len(_whole(path.read_bytes())))
        rows = read(path) if path.exists() else []
        again = sorted({row.scheme for row in rows if row.seed == seed} & set(schemes))
        if again and resume is None:
            raise SettingError(
                f"{path} already holds a record of {', '.join(again)} with seed {seed}: "
                "choose another file or another seed, or remove this file"
            )
        mine = [row.seed == seed and row.scheme in again for row in rows]
        self.kept = [row for row, own in zip(rows, mine, strict=True) if own and row.round <= (resume or 0)]
        if resume and len(self.kept) < resume:
            raise SettingError(f"{path} lacks rounds up to {resume}, which were played: remove the checkpoint too")
        if len(self.kept) < sum(mine):
            others = [row for row, own in zip(rows, mine, strict=True) if not own]
            replace_file(path, [*others, *self.kept])
        self._file = path.open("a", encoding="utf-8")

    def write(self, row: Row) -> None:
        if self._file is not None:
            self._file.write(row.line())
            self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()


def replace_file(path: Path, rows: Iterable[Row]) -> None:
    """All of the new file or all of the old one."""
    new = path.with_name(f"{path.name}.new")
    new.write_text("".join(row.line() for row in rows), encoding="utf-8")
    new.replace(path)


def read(path: str | os.PathLike[str]) -> list[Row]:
    """The rows of a record, in the order they were written, without a last line that is torn."""
    rows = []
    for number, line in enumerate(_whole(Path(path).read_bytes()).splitlines(), start=1):
        try:
            rows.append(Row.of(line))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise DataError(
                f"{path}, line {number} is no row of a record: it was altered, or another program wrote this file"
            ) from None
    return rows


def _whole(data: bytes) -> bytes:
    """Up to and with the last line break."""
    return data[: data.rfind(b"\n") + 1]
