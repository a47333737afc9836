"""wild-time-data's HDF5 files: groups `<timestamp>/{train,test}`, datasets `images` or `text`, and `labels`.

They lack the row that Wild-Time's text datasets leave between the folds. Images are read a timestamp at a time.
"""

from collections.abc import Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from spanwise.core.rows import take
from spanwise.errors import DataError, MissingExtraError
from spanwise.learner import Array
from spanwise.streams.wildtime.facts import Dataset
from spanwise.streams.wildtime.period import Period, class_numbers

try:
    import h5py
except ImportError as error:
    raise MissingExtraError("h5py", "wildtime") from error

FOLDS = ("train", "test")


def read(path: Path, dataset: Dataset) -> tuple[list[Period], Sequence[Hashable]]:
    """Timestamps and classes."""
    field = "text" if dataset.text else "images"
    periods = []
    try:
        with h5py.File(path, "r") as file:
            for timestamp in dataset.timestamps:
                if str(timestamp) in file:
                    folds = [file[f"{timestamp}/{fold}/labels"][:] for fold in FOLDS]
                    y = class_numbers(np.concatenate(folds), len(dataset.classes), f"{path}, {timestamp}")
                    reading = partial(_rows, path, timestamp, field)
                    periods.append(Period(timestamp, np.arange(len(y)), y, len(folds[0]), reading))
    except (OSError, KeyError) as error:
        raise DataError(f"{path} is not one of wild-time-data's HDF5 files: {error}. {dataset.where}") from error
    return periods, dataset.classes


def _rows(path: Path, timestamp: int, field: str, positions: Array) -> Any:
    """Rows of a timestamp, of both folds one after another."""
    with h5py.File(path, "r") as file:
        folds = [file[f"{timestamp}/{fold}/{field}"][:] for fold in FOLDS]
    if field == "images":
        return np.concatenate(folds)[positions]
    return take([text.decode().lower() for fold in folds for text in fold], positions)
