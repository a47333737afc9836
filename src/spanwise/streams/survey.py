"""A first look through a file: which rows can be used, which rounds they make, and what to tell of it.

Only the columns that decide it are read, a piece at a time: label, time, and the text or image path,
for their nulls.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spanwise.errors import DataError, LabelError, MissingExtraError
from spanwise.learner import Array
from spanwise.streams import periods
from spanwise.streams.columns import absent
from spanwise.streams.features import too_many
from spanwise.streams.numerals import MISSING
from spanwise.streams.roles import Roles
from spanwise.streams.tables import Table
from spanwise.streams.times import Clock

try:
    import pyarrow as pa
except ImportError as error:
    raise MissingExtraError("pyarrow", "files") from error

AMOUNTS = 100
"""So many different labels with decimals are taken for amounts rather than for names of classes."""
MOST_CLASSES = 100_000
"""More labels than these are refused as soon as they are seen, so that counting them takes little memory."""

UTC_ZONES = {"", "Z", "UTC", "Etc/UTC", "+00:00", "+0000", "+00", "-00:00"}


@dataclass
class Survey:
    """What was counted.

    Attributes:
        labels: rows of each label.
        counts: rows of each period, by its number; all under 0 where a round is a number of rows.
        rows: rows in the file, used or not.
        no_label, no_time, no_text: rows that lack it; the first two are dropped.
        zones: zones of the times, "" for none.
        times_ordered, periods_ordered: rows come in the order of their times, or at least of their periods.
    """

    labels: Counter[Any] = field(default_factory=Counter)
    counts: Counter[int] = field(default_factory=Counter)
    rows: int = 0
    no_label: int = 0
    no_time: int = 0
    no_text: int = 0
    zones: set[str] = field(default_factory=set)
    times_ordered: bool = True
    periods_ordered: bool = True

    @property
    def used(self) -> int:
        return self.counts.total()


def usable(
    table: Table, roles: Roles, clock: Clock | None, columns: Sequence[str], survey: Survey
) -> Iterator[pa.RecordBatch]:
    """The rows that have a label and a time: first their time (0 if there is none), then label, then `columns`."""
    names = [roles.label, *columns]
    for batch in table.batches(names if clock is None else [*names, clock.column]):
        times = np.zeros(batch.num_rows, dtype=np.int64)
        unlabelled = absent(batch.column(0))
        untimed = np.zeros(batch.num_rows, dtype=bool)
        if clock is not None:
            times, zones = clock.read(batch.column(len(names)), survey.rows + 1)
            untimed = times == MISSING
            survey.zones |= zones
        survey.rows += batch.num_rows
        survey.no_label += int(unlabelled.sum())
        survey.no_time += int((untimed & ~unlabelled).sum())
        rows = pa.RecordBatch.from_arrays([pa.array(times), *batch.columns[: len(names)]], names=["", *names])
        keep = ~(unlabelled | untimed)
        yield rows if keep.all() else rows.filter(pa.array(keep))


def look(table: Table, roles: Roles, clock: Clock | None, every: str | int) -> Survey:
    """Counts the rows of `table`, and checks that something can be made of them."""
    survey = Survey()
    nullable = roles.text or roles.image
    latest, latest_period = MISSING, MISSING
    for rows in usable(table, roles, clock, [nullable] if nullable else [], survey):
        if not rows.num_rows:
            continue
        for entry in rows.column(1).value_counts().to_pylist():
            survey.labels[entry["values"]] += entry["counts"]
        if len(survey.labels) > MOST_CLASSES:
            refuse_labels(survey, roles.label)
        if nullable:
            survey.no_text += rows.column(2).null_count
        times = rows.column(0).to_numpy()
        numbers = periods.numbers(times, every) if isinstance(every, str) else np.zeros(len(times), np.int64)
        survey.times_ordered &= ascending(times, latest)
        survey.periods_ordered &= ascending(numbers, latest_period)
        latest, latest_period = max(latest, int(times[-1])), max(latest_period, int(numbers[-1]))
        survey.counts.update(dict(zip(*(a.tolist() for a in np.unique(numbers, return_counts=True)), strict=True)))
    check(survey, roles)
    return survey


def ascending(values: Array, latest: int) -> bool:
    """Whether `values` never go down, nor begin below `latest`."""
    return bool(values[0] >= latest and (values[1:] >= values[:-1]).all())


def check(survey: Survey, roles: Roles) -> None:
    if survey.no_label == survey.rows:
        raise LabelError(f"label column {roles.label!r} is missing in all {survey.rows:,} rows: name another column")
    if survey.used == 0:
        raise DataError(
            f"no row has both a label and a time: time column {roles.time!r} is missing where labels are not"
        )
    if roles.image is not None and survey.no_text:
        raise DataError(f"image column {roles.image!r} has {survey.no_text:,} nulls: drop those rows, or fill them in")
    if len(survey.labels) > AMOUNTS and any(isinstance(one, float) and one % 1 for one in survey.labels):
        raise LabelError(
            f"label column {roles.label!r} holds {len(survey.labels):,} different numbers with decimals, which are no "
            "classes: cut them into a few ranges, or name another column"
        )
    if too_many(len(survey.labels), rows=survey.used):
        refuse_labels(survey, roles.label)


def refuse_labels(survey: Survey, label: str) -> None:
    rows = survey.labels.total()
    raise LabelError(
        f"label column {label!r} has {len(survey.labels):,} different values in {rows:,} rows: these are amounts or "
        "ids, not classes. Cut amounts into a few ranges, or name another column"
    )


def remarks(survey: Survey, roles: Roles, every: str | int, sorted_on_disk: bool) -> list[str]:
    """What a report should tell of the file, beyond its numbers."""
    notes = list(roles.notes)
    if sorted_on_disk:
        notes.append(f"the rows were not in the order of {roles.time!r}: they were sorted on disk, in runs")
    elif not survey.times_ordered:
        notes.append(f"the rows of a {every} were not in the order of {roles.time!r}: they were sorted within it")
    if survey.no_label:
        notes.append(f"rows dropped as they have no label {roles.label!r}: {survey.no_label:,}")
    if survey.no_time:
        notes.append(f"rows dropped as they have no time {roles.time!r}: {survey.no_time:,}")
    if isinstance(every, str) and (empty := [periods.name(n, every) for n in periods.gaps(sorted(survey.counts))]):
        notes.append(f"empty {every}s skipped ({len(empty):,}): {some(empty)}")
    if once := [repr(label) for label, n in survey.labels.items() if n == 1]:
        notes.append(f"labels seen once ({len(once):,}): {some(sorted(once))}")
    if len(survey.zones) > 1 or not survey.zones <= UTC_ZONES:
        zones = some(sorted(zone or "none, taken as UTC" for zone in survey.zones))
        notes.append(f"times were converted to UTC from these zones: {zones}")
    if roles.text is not None and survey.no_text:
        notes.append(f"nulls in {roles.text!r} read as empty text: {survey.no_text:,}")
    return notes


def some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
