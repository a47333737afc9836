"""In which round the time of a row puts it.

A period is a year, quarter, month, day, hour or ISO week (from Monday, named after the year that its Thursday
is in), and has a number, one more than that of the period before.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from itertools import pairwise

import numpy as np

from spanwise.errors import SettingError
from spanwise.learner import Array

CALENDAR = {"year": "Y", "quarter": "M", "month": "M", "week": "D", "day": "D", "hour": "h"}
"""The unit of time that each is made of."""


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
    if every == "week":
        return np.asarray((units + 3) // 7)  # 1970 began on a Thursday
    return np.asarray(units // 3 if every == "quarter" else units)


def name(number: int, every: str) -> str:
    """What a period is called.

    >>> name(2296, "week"), name(519, "month"), name(173, "quarter")
    ('2014-W01', '2013-04', '2013-Q2')
    """
    if every == "quarter":
        return f"{1970 + number // 4:04}-Q{number % 4 + 1}"
    if every == "week":
        year, week, _ = (date(1970, 1, 1) + timedelta(days=7 * number - 3)).isocalendar()
        return f"{year:04}-W{week:02}"
    return str(np.array(number).astype(f"M8[{CALENDAR[every]}]"))


def gaps(present: list[int]) -> Iterator[int]:
    """Numbers of the periods that are empty, between the first and the last.

    >>> list(gaps([3, 4, 7]))
    [5, 6]
    """
    for one, following in pairwise(present):
        yield from range(one + 1, following)
