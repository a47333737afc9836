"""The periods that follow from when rows happened."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.errors import SettingError
from spanwise.streams import periods

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@given(st.datetimes(datetime(1600, 1, 1), datetime(2400, 1, 1)))
def test_names_are_those_that_the_calendar_gives(when):
    times = np.array([(when.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)])
    got = {every: periods.name(int(periods.numbers(times, every)[0]), every) for every in periods.CALENDAR}
    year, week, _ = when.isocalendar()
    assert got == {
        "year": f"{when:%Y}",
        "quarter": f"{when:%Y}-Q{(when.month + 2) // 3}",
        "month": f"{when:%Y-%m}",
        "week": f"{year}-W{week:02}",
        "day": f"{when:%Y-%m-%d}",
        "hour": f"{when:%Y-%m-%dT%H}",
    }


@pytest.mark.parametrize("every", ["fortnight", "", "0", 0, -3, "1.5", True])
def test_a_period_that_is_not_known_is_refused(every):
    with pytest.raises(SettingError, match="year, quarter, month, week, day, hour, or a number of rows"):
        periods.checked_every(every)
