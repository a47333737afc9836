"""The raw texts: the News Category Dataset and the arXiv metadata snapshot, a JSON object a line.

Rows are sorted by date with numpy's default sort, as pandas did for Wild-Time, so the order within a day is
the one that Wild-Time's permutation started from. A later snapshot of arXiv gives other counts: a paper
counts in the year of its last update. Version 3 of the news goes on where version 2 ended; up to there it has as
many rows, and in the categories that Wild-Time keeps as many a year.
"""

import json
from collections.abc import Hashable, Sequence
from pathlib import Path

import numpy as np

from spanwise.errors import DataError
from spanwise.streams.wildtime.facts import Dataset
from spanwise.streams.wildtime.period import Period
from spanwise.streams.wildtime.texts import by_year

COLUMNS = {"huffpost": ("headline", "category", "date"), "arxiv": ("title", "categories", "update_date")}
LAST_DAY = {"huffpost": np.datetime64("2018-05-26")}
"""Of version 2, the one that Wild-Time has."""


def read(path: Path, dataset: Dataset, *, every_year: bool) -> tuple[list[Period], Sequence[Hashable]]:
    """Timestamps and classes; a paper's class is the first of its categories."""
    texts, categories, days = [], [], []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                text, category, day = _row(line, COLUMNS[dataset.name], f"{path.name}, line {number}")
                if day <= LAST_DAY.get(dataset.name, day):
                    texts.append(text)
                    categories.append(category)
                    days.append(day)
    dates = np.array(days, dtype="datetime64[D]").astype("datetime64[ns]")
    order = np.argsort(dates)
    years = dates.astype("datetime64[Y]").astype(np.int64) + 1970
    return by_year(
        [texts[i] for i in order],
        np.array(categories)[order],
        years[order],
        timestamps=dataset.timestamps,
        every_year=every_year or dataset.name == "huffpost",
    )


def _row(line: str, columns: tuple[str, str, str], where: str) -> tuple[str, str, np.datetime64]:
    """Text, category and day of one line."""
    try:
        record = json.loads(line)
        text, categories, day = (record[column] for column in columns)
        if not isinstance(text, str):
            raise TypeError(f"a text that is {text!r}")
        category = categories if columns[1] == "category" else categories.split()[0]
        return text, category, np.datetime64(day[:10], "D")
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise DataError(
            f"{where}: expected a JSON object with {', '.join(columns)}, a date YYYY-MM-DD, and found {line[:80]!r}"
        ) from error
