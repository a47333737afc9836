"""FMoW from the folder that the WILDS package downloads: `rgb_metadata.csv` and `images/rgb_img_<row>.png`.

WILDS's official split: before 2013, its train, id_val and id_test; 2013 to 2015, val; from 2016 on, test.
A row is in val or test only if the metadata's own split says so too. Wild-Time's first release pools train,
val and test; its second trains on train and id_val before 2013 and tests on id_test. The regions, and with
them the file of country codes, play no part.
"""

import csv
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np

from spanwise.errors import DataError
from spanwise.learner import Array
from spanwise.streams.wildtime.facts import Dataset
from spanwise.streams.wildtime.period import Period, Read, split_period

FIRST, VAL, TEST = 2002, 2013, 2016
"""The first year, and the years in which the later parts begin."""


def read(path: Path, dataset: Dataset, *, release: int, decode: bool) -> tuple[list[Period], Sequence[Hashable]]:
    """Timestamps and classes.

    Args:
        path: of the metadata.
        dataset: FMoW.
        release: of Wild-Time, 1 or 2.
        decode: give images, not their paths.
    """
    parts, years, labels = _metadata(path, dataset)
    reader = image_reader(path.parent, decode)
    periods = []
    for timestamp in dataset.timestamps:
        year = FIRST + timestamp
        own = "train" if year < VAL else "val" if year < TEST else "test"
        rows = {part: np.flatnonzero((years == year) & (parts == part)) for part in ("train", "val", "test")}
        if release == 2 and year < VAL:
            order = np.concatenate([rows["train"], rows["val"], rows["test"]])
            period = Period(timestamp, order, labels[order], len(rows["train"]) + len(rows["val"]), reader)
        else:
            drawn = split_period(timestamp, labels[rows[own]], reader, text=False)
            period = Period(timestamp, rows[own][drawn.positions], drawn.y, drawn.training, reader)
        if len(period):
            periods.append(period)
    return periods, dataset.classes


def image_reader(root: Path, decode: bool) -> Read:
    """What turns image numbers into images, or into their paths."""
    folder = root / "images"
    if not decode:
        return partial(_paths, folder)
    if not folder.is_dir():
        raise DataError(
            f"there is no folder {folder}, which holds the images: get FMoW v1.1 from wilds.stanford.edu/datasets, "
            "or pass decode=False for their paths"
        )
    return partial(_images, folder, import_module("spanwise.streams.wildtime.pictures").decoded)


def _paths(folder: Path, numbers: Array) -> list[str]:
    return [str(folder / f"rgb_img_{number}.png") for number in numbers]


def _images(folder: Path, decoded: Callable[..., Array], numbers: Array) -> Array:
    paths = [Path(path) for path in _paths(folder, numbers)]
    return decoded(paths, None, np.arange(len(paths)))


def _metadata(path: Path, dataset: Dataset) -> tuple[Array, Array, Array]:
    """The metadata's split, the year and the class number of each image, by image number."""
    number = {name: i for i, name in enumerate(dataset.classes)}
    parts, years, labels = [], [], []
    with path.open(newline="", encoding="utf-8") as file:
        for line, row in enumerate(csv.DictReader(file), start=2):
            try:
                parts.append(row["split"])
                years.append(int(row["timestamp"][:4]))
                labels.append(number[row["category"]])
            except (KeyError, ValueError, TypeError) as error:
                raise DataError(
                    f"{path}, line {line}: expected the columns split, category (one of WILDS's {len(number)}) and "
                    f"timestamp (YYYY-...), and found {row}"
                ) from error
    return np.array(parts), np.array(years), np.array(labels)
