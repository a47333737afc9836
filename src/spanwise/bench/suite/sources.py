"""Where the streams of the suite come from: files, pictures, laws of motion, River's generators.

A stream is a recipe until it is opened with the folder of its file.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Literal
from zipfile import BadZipFile

import numpy as np

from spanwise.bench.suite.generated import Generated
from spanwise.errors import DataError
from spanwise.learner import Array
from spanwise.streams import Batch
from spanwise.streams.synthetic import Synthetic

Role = Literal["development", "confirmation", "replication", "adversary"]
Kind = Literal["array", "text", "columns"]
"""What a learner is given: an array of numbers, a list of texts, or columns of numbers and categories."""


@dataclass(frozen=True)
class Source:
    """Where a stream of the suite comes from.

    Attributes:
        role: what it may be used for.
        kind: what its batches hold.
        open: the stream, from the folder that its file lies in; it has a length, and `classes`, all labels sorted.
    """

    role: Role
    kind: Kind
    open: Callable[[Path], Any]


class ArrayFile:
    """The arrays X and y of an NPZ file, whose rows are in the order of time, cut into rounds of equal length.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "days.npz", X=np.arange(6.0)[:, None], y=[0, 1, 1, 0, 1, 0])
    ...     stream = ArrayFile(Path(folder) / "days.npz", every=2.5)
    >>> len(stream), stream.classes, [y.tolist() for _, y in stream]
    (3, [0, 1], [[0, 1], [1, 0, 1], [0]])

    Args:
        path: the file.
        every: rows a round, on average where that is no whole number; the last round has what is left.
    """

    def __init__(self, path: Path, every: float) -> None:
        self.X, self.y = _arrays(path)
        self.classes: list[int] = np.unique(self.y).tolist()
        self.cuts = [int(i * every) for i in range(int(np.ceil(len(self.y) / every)))] + [len(self.y)]

    def __len__(self) -> int:
        return len(self.cuts) - 1

    def __iter__(self) -> Iterator[Batch]:
        for start, end in zip(self.cuts, self.cuts[1:], strict=False):
            yield Batch(self.X[start:end].astype(float), self.y[start:end])


class Flat:
    """A stream of pictures whose pixels are given as rows of numbers.

    Args:
        stream: of batches with pictures (n, channels, height, width).
        block: so many by so many pixels are averaged into one.
    """

    def __init__(self, stream: Any, block: int = 1) -> None:
        self.stream, self.block = stream, block
        self.classes: list[int] = stream.classes

    def __len__(self) -> int:
        return len(self.stream)

    def __iter__(self) -> Iterator[Batch]:
        for batch in self.stream:
            n, channels, height, width = batch.X.shape
            shape = n, channels, height // self.block, self.block, width // self.block, self.block
            blocks = batch.X.astype(float).reshape(shape).mean(axis=(3, 5)) if self.block > 1 else batch.X.astype(float)
            yield replace(batch, X=blocks.reshape(n, -1))


def array_file(file: str, every: float, folder: Path) -> ArrayFile:
    return ArrayFile(Path(folder) / file, every)


def table(file: str, folder: Path, **settings: Any) -> Any:
    """A `FileStream`, which needs pyarrow."""
    return import_module("spanwise.streams.files").FileStream(Path(folder) / file, **settings)


def pictures(law: str, folder: Path, block: int = 1, **settings: Any) -> Flat:
    """A stream of `spanwise.streams.images`, which needs scipy."""
    images = import_module("spanwise.streams.images")
    return Flat(getattr(images, law)(folder=folder, rounds=60, size=500, **settings), block)


def synthetic(law: type[Synthetic], folder: Path, *, classes: int = 4, **settings: Any) -> Synthetic:
    """A stream that is drawn and not read."""
    return law(rounds=100, size=300, classes=list(range(classes)), **settings)


def generated(generator: str, folder: Path, **settings: Any) -> Generated:
    """A stream that River draws."""
    return Generated(generator, **settings)


def phases(setting: str, *values: int, **others: Any) -> list[dict[str, Any]]:
    """Settings of a generator of which one changes.

    >>> phases("variant", 0, 3, noise=0.1)
    [{'variant': 0, 'noise': 0.1}, {'variant': 3, 'noise': 0.1}]
    """
    return [{setting: value, **others} for value in values]


def _arrays(path: Path) -> tuple[Array, Array]:
    if not path.is_file():
        raise DataError(f"there is no file {path}: expected an NPZ file with arrays X and y, a row for a point in time")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            X, y = arrays["X"], arrays["y"].astype(np.int64)
    except (KeyError, ValueError, OSError, BadZipFile) as error:
        raise DataError(f"{path} cannot be read: {error}. Expected an NPZ file with arrays X and y") from error
    if X.ndim != 2 or y.ndim != 1 or not 0 < len(X) == len(y):
        raise DataError(f"{path} holds X {X.shape} and y {y.shape}: expected (n, d) and (n,), with a row or more")
    return X, y
