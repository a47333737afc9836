"""When rows happened, whatever way it was written."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pyarrow as pa
import pytest

from spanwise.errors import DataError, SettingError
from spanwise.streams.times import MISSING, Clock

APRIL = datetime(2013, 4, 5, 8, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(when):
    return (when - EPOCH) // timedelta(microseconds=1)


def read(column, form=None, every="year", first_row=1):
    return Clock("when", every, form).read(column, first_row)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["2013-04-05 08:00:00"]),
        pa.array(["2013/04/05 08:00:00"]),
        pa.array(["2013/04/05T10:00:00+02:00"]),
        pa.array(["2013-04-05T08:00:00Z"]),
        pa.array(["2013-04-05 10:00:00+02:00"]),
        pa.array([" 2013-04-05 08:00 "]),
        pa.array(["2013-04-05T08:00:00.0000000"]),
        pa.array([APRIL], pa.timestamp("ns", "America/New_York")),
        pa.array([APRIL.replace(tzinfo=None)], pa.timestamp("s")),
        pa.array([APRIL.replace(tzinfo=None)], pa.timestamp("ms")),
    ],
    ids=str,
)
def test_one_moment_written_in_many_ways_is_one_number(column):
    assert read(column).values.tolist() == [microseconds(APRIL)]


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
        pa.array(["2013/01"]),
        pa.array(["2013/01/01"]),
    ],
    ids=str,
)
def test_a_year_a_month_and_a_day_begin_with_their_first_moment(column):
    assert read(column).values.tolist() == [microseconds(datetime(2013, 1, 1, tzinfo=UTC))]


@pytest.mark.parametrize("kind", [pa.string(), pa.int64(), pa.float64(), pa.date32(), pa.timestamp("ns"), pa.null()])
def test_a_null_is_missing(kind):
    assert read(pa.nulls(2, kind)).values.tolist() == 2 * [MISSING]


def test_an_empty_string_is_missing():
    assert read(pa.array(["", "1970-01-01"])).values.tolist() == [MISSING, 0]


def test_mixed_zones_are_told_and_those_without_taken_as_utc():
    column = pa.array(["1970-01-01T02:00:00+02:00", "1970-01-01 00:00:00", "1969-12-31T19:00:00-05:00", None])
    times = read(column)
    assert times.values[:3].tolist() == [0, 0, 0]
    assert times.zones == {"+02:00", "-05:00", ""}


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (["2013-04-05", "soon", "2013-02-30"], r"ISO form.*2 rows.*row 12: 'soon', row 13: '2013-02-30'.*another form"),
        ([2013, 1365120000], r"no years, such as 1365120000 in row 12"),
        ([2013.0, 2013.5], r"no years, such as 2013.5 in row 12: pass every=500"),
        ([True], r"'when' holds bool"),
    ],
)
def test_what_is_no_time_is_named_by_its_row(column, says):
    with pytest.raises(DataError, match=says):
        read(pa.array(column), first_row=11)


@pytest.mark.parametrize(
    ("column", "form"),
    [
        (pa.array(["05.04.2013 8 Uhr"]), "%d.%m.%Y %H Uhr"),
        (pa.array(["5/4/13 10:00 +0200"]), "%d/%m/%y %H:%M %z"),
        (pa.array([2013040508]), "%Y%m%d%H"),
        (pa.array([5042013.0]), "%d%m%Y"),
        (pa.array([1365148800], pa.int32()), "s"),
        (pa.array([1365148800.0]), "s"),
        (pa.array([1365148800000]), "ms"),
        (pa.array([1365148800000000]), "us"),
        (pa.array([1365148800000000000]), "ns"),
        (pa.array([APRIL]), "%d/%m/%Y"),
    ],
    ids=str,
)
def test_a_moment_is_read_by_its_form(column, form):
    (at,) = read(column, form).values.tolist()
    assert at == microseconds(APRIL if form != "%d%m%Y" else APRIL.replace(hour=0))


@pytest.mark.parametrize("form", ["%Y%m%d", "s"])
@pytest.mark.parametrize("kind", [pa.string(), pa.int64(), pa.float64(), pa.null()])
def test_a_null_is_missing_in_any_form(kind, form):
    if not (form == "s" and kind == pa.string()):
        assert read(pa.nulls(2, kind), form).values.tolist() == 2 * [MISSING]


def test_zones_of_a_form_are_told():
    assert read(pa.array(["5/4/13 +0200"]), "%d/%m/%y %z").zones == {"+0200"}
    assert read(pa.array(["5/4/13"]), "%d/%m/%y").zones == {""}


@pytest.mark.parametrize(
    ("column", "form", "says"),
    [
        (
            ["1/2/2022", "2022"],
            "%d/%m/%Y",
            r"must hold dates of the form '%d/%m/%Y'; 1 row here does not \(row 12: '2022'",
        ),
        ([2022.1, 2022.5], "%Y.%m", r"2 rows here do not \(row 11: 2022.1, row 12: 2022.5\)"),
        (["1640995200"], "s", r"'when' holds strings, but time_format='s' is for numbers"),
        ([1640995200, 1640995200000], "s", r"seconds since 1970; 1 row here does not \(row 12: 1640995200000"),
        ([True], "%Y", r"'when' holds bool"),
    ],
)
def test_what_does_not_fit_its_form_is_named_by_its_row(column, form, says):
    with pytest.raises(DataError, match=says):
        read(pa.array(column), form, first_row=11)


@pytest.mark.parametrize("text", ["2020-02-30", "2021/02/29", "2020-04-31 10:00", "2020-00-10", "0000-00-00"])
def test_a_date_that_does_not_exist_is_told_so(text):
    column = pa.array(["2020-02-29", text, None])
    with pytest.raises(DataError, match=rf"1 row here does not \(row 12: '{text}'\)\. There is no such date: mend"):
        read(column, first_row=11)


@pytest.mark.parametrize("text", ["2020-13-01", "2020-02-29 soon", "30-02-2020"])
def test_what_may_be_of_another_form_is_not_said_not_to_exist(text):
    """A month of 13 may be a day, where days come first."""
    with pytest.raises(DataError, match="For dates of another form pass it"):
        read(pa.array(["2020-02-29", text]))


def test_two_rows_are_shown_and_no_more():
    with pytest.raises(DataError, match=r"9 rows here do not \(row 1: 'soon', row 2: 'soon'\)"):
        read(pa.array(9 * ["soon"]))


@pytest.mark.parametrize("form", ["", "DD/MM/YYYY", "%H:%M", "%Q", "h"])
def test_a_form_that_tells_no_year_is_refused(form):
    with pytest.raises(SettingError, match=r"time_format=.*%d/%m/%Y.*s, ms, us or ns"):
        Clock("when", "year", form)


def test_years_make_no_months():
    with pytest.raises(SettingError, match="holds years: pass every='year', or a number of rows"):
        read(pa.array([None, 2013]), every="month")


def test_where_rows_are_counted_numbers_are_but_an_order():
    numbers = [-5, 0, 2013, 2**62]
    assert read(pa.array([*numbers, None]), every=10).values.tolist() == [*numbers, MISSING]
    floats = [float("-inf"), -1e300, -2.5, -1e-300, 0.0, 1e-300, 2.5, float("inf")]
    keys = read(pa.array(floats), every=10).values.tolist()
    assert keys[0] > MISSING
    assert all(one < following for one, following in pairwise(keys))
    assert len(set(read(pa.array([0.0, -0.0]), every=10).values.tolist())) == 1
