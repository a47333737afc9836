"""Cells that are done, one JSON line each, in a file that survives being killed.

The cells of a play are there together or not at all: schemes that are played side by side are stacked
together, so that to play some of them again alone could end in other last digits. A line counts once its line
break is there: one that was torn all the same, as by a copy that was cut short, is left out, and its cell is run again.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from spanwise.errors import DataError
from spanwise.evaluate import Evaluation, Row


class Key(NamedTuple):
    """What tells one cell from another."""

    stream: str
    learner: str
    scheme: str
    seed: int
    iterations: int


@dataclass(frozen=True)
class Cell:
    """One scheme on one stream with one learner and seed, and what came of it.

    Attributes:
        key: which one it is.
        rows: one a round.
        made: with what: machine, versions, precision.
    """

    key: Key
    rows: tuple[Row, ...]
    made: Mapping[str, Any] = field(default_factory=dict)

    def line(self) -> str:
        return json.dumps({**self.key._asdict(), "made": self.made, "rows": [asdict(row) for row in self.rows]}) + "\n"

    @classmethod
    def of(cls, line: str | bytes) -> "Cell":
        """The cell whose `line()` this was."""
        values = json.loads(line)
        rows = tuple(Row.of(json.dumps(row)) for row in values["rows"])
        return cls(Key(**{name: values[name] for name in Key._fields}), rows, values["made"])


class Store:
    """A file of cells.

    Args:
        path: made when the first cell is added.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.cells: dict[Key, Cell] = {}
        for number, line in enumerate(self._whole().splitlines(), start=1):
            try:
                cell = Cell.of(line)
            except (ValueError, TypeError, KeyError, AttributeError):
                raise DataError(
                    f"{path}, line {number} is no cell: it was altered, or another program wrote it"
                ) from None
            self.cells.setdefault(cell.key, cell)

    def add(self, cells: Iterable[Cell]) -> None:
        """Put more cells behind those that are there: all of them, or none where this is interrupted.

        A cell that is there already stays as it is, so that what was compared with it still holds.
        """
        new = [cell for cell in cells if cell.key not in self.cells]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        aside = self.path.with_name(f"{self.path.name}.new")
        with aside.open("wb") as file:
            file.write(self._whole() + "".join(cell.line() for cell in new).encode())
            file.flush()
            os.fsync(file.fileno())
        aside.replace(self.path)
        self.cells.update({cell.key: cell for cell in new})

    def _whole(self) -> bytes:
        """The file up to and with its last line break."""
        data = self.path.read_bytes() if self.path.exists() else b""
        return data[: data.rfind(b"\n") + 1]


def evaluations(cells: Iterable[Cell]) -> list[Evaluation]:
    """Cells of one stream, learner and number of iterations as one evaluation a seed."""
    by_seed: dict[int, list[Row]] = {}
    for cell in cells:
        by_seed.setdefault(cell.key.seed, []).extend(cell.rows)
    return [Evaluation(rows) for _, rows in sorted(by_seed.items())]
