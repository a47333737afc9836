"""When a row happened, and in which round that puts it.

Times become microseconds since 1970 in UTC; a time without a zone is taken as UTC. A period is a
year, month, day or ISO week (from Monday, named after the year that its Thursday is in), and has a
number, one more than that of the period before.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from spanwise.errors import DataError, MissingExtraError, SettingError
from spanwise.learner import Array

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as error:
    raise MissingExtraError("pyarrow", "files") from error

CALENDAR = {"year": "Y", "month": "M", "week": "D", "day": "D"}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
ZONE = r":\d\d(?:\.\d+)?(?P<zone>Z|[+-]\d\d(?::?\d\d)?)$"
MISSING = np.iinfo(np.int64).min


def checked_every(every: str | int) -> str | int:
    """`every` as the name of a period or a number of rows.

    >>> checked_every("week"), checked_every("500")
    ('week', 500)
    """
    if isinstance(every, str) and every in CALENDAR:
        return every
    rows = int(every) if str(every).isdecimal() else 0
    if rows < 1:
        raise SettingError(f"every={every!r}: it must be one of {', '.join(CALENDAR)}, or a number of rows")
    return rows


def numbers(times: Array, every: str) -> Array:
    """The number of the period that each time is in.

    >>> times = np.array(["2013-12-29", "2013-12-30", "2014-01-05", "2014-01-06"], "M8[us]").astype(int)
    >>> numbers(times, "week").tolist()
    [2295, 2296, 2296, 2297]
    """
    units = times.astype("M8[us]").astype(f"M8[{CALENDAR[every]}]").astype(np.int64)
    return np.asarray((units + 3) // 7 if every == "week" else units)  # 1970 began on a Thursday


def name(number: int, every: str) -> str:
    """What a period is called.

    >>> name(2296, "week"), name(519, "month")
    ('2014-W01', '2013-04')
    """
    if every == "week":
        year, week, _ = (date(1970, 1, 1) + timedelta(days=7 * number - 3)).isocalendar()
        return f"{year:04}-W{week:02}"
    return str(np.array(number).astype(f"M8[{CALENDAR[every]}]"))


class Times(NamedTuple):
    """Microseconds, `MISSING` where there is no time; and the zones they came in, "" for none."""

    values: Array
    zones: frozenset[str]


def parse(column: pa.Array, name: str, first_row: int = 1) -> Times:
    """Times of a column: dates, timestamps, whole years, or strings such as 2013-04-05 10:00:00+02:00.

    >>> parse(pa.array(["1970-01-01 01:00+01:00", None, "1970-01-02"]), "when").values[[0, 2]].tolist()
    [0, 86400000000]

    Args:
        column: the values.
        name: the column's, for errors.
        first_row: the number of its first row, for errors.
    """
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _of_strings(column.cast(pa.string()), name, first_row)
    if pa.types.is_date(kind):
        return Times(_microseconds(column.cast(pa.timestamp("ms"))), frozenset([""]))
    if pa.types.is_timestamp(kind):
        return Times(_microseconds(column), frozenset([kind.tz or ""]))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return Times(_of_years(column, name, first_row), frozenset([""]))
    if pa.types.is_null(kind):
        return Times(np.full(len(column), MISSING), frozenset())
    raise DataError(f"time column {name!r} holds {kind}: dates, timestamps, years or strings in ISO form are needed")


def holds_years(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _microseconds(column: pa.Array) -> Array:
    whole = column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64())
    return np.asarray(whole.fill_null(MISSING).to_numpy(zero_copy_only=False))


def _of_years(column: pa.Array, name: str, first_row: int) -> Array:
    years = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    missing = np.isnan(years)
    bad = ~missing & ((years != np.floor(years)) | (years < 1) | (years > 9999))
    if bad.any():
        rows = np.flatnonzero(bad)
        _refuse(
            name, "years; a number that is no year needs converting to a date", rows + first_row, years[rows].tolist()
        )
    at = np.where(missing, 1970, years).astype(np.int64) - 1970
    return np.where(missing, MISSING, at.astype("M8[Y]").astype("M8[us]").astype(np.int64))


def _of_strings(column: pa.Array, name: str, first_row: int) -> Times:
    column = pc.utf8_trim_whitespace(column)
    column = pc.if_else(pc.equal(column, ""), None, column)
    found = pc.unique(pc.struct_field(pc.extract_regex(column, ZONE), 0).fill_null("")).to_pylist()
    for zone in (None, "UTC"):  # all at once where all are alike
        try:
            return Times(_microseconds(column.cast(pa.timestamp("us", zone))), frozenset(found))
        except pa.ArrowInvalid:
            continue
    codes = pc.dictionary_encode(column)
    values = [_of_string(text) for text in codes.dictionary.to_pylist()]
    known = np.array([*(MISSING if v is None else v for v in values), MISSING], dtype=np.int64)
    index = codes.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    bad = np.isin(index, [i for i, v in enumerate(values) if v is None])
    if bad.any():
        rows = np.flatnonzero(bad)
        wanted = "dates in ISO form, such as 2013-04-05 or 2013-04-05 10:00:00+02:00"
        _refuse(name, wanted, rows + first_row, column.take(pa.array(rows[:5])).to_pylist())
    return Times(known[index], frozenset(found))


def _of_string(text: str) -> int | None:
    if re.fullmatch(r"\d{4}(-\d{2})?", text):
        text = (text + "-01")[:7] + "-01"
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    return ((when if when.tzinfo else when.replace(tzinfo=UTC)) - EPOCH) // MICROSECOND


def _refuse(name: str, wanted: str, rows: Array, values: list[object]) -> None:
    shown = ", ".join(f"row {row}: {value!r}" for row, value in zip(rows[:5].tolist(), values, strict=False))
    raise DataError(f"time column {name!r} must hold {wanted}; {len(rows):,} rows here do not ({shown})")


def gaps(present: list[int]) -> Iterator[int]:
    """Numbers of the periods that are empty, between the first and the last.

    >>> list(gaps([3, 4, 7]))
    [5, 6]
    """
    for one, following in pairwise(present):
        yield from range(one + 1, following)
