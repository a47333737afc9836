"""Rounds from rows that come one at a time, as in River's data sets."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from spanwise.errors import DataError, SettingError
from spanwise.learner import Array
from spanwise.streams.batch import Batch


@dataclass(frozen=True)
class RiverStream:
    """A data set of River, or anything that gives the same pairs `x, y` each time it is iterated, `x` a dict.

    >>> rows = [({"heat": t % 7, "sky": "blue"}, t % 7 > 3) for t in range(250)]
    >>> stream = RiverStream(rows, every=100)
    >>> [len(y) for _, y in stream]
    [100, 100, 50]

    X is a dict of columns: numbers with NaN and others with None where a row has no such feature. River's classifiers
    take it, and so do `columns_linear()` and all that `for_columns` makes of other learners.

    Args:
        dataset: the rows, in the order of time.
        every: rows a round; the last round may have fewer.
        rounds: how many at most; None for all. River's generators (`river.datasets.synth`) have no end.
    """

    dataset: Iterable[tuple[Mapping[Any, Any], Any]]
    every: int = 500
    rounds: int | None = None

    def __post_init__(self) -> None:
        if self.every < 1 or (self.rounds is not None and self.rounds < 1):
            raise SettingError(f"every={self.every} and rounds={self.rounds}: each must be 1 or more")
        if iter(self.dataset) is self.dataset:
            raise DataError(
                "these rows can be iterated only once, and a stream is iterated again by every seed: "
                "pass the data set itself, or list(rows)"
            )

    def __iter__(self) -> Iterator[Batch]:
        rows = iter(self.dataset)
        done = 0
        while done != self.rounds and (some := list(islice(rows, self.every))):
            yield Batch(columns([x for x, _ in some]), [y for _, y in some])
            done += 1


def columns(rows: Sequence[Mapping[Any, Any]]) -> dict[str, Array]:
    """Rows of features by name as columns.

    >>> columns([{"a": 1}, {"a": 2, "b": "x"}])
    {'a': array([1., 2.]), 'b': array([None, 'x'], dtype=object)}
    """
    names = dict.fromkeys(name for row in rows for name in row)
    return {str(name): column([row.get(name) for row in rows]) for name in names}


def column(values: Sequence[Any]) -> Array:
    """Numbers where all that are there are numbers."""
    if all(value is None or isinstance(value, int | float | np.number | np.bool_) for value in values):
        return np.array([np.nan if value is None else value for value in values], dtype=float)
    return np.array(values, dtype=object)
