"""The rows of one timestamp, training rows first, and Wild-Time's way of choosing those."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from spanwise.core.rows import take
from spanwise.errors import LabelError
from spanwise.learner import Array

Read = Callable[[Array], Any]
"""Positions in the source's order -> the rows there."""


@dataclass(frozen=True, eq=False)
class Period:
    """One timestamp, its features not read before they are asked for.

    Attributes:
        timestamp: Wild-Time's name for it, such as a year.
        positions: of its rows in the source; those to train on first, then those of the ID test, then the rest.
        y: class numbers, in the order of `positions`.
        training: how many of the first are Wild-Time's training fold.
        read: what turns positions into features.
    """

    timestamp: int
    positions: Array
    y: Array
    training: int
    read: Read

    def __len__(self) -> int:
        return len(self.positions)

    def capped(self, most: int) -> Self:
        """At most that many rows, nine tenths of them from the training fold.

        Both folds were drawn at random, so their leading rows are a sample.
        """
        if len(self) <= most:
            return self
        lead = min(training_rows(most), self.training)
        kept = np.r_[:lead, self.training : self.training + most - lead]
        return type(self)(self.timestamp, self.positions[kept], self.y[kept], lead, self.read)


def training_rows(n: int) -> int:
    """How many of `n` rows Wild-Time trains on.

    >>> training_rows(7446)
    6701
    """
    return int(0.9 * n)


def split_period(
    timestamp: int, y: Array, read: Read, *, text: bool, rng: np.random.RandomState | None = None
) -> Period:
    """Wild-Time's split of a timestamp: nine tenths of a permutation, drawn with a seed of 0.

    Its text datasets start the ID test one row late; the row between the folds comes last here.

    Args:
        timestamp: its name.
        y: class numbers in the source's order.
        read: what reads the features.
        text: leave out the row between.
        rng: what to go on drawing with, where one seed serves all timestamps.
    """
    order = (rng or np.random.RandomState(0)).permutation(len(y))  # Wild-Time's own generator
    n = training_rows(len(y))
    if text:
        order = np.concatenate([order[:n], order[n + 1 :], order[n : n + 1]])
    return Period(timestamp, order, y[order], n, read)


def given_period(timestamp: int, X: Any, y: Array, training: int) -> Period:
    """A timestamp whose rows lie in memory, in order."""
    return Period(timestamp, np.arange(len(y)), y, training, partial(take, X))


def class_numbers(labels: Any, classes: int, where: str) -> Array:
    """Labels of a file that holds class numbers, checked."""
    y = np.asarray(labels)
    if y.ndim != 1 or y.dtype.kind not in "iu" or (len(y) and not 0 <= y.min() <= y.max() < classes):
        raise LabelError(f"{where}: labels must be one class number a row, between 0 and {classes - 1}")
    return y.astype(np.int64)
