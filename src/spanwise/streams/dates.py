"""Dates that are written as strings, in ISO form or in another that is named."""

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np

from spanwise.errors import MissingExtraError
from spanwise.learner import Array
from spanwise.streams.numerals import MISSING

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as error:
    raise MissingExtraError("pyarrow", "files") from error

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
ZONE = r":\d\d(?:\.\d+)?(?P<zone>Z|[+-]\d\d(?::?\d\d)?)$"


class Times(NamedTuple):
    """Microseconds since 1970, `MISSING` where there is no time; and the zones they came in, "" for none."""

    values: Array
    zones: frozenset[str]


def trimmed(column: pa.Array) -> pa.Array:
    """Strings without the spaces around them, null where nothing is left."""
    column = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.equal(column, ""), None, column)


def of_iso(column: pa.Array) -> Times:
    """Times of strings such as 2013-04-05 10:00:00+02:00, 2013/04/05 or 2013; what is none is `MISSING`."""
    column = pc.replace_substring_regex(column, pattern=r"^(\d{4})/(\d\d)", replacement=r"\1-\2")
    column = pc.replace_substring_regex(column, pattern=r"^(\d{4}-\d\d)/", replacement=r"\1-")
    zones = frozenset(pc.unique(pc.struct_field(pc.extract_regex(column, ZONE), 0).fill_null("")).to_pylist())
    for zone in (None, "UTC"):  # all at once where all are alike
        try:
            return Times(microseconds(column.cast(pa.timestamp("us", zone))), zones)
        except pa.ArrowInvalid:
            continue
    texts, index = distinct(column)
    return Times(spread([_iso(text) for text in texts], index), zones)


def of_form(column: pa.Array, form: str) -> Times:
    """Times of strings in a form of strptime; what does not fit is `MISSING`.

    >>> of_form(pa.array(["2.1.70", "soon"]), "%d.%m.%y").values.tolist() == [86_400_000_000, MISSING]
    True
    """
    texts, index = distinct(column)
    moments = [_formed(text, form) for text in texts]
    return Times(spread(moments, index), frozenset(f"{moment:%z}" for moment in moments if moment is not None))


def microseconds(column: pa.Array) -> Array:
    whole = column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64())
    return np.asarray(whole.fill_null(MISSING).to_numpy(zero_copy_only=False))


def distinct(column: pa.Array) -> tuple[list[str], Array]:
    """The different strings, and which of them is where; one past the last for null."""
    codes = pc.dictionary_encode(column)
    texts = codes.dictionary.to_pylist()
    return texts, codes.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)


def spread(moments: list[datetime | None], index: Array) -> Array:
    zoned = [m if m is None or m.tzinfo else m.replace(tzinfo=UTC) for m in moments]
    values = [MISSING if m is None else (m - EPOCH) // MICROSECOND for m in zoned]
    return np.array([*values, MISSING], dtype=np.int64)[index]


def impossible(text: str) -> bool:
    """Whether this is in ISO form, but no date; a month of 13 does not count, as it may be the day in another form.

    >>> [impossible(text) for text in ("2020-02-30", "2020-02-29", "2020-13-01", "soon")]
    [True, False, False, False]
    """
    day = re.match(r"\d{4}[-/](0\d|1[0-2])[-/]\d\d", text)
    return day is not None and _iso(day[0].replace("/", "-")) is None


def _iso(text: str) -> datetime | None:
    if re.fullmatch(r"\d{4}(-\d{2})?", text):
        text = (text + "-01")[:7] + "-01"
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _formed(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form)
    except ValueError:
        return None


def tells_years(form: str) -> bool:
    """Whether strptime can read a year in this form.

    >>> tells_years("%d/%m/%Y"), tells_years("DD/MM/YYYY")
    (True, False)
    """
    moment = _formed(datetime(1971, 1, 1, tzinfo=UTC).strftime(form), form)
    return moment is not None and moment.year == 1971
