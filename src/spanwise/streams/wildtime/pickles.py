"""Wild-Time's pickles of both releases, `datasets[timestamp][mode][field]`, read without running what is in them.

Modes are 0, train; 1, ID test; 2, everything. The first release names them by an Enum of its own, which need
not be there. FMoW's hold numpy arrays and torch tensors; torch need not be there either.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spanwise.errors import DataError, SpanwiseError
from spanwise.learner import Array
from spanwise.streams.wildtime.facts import Dataset
from spanwise.streams.wildtime.period import Period, class_numbers, given_period
from spanwise.streams.wildtime.unpickling import DataUnpickler
from spanwise.streams.wildtime.wilds import image_reader

TRAIN, ID_TEST, ALL = range(3)


def read(path: Path, dataset: Dataset, *, decode: bool) -> tuple[list[Period], Sequence[Hashable]]:
    """Timestamps and classes."""
    stored = load(path)
    periods = []
    for timestamp in dataset.timestamps:
        if timestamp in stored:
            try:
                periods.append(_period(timestamp, stored.pop(timestamp), dataset, f"{path}, {timestamp}"))
            except (KeyError, TypeError, ValueError) as error:
                if isinstance(error, SpanwiseError):
                    raise
                raise DataError(
                    f"{path}, {timestamp}: not laid out as Wild-Time's: {error!r}. {dataset.where}"
                ) from error
    if dataset.name == "fmow":
        periods = [_with_images(period, path.parent, decode) for period in periods]
    return periods, dataset.classes


def load(path: Path) -> dict[Any, Any]:
    """What the pickle holds, as long as it is data."""
    try:
        with path.open("rb") as file:
            stored = DataUnpickler(file, str(path)).load()
    except SpanwiseError:
        raise
    except Exception as error:  # a broken pickle can raise anything
        raise DataError(f"{path} cannot be read as a pickle: {error!r}. Is the file whole? Get it again.") from error
    if not isinstance(stored, dict):
        raise DataError(f"{path} holds a {type(stored).__name__}, and Wild-Time's pickles hold a dict of timestamps")
    return stored


def _period(timestamp: int, modes: Mapping[int, Mapping[str, Any]], dataset: Dataset, where: str) -> Period:
    """The folds one after another, then the rows in neither."""
    field, label = dataset.fields
    rows = [_rows(modes[mode][field], dataset) for mode in (TRAIN, ID_TEST)]
    labels = [np.asarray(modes[mode][label]) for mode in (TRAIN, ID_TEST)]
    if np.ndim(rows[0]) == 1 and ALL in modes:
        rest = _in_neither(rows, labels, _rows(modes[ALL][field], dataset), modes[ALL][label])
        rows.append(np.array([row for row, _ in rest], dtype=rows[0].dtype))
        labels.append(np.array([y for _, y in rest], dtype=labels[0].dtype))
    y = class_numbers(np.concatenate(labels), len(dataset.classes), where)
    X = np.concatenate(rows)
    if len(X) != len(y):
        raise DataError(f"{where}: {len(X)} rows and {len(y)} labels")
    return given_period(timestamp, X.tolist() if dataset.text else X, y, len(labels[0]))


def _rows(stored: Any, dataset: Dataset) -> Array:
    """A field as an array; texts as objects, which take the room they need and no more."""
    if dataset.text:
        return np.array([str(text).lower() for text in stored], dtype=object)
    array = np.asarray(stored)
    return array.astype(np.float32) if array.dtype == np.float64 else array


def _in_neither(rows: Sequence[Array], labels: Sequence[Array], everything: Array, y: Any) -> list[tuple[Any, int]]:
    """What mode 2 holds beyond the folds, in its order."""
    spare = Counter(zip(everything.tolist(), np.asarray(y).tolist(), strict=True))
    for fold, of in zip(rows, labels, strict=True):
        spare.subtract(zip(fold.tolist(), of.tolist(), strict=True))
    return list((+spare).elements())


def _with_images(period: Period, folder: Path, decode: bool) -> Period:
    """FMoW's pickles hold image numbers; the images lie beside them, as WILDS has them."""
    inner = folder / "fmow_v1.1"
    reader = image_reader(inner if inner.is_dir() else folder, decode)
    return Period(period.timestamp, period.read(period.positions), period.y, period.training, reader)
