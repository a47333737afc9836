"""What a scheme did on a stream with a learner and a seed: its accuracy by round, in a line of JSON.

Lines are appended a play at a time. One that was torn is left out when the file is read, and cut off when the next
play is added; its play is played again.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Self

from spanwise.bench.lock import locked
from spanwise.errors import DataError


@dataclass(frozen=True)
class Score:
    """One scheme, stream, learner and seed.

    Attributes:
        stream, learner, scheme, seed: which one.
        accuracies: of every round that was scored.
        seconds: spent predicting and learning.
        where: it was played: the machine and the versions, in words. Early plays did not say.
        plain_seconds: what the plain learner took in the same play, as machines are not equally fast every day; None
            where it was not played beside.
    """

    stream: str
    learner: str
    scheme: str
    seed: int
    accuracies: tuple[float, ...]
    seconds: float
    where: str = ""
    plain_seconds: float | None = None

    @property
    def machine(self) -> str:
        """Of what `where` tells, what seconds depend on most; those who did not say are taken for one."""
        return self.where.partition(",")[0]

    @property
    def accuracy(self) -> float:
        return fmean(self.accuracies)

    @classmethod
    def of(cls, line: bytes) -> Self:
        values = json.loads(line)
        return cls(**{**values, "accuracies": tuple(values["accuracies"])})


def read(path: Path) -> list[Score]:
    """All scores of a file, each once; none where there is no file."""
    data = path.read_bytes() if path.exists() else b""
    found: dict[tuple[str, str, str, int], Score] = {}
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), start=1):
        try:
            score = Score.of(line)
        except (ValueError, TypeError, KeyError):
            raise DataError(f"{path}, line {number} is no score: it was altered, or another program wrote it") from None
        found.setdefault((score.stream, score.learner, score.scheme, score.seed), score)
    return list(found.values())


def add(path: Path, scores: Sequence[Score]) -> None:
    """Append scores, whoever else does; when this returns they are on the disk."""
    with locked(path.with_name(f".{path.name}.lock")), path.open("ab") as file:
        data = path.read_bytes()
        file.truncate(data.rfind(b"\n") + 1)
        file.write(b"".join(json.dumps(asdict(score)).encode() + b"\n" for score in scores))
        file.flush()
        os.fsync(file.fileno())
