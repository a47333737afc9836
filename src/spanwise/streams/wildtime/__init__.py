"""Wild-Time (Yao et al., 2022): real data over years, from whichever form of it lies in a folder.

Each dataset can be read from Wild-Time's pickles (both releases), from wild-time-data's HDF5 files and from the raw
sources; HuffPost and arXiv from Parquet files too. What is read is the same stream: a batch a timestamp, rows of
Wild-Time's training fold first, then those of its ID test, then the row that it leaves out of both.
"""

from collections.abc import Hashable, Iterator
from dataclasses import replace
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from spanwise.core.labels import Labels
from spanwise.errors import DataError, SettingError, UnknownNameError
from spanwise.learner import Array
from spanwise.streams.batch import Batch
from spanwise.streams.wildtime.facts import DATASETS, Dataset

__all__ = ["WildTime"]


class WildTime:
    """One of Wild-Time's datasets, a batch a timestamp.

    Texts are lower-cased strings. Portraits of the yearbook are float32 (n, 32, 32, 3) in 0..1; FMoW's images are
    uint8 (n, 224, 224, 3), read when their batch is asked for. Labels are class names, but for arXiv from pickles
    and HDF5, which hold its class numbers alone.

    Args:
        name: "arxiv", "fmow", "huffpost" or "yearbook".
        folder: where its files lie; of several forms, the first is read: pickle, HDF5, raw, Parquet.
        release: of Wild-Time, 1 or 2; they split FMoW's raw metadata differently.
        most: rows a batch at most, nine tenths of them from the training fold.
        every_year: only categories that occur in every year, for arXiv from raw files or Parquet.
        decode: FMoW's images as arrays, not as paths.
        channels_first: images as (n, 3, height, width), as torch wants them.

    Attributes:
        source: the file or folder that was read.
        classes: all labels, by class number.
        timestamps: one a batch, ascending.
        training: rows of the training fold, which lead their batch, by timestamp.
    """

    def __init__(
        self,
        name: str,
        folder: str | Path,
        *,
        release: int = 2,
        most: int | None = None,
        every_year: bool = False,
        decode: bool = True,
        channels_first: bool = False,
    ) -> None:
        if name not in DATASETS:
            raise UnknownNameError(f"there is no dataset {name!r}: it must be one of {', '.join(DATASETS)}")
        if release not in (1, 2) or (most is not None and most < 2):
            raise SettingError(f"release={release} and most={most}: release must be 1 or 2, and most 2 or more")
        self.name, self.channels_first = name, channels_first
        dataset = replace(DATASETS[name], where=DATASETS[name].where.format(name=name))
        self.source, reader = _find(dataset, Path(folder))
        settings = {"release": release, "every_year": every_year, "decode": decode}
        if every_year and "every_year" not in signature(reader).parameters and name != "huffpost":
            raise SettingError(f"every_year=True: {self.source} is split already; it needs arXiv raw or as Parquet")
        self._periods, self.classes = _read(reader, self.source, dataset, settings)
        if most is not None:
            self._periods = [period.capped(most) for period in self._periods]

    def __len__(self) -> int:
        return len(self._periods)

    def __iter__(self) -> Iterator[Batch]:
        labels = Labels(self.classes)
        for period in self._periods:
            yield Batch(self._features(period.read(period.positions)), labels.names(period.y))

    @property
    def timestamps(self) -> list[int]:
        return [period.timestamp for period in self._periods]

    @property
    def training(self) -> dict[int, int]:
        return {period.timestamp: period.training for period in self._periods}

    def split(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Wild-Time's folds of the batch of `n` rows, as a scheme's `split` takes them.

        They are the leading nine tenths and the rest, but for FMoW in the second release, whose folds before 2013 are
        WILDS's, and for HDF5, which lacks a row.
        """
        leads = {period.training for period in self._periods if len(period) == n}
        if len(leads) != 1:
            raise DataError(
                f"{n} rows: {len(leads)} folds are known for a batch of that size, so pass whole batches only"
            )
        return np.arange(lead := leads.pop()), np.arange(lead, n)

    def _features(self, X: Any) -> Any:
        if isinstance(X, list):
            return X
        if self.name == "yearbook":
            X = _portraits(X)
        return np.ascontiguousarray(X.transpose(0, 3, 1, 2)) if self.channels_first else X


def _find(dataset: Dataset, folder: Path) -> tuple[Path, Any]:
    """The first source that lies in the folder, and what reads it."""
    for file, reader in dataset.sources.items():
        if (folder / file).exists():
            module, function = reader.split(":")
            return folder / file, getattr(import_module(f"spanwise.streams.wildtime.{module}"), function)
    raise DataError(
        f"{folder} holds none of {', '.join(dataset.sources)}, from which {dataset.name} is read. "
        f"Where to get them: {dataset.where}"
    )


def _read(reader: Any, path: Path, dataset: Dataset, settings: dict[str, Any]) -> tuple[list[Any], list[Hashable]]:
    """Timestamps and classes, by a reader that takes some of the settings."""
    periods, classes = reader(path, dataset, **{k: v for k, v in settings.items() if k in signature(reader).parameters})
    if not periods:
        span = dataset.timestamps
        raise DataError(f"{path} holds none of the timestamps {span.start}..{span.stop - 1}. {dataset.where}")
    return periods, list(classes)


def _portraits(images: Array) -> Array:
    """Float32 in 0..1 and three channels, whichever of bytes and grey they were stored as."""
    scaled = images.astype(np.float32) / 255 if images.dtype == np.uint8 else images.astype(np.float32)
    grey = scaled.reshape(*scaled.shape[:3], -1)
    return np.repeat(grey, 3, axis=3) if grey.shape[3] == 1 else grey
