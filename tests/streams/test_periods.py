"""When rows happened, whatever way it was written, and the periods that follow from it."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.errors import DataError, SettingError
from spanwise.streams import periods

APRIL = datetime(2013, 4, 5, 8, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(when):
    return (when - EPOCH) // timedelta(microseconds=1)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["2013-04-05 08:00:00"]),
        pa.array(["2013-04-05T08:00:00Z"]),
        pa.array(["2013-04-05 10:00:00+02:00"]),
        pa.array([" 2013-04-05 08:00 "], pa.large_string()),
        pa.array(["2013-04-05T08:00:00.0000000"]),
        pa.array([APRIL], pa.timestamp("ns", "America/New_York")),
        pa.array([APRIL.replace(tzinfo=None)], pa.timestamp("s")),
        pa.array([APRIL.replace(tzinfo=None)], pa.timestamp("ms")),
    ],
    ids=str,
)
def test_one_moment_written_in_many_ways_is_one_number(column):
    assert periods.parse(column, "when").values.tolist() == [microseconds(APRIL)]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([date(2013, 1, 1)]),
        pa.array([date(2013, 1, 1)], pa.date64()),
        pa.array([2013], pa.int16()),
        pa.array([2013.0]),
        pa.array(["2013"]),
        pa.array(["2013-01"]),
        pa.array(["2013-01-01"]),
    ],
    ids=str,
)
def test_a_year_a_month_and_a_day_begin_with_their_first_moment(column):
    assert periods.parse(column, "when").values.tolist() == [microseconds(datetime(2013, 1, 1, tzinfo=UTC))]


@pytest.mark.parametrize("kind", [pa.string(), pa.int64(), pa.float64(), pa.date32(), pa.timestamp("ns"), pa.null()])
def test_a_null_is_missing(kind):
    assert periods.parse(pa.nulls(2, kind), "when").values.tolist() == 2 * [periods.MISSING]


def test_an_empty_string_is_missing():
    assert periods.parse(pa.array(["", "1970-01-01"]), "when").values.tolist() == [periods.MISSING, 0]


def test_mixed_zones_are_told_and_those_without_taken_as_utc():
    column = pa.array(["1970-01-01T02:00:00+02:00", "1970-01-01 00:00:00", "1969-12-31T19:00:00-05:00", None])
    times = periods.parse(column, "when")
    assert times.values[:3].tolist() == [0, 0, 0]
    assert times.zones == {"+02:00", "-05:00", ""}


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (["2013-04-05", "soon", "2013-02-30"], r"'when'.*ISO form.*2 rows.*row 12: 'soon', row 13: '2013-02-30'"),
        ([2013, 1365120000], r"years.*row 12: 1365120000"),
        ([2013.0, 2013.5], r"years.*row 12: 2013.5"),
        ([True], r"'when' holds bool"),
    ],
)
def test_what_is_no_time_is_named_by_its_row(column, says):
    with pytest.raises(DataError, match=says):
        periods.parse(pa.array(column), "when", first_row=11)


@given(st.datetimes(datetime(1600, 1, 1), datetime(2400, 1, 1)))
def test_names_are_those_that_the_calendar_gives(when):
    times = np.array([microseconds(when.replace(tzinfo=UTC))])
    got = {every: periods.name(int(periods.numbers(times, every)[0]), every) for every in periods.CALENDAR}
    year, week, _ = when.isocalendar()
    assert got == {
        "year": f"{when:%Y}",
        "month": f"{when:%Y-%m}",
        "week": f"{year}-W{week:02}",
        "day": f"{when:%Y-%m-%d}",
    }


@pytest.mark.parametrize("every", ["fortnight", "", "0", 0, -3, "1.5", True])
def test_a_period_that_is_not_known_is_refused(every):
    with pytest.raises(SettingError, match="year, month, week, day, or a number of rows"):
        periods.checked_every(every)
