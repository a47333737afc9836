"""The streams of the suite: those a scheme is found on, and those that confirm it.

A scheme may be tuned on the *development* streams as often as one likes. The *confirmation* streams are not looked at
until it is fixed, and then once. An *adversary* gives nobody a chance to learn from the past, and is reported apart. A
stream is a recipe until it is opened with the folder of its file.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal
from zipfile import BadZipFile

import numpy as np

from spanwise.errors import DataError
from spanwise.learner import Array
from spanwise.streams import Abrupt, Batch, CovariateShift, Gradual, LabelShift, Recurring, Stationary
from spanwise.streams.synthetic import Synthetic
from spanwise.streams.wildtime import WildTime

Role = Literal["development", "confirmation", "adversary"]
Kind = Literal["array", "text", "columns"]
"""What a learner is given: an array of numbers, a list of texts, or columns of numbers and categories."""

HALF_YEAR = 365.25 / 2
"""Days."""


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


HEADLINES = partial(table, "huffpost.parquet", label="category", time="date", text="headline")
TURNED = ((1, 0.0), (16, 75.0), (31, 160.0), (46, 0.0))

STREAMS: dict[str, Source] = {
    "electricity": Source("development", "array", partial(array_file, "elec2.npz", 336)),  # a week of half-hours
    "insects": Source("development", "array", partial(array_file, "insects_gradual_balanced.npz", 250)),
    "huffpost-month": Source("development", "text", partial(HEADLINES, every="month")),
    "arxiv-year": Source("development", "text", partial(WildTime, "arxiv", most=2000)),
    "rotating-mnist": Source(
        "development", "array", partial(pictures, "RotatingImages", source="mnist", angles=TURNED)
    ),
    "abrupt": Source("development", "array", partial(synthetic, Abrupt)),
    "gradual": Source("development", "array", partial(synthetic, Gradual)),
    "stationary": Source("development", "array", partial(synthetic, Stationary)),
    "weather": Source("confirmation", "array", partial(array_file, "noaa_weather.npz", HALF_YEAR)),
    "rialto": Source("confirmation", "array", partial(array_file, "rialto.npz", 823)),
    "spam": Source("confirmation", "array", partial(array_file, "spam_corpus_bow.npz", 100)),
    "flights": Source(
        "confirmation", "columns", partial(table, "flights.parquet", label="delayed", time="time", every="week")
    ),
    "huffpost-year": Source("confirmation", "text", partial(HEADLINES, every="year")),
    "seasonal-cifar10": Source(  # 16 x 16 pixels in three colours, as many numbers as MNIST has: 3,072 took ten minutes
        "confirmation", "array", partial(pictures, "SeasonalImages", source="cifar10", every=5, block=2)
    ),
    "recurring": Source("confirmation", "array", partial(synthetic, Recurring, seed=1)),
    "label-shift": Source("confirmation", "array", partial(synthetic, LabelShift, seed=1)),
    "covariate-shift": Source("confirmation", "array", partial(synthetic, CovariateShift, seed=1)),
    "second-stationary": Source(
        "confirmation", "array", partial(synthetic, Stationary, classes=6, features=20, seed=1)
    ),
    "new-each-round": Source("adversary", "array", partial(synthetic, Abrupt, every=1)),
}
