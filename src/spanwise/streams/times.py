"""When a row happened: dates, timestamps, strings and numbers as one kind of number.

Times become microseconds since 1970 in UTC; a time without a zone is taken as UTC. Where a round is a
number of rows, numbers are taken as they are: all that matters is their order.
"""

from dataclasses import dataclass

import numpy as np

from spanwise.errors import DataError, MissingExtraError, SettingError
from spanwise.learner import Array
from spanwise.streams import dates, numerals
from spanwise.streams.columns import is_string
from spanwise.streams.dates import Times
from spanwise.streams.numerals import MISSING

try:
    import pyarrow as pa
except ImportError as error:
    raise MissingExtraError("pyarrow", "files") from error

UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
LIKELY = {6: "%Y%m", 8: "%Y%m%d", 9: "s", 10: "s", 12: "ms", 13: "ms", 14: "%Y%m%d%H%M%S", 16: "us", 19: "ns"}
"""The form that a number which is no year most likely has, by how many digits it has."""


@dataclass(frozen=True)
class Clock:
    """How the times of a column are read.

    >>> Clock("when", "day").read(pa.array(["1970-01-01 01:00+01:00", None, "1970/01/02"])).values[[0, 2]].tolist()
    [0, 86400000000]
    >>> Clock("when", "day", "s").read(pa.array([86400])).values.tolist()
    [86400000000]

    Args:
        column: its name.
        every: what makes a round.
        form: of strings and numbers: as for strptime, or s, ms, us or ns for numbers that count these from
            1970. If left out, strings are in ISO form and numbers are years.
    """

    column: str
    every: str | int
    form: str | None = None

    def __post_init__(self) -> None:
        if self.form is not None and self.form not in UNITS and not dates.tells_years(self.form):
            raise SettingError(
                f"time_format={self.form!r} tells no year: write it as for Python's strptime, such as %d/%m/%Y, "
                "or as s, ms, us or ns for numbers that count these from 1970"
            )

    def read(self, column: pa.Array, first_row: int = 1) -> Times:
        """The times of some rows.

        Args:
            column: the values.
            first_row: the number of the first, for errors.
        """
        kind = column.type
        if is_string(kind):
            return self._of_strings(column, first_row)
        if pa.types.is_date(kind):
            return Times(dates.microseconds(column.cast(pa.timestamp("ms"))), frozenset([""]))
        if pa.types.is_timestamp(kind):
            return Times(dates.microseconds(column), frozenset([kind.tz or ""]))
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            return self._of_numbers(column, first_row)
        if pa.types.is_null(kind):
            return Times(np.full(len(column), MISSING), frozenset())
        raise DataError(
            f"time column {self.column!r} holds {kind}: dates, timestamps, years or strings in ISO form are needed"
        )

    def _of_strings(self, column: pa.Array, first_row: int) -> Times:
        if self.form in UNITS:
            raise DataError(
                f"time column {self.column!r} holds strings, but time_format={self.form!r} is for numbers: "
                "make it numbers, or pass the form of the strings"
            )
        column = dates.trimmed(column)
        times = dates.of_iso(column) if self.form is None else dates.of_form(column, self.form)
        absent = column.is_null().to_numpy(zero_copy_only=False)
        self._check(absent | (times.values != MISSING), column, first_row)
        return times

    def _of_numbers(self, column: pa.Array, first_row: int) -> Times:
        numbers = numerals.as_floats(column)
        if self.form is None:
            values = numerals.as_order(column) if isinstance(self.every, int) else self._of_years(numbers, first_row)
        elif self.form in UNITS:
            self._check(np.isnan(numbers) | numerals.are_dates(numbers, self.form), column, first_row)
            values = numerals.since_1970(numbers, self.form)
        else:
            self._check(np.isnan(numbers) | numerals.are_whole(numbers), column, first_row)
            return self._of_strings(numerals.as_digits(column, self.form), first_row)
        return Times(values, frozenset([""]))

    def _of_years(self, numbers: Array, first_row: int) -> Array:
        missing = np.isnan(numbers)
        bad = np.flatnonzero(~(missing | numerals.are_years(numbers)))
        if len(bad):
            self._refuse_number(float(numbers[bad[0]]), first_row + int(bad[0]))
        if self.every != "year" and not missing.all():
            raise SettingError(f"time column {self.column!r} holds years: pass every='year', or a number of rows")
        return numerals.of_years(numbers)

    def _refuse_number(self, number: float, row: int) -> None:
        form = LIKELY.get(len(f"{abs(number):.0f}"))
        meant = f"they are {UNITS[form]} since 1970" if form in UNITS else "that is their form"
        hint = f'time_format="{form}" (--time-format "{form}") if {meant}; or ' if form else ""
        raise DataError(
            f"time column {self.column!r} holds numbers that are no years, such as {number:.15g} in row {row}: pass "
            f"{hint}every=500 (--every 500), a number of rows, to go by their order alone"
        )

    def _check(self, sound: Array, column: pa.Array, first_row: int) -> None:
        """Raises if some are not what they should be, and shows two of them."""
        rows = np.flatnonzero(~sound)
        if not len(rows):
            return
        values = column.take(pa.array(rows[:2])).to_pylist()
        shown = ", ".join(
            f"row {first_row + row}: {value!r}" for row, value in zip(rows.tolist(), values, strict=False)
        )
        some = "1 row here does" if len(rows) == 1 else f"{len(rows):,} rows here do"
        impossible = self.form is None and all(map(dates.impossible, column.filter(pa.array(~sound)).to_pylist()))
        remedy = "There is no such date: mend it, or leave the row out." if impossible else self._remedy()
        raise DataError(f"time column {self.column!r} must hold {self._wanted()}; {some} not ({shown}). {remedy}")

    def _wanted(self) -> str:
        if self.form is None:
            return "dates in ISO form, such as 2013-04-05 or 2013-04-05 10:00:00+02:00"
        return f"{UNITS[self.form]} since 1970" if self.form in UNITS else f"dates of the form {self.form!r}"

    def _remedy(self) -> str:
        if self.form is None:
            return 'For dates of another form pass it: time_format="%d/%m/%Y" (--time-format "%d/%m/%Y"), or the like.'
        return "Pass the form that all of them have, or mend these rows."
