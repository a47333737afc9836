"""Times that are written as numbers: years, counts from 1970, digits of a date, or a mere order."""

from datetime import date

import numpy as np

from spanwise.errors import MissingExtraError
from spanwise.learner import Array

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as error:
    raise MissingExtraError("pyarrow", "files") from error

MISSING = np.iinfo(np.int64).min
"""In place of a time where there is none."""
UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}
"""What numbers may count from 1970, in microseconds."""
EARLIEST, LATEST = -6.2e16, 2.5e17
"""Microseconds since 1970 between which years have four digits."""


def as_floats(column: pa.Array) -> Array:
    """Numbers, NaN for null."""
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))


def are_whole(numbers: Array) -> Array:
    return np.asarray(np.isfinite(numbers) & (numbers == np.floor(numbers)))


def are_years(numbers: Array) -> Array:
    return are_whole(numbers) & (numbers >= 1) & (numbers <= 9999)


def of_years(years: Array) -> Array:
    """Microseconds at which years begin.

    >>> of_years(np.array([1971.0, np.nan])).tolist() == [365 * 86_400_000_000, MISSING]
    True
    """
    missing = np.isnan(years)
    since = np.where(missing, 1970, years).astype(np.int64) - 1970
    return np.where(missing, MISSING, since.astype("M8[Y]").astype("M8[us]").astype(np.int64))


def are_dates(numbers: Array, unit: str) -> Array:
    return (numbers * UNITS[unit] > EARLIEST) & (numbers * UNITS[unit] < LATEST)


def since_1970(numbers: Array, unit: str) -> Array:
    """Microseconds since 1970.

    >>> since_1970(np.array([1.5, -2.0]), "ms").tolist()
    [1500, -2000]
    """
    missing = np.isnan(numbers)
    return np.where(missing, MISSING, np.rint(np.where(missing, 0, numbers) * UNITS[unit]).astype(np.int64))


def as_digits(column: pa.Array, form: str) -> pa.Array:
    """Whole numbers as the texts they were, whose leading zeros were lost.

    >>> as_digits(pa.array([5042013, None]), "%d%m%Y").to_pylist()
    ['05042013', None]
    """
    if pa.types.is_floating(column.type):
        column = pa.array(as_floats(column), from_pandas=True)
    texts = column.cast(pa.int64()).cast(pa.string())
    return pc.utf8_lpad(texts, width=len(date(1970, 1, 1).strftime(form)), padding="0")


def as_order(column: pa.Array) -> Array:
    """Whole numbers in the order of these, `MISSING` for null and NaN.

    The bits of a float, read as a whole number, grow as the float does; below zero they fall, so all
    but the sign are turned over.

    >>> np.argsort(as_order(pa.array([0.5, -2.5, 2.0, -3.0]))).tolist()
    [3, 1, 0, 2]
    """
    if pa.types.is_integer(column.type):
        return np.asarray(column.cast(pa.int64()).fill_null(MISSING).to_numpy(zero_copy_only=False))
    numbers = as_floats(column) + 0.0  # makes -0.0 zero
    bits = numbers.view(np.int64)
    order = np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)
    return np.where(np.isnan(numbers), MISSING, order)
