"""HuffPost and arXiv as Parquet files with a text, a category and a year a row, sorted by date.

arXiv's year is that of the first submission, not, as in Wild-Time, of the last update: the parts of the file were
written at two dates, so by update the last years would lack papers in some categories and not in others.
"""

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spanwise.errors import DataError, MissingExtraError
from spanwise.streams.wildtime.facts import Dataset
from spanwise.streams.wildtime.period import Period
from spanwise.streams.wildtime.texts import by_year

try:
    import pyarrow
    from pyarrow import parquet
except ImportError as error:
    raise MissingExtraError("pyarrow", "files") from error

COLUMNS = {"huffpost": ("headline", "category", "year"), "arxiv": ("title", "primary_cat", "year")}
TIMESTAMPS = {"huffpost": range(2012, 2019), "arxiv": range(2007, 2019)}
"""arXiv: the years in which each category of the file is complete."""


def read(path: Path, dataset: Dataset, *, every_year: bool) -> tuple[list[Period], Sequence[Hashable]]:
    """Timestamps and classes."""
    texts, categories, years = columns(path, COLUMNS[dataset.name])
    return by_year(
        texts,
        np.array(categories),
        np.array(years),
        timestamps=TIMESTAMPS[dataset.name],
        every_year=every_year or dataset.name == "huffpost",
    )


def columns(path: Path, names: Sequence[str]) -> list[list[Any]]:
    """Some columns of a Parquet file, as lists."""
    try:
        file = parquet.ParquetFile(path)
        if missing := [name for name in names if name not in file.schema_arrow.names]:
            raise DataError(f"{path} has no column {', '.join(missing)}: it has {', '.join(file.schema_arrow.names)}")
        table = file.read(columns=list(names))
    except (pyarrow.ArrowInvalid, OSError) as error:
        said = str(error).rstrip(".")
        raise DataError(f"{path} is not a whole Parquet file: {said}. Get it again.") from error
    if holes := [f"{name} ({table.column(name).null_count})" for name in names if table.column(name).null_count]:
        raise DataError(f"{path} has missing values in {', '.join(holes)}: each row needs all of {', '.join(names)}")
    return [table.column(name).to_pylist() for name in names]
