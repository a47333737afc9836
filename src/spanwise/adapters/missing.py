"""Numbers of any scale, some of them missing, made fit for a learner by what its instance has seen so far.

Each instance keeps the mean and the spread of every number over its own life: an instance that
started after a shift must not be scaled by what was before it. A number that is missing becomes the mean.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from spanwise.core.loop import Around, copy_learner, dump_learner, load_learner
from spanwise.errors import FeatureError
from spanwise.learner import Array

HUGE = 1e100
"""A number beyond this counts as missing, as infinity does: its square could not be summed."""

FARTHEST = 5.0
"""Scaled numbers lie at most so many standard deviations from the mean, so that one outlier cannot move a model."""


@dataclass(frozen=True, eq=False)
class Table:
    """Rows whose first few columns are numbers that an instance has yet to scale.

    Attributes:
        numbers: (n, k), NaN where missing.
        frame: (n, at least k), an array, or a sparse matrix that holds all k of them in every row, before any others.
        unit: what one standard deviation becomes.
    """

    numbers: Array
    frame: Any
    unit: float = 1.0

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def moments(self) -> "Moments":
        """Of its own rows."""
        there = ~absent(self.numbers)
        filled = np.where(there, self.numbers, 0.0)
        count = there.sum(axis=0).astype(float)
        mean = filled.sum(axis=0) / np.maximum(count, 1)
        return Moments(count, mean, (np.where(there, filled - mean, 0.0) ** 2).sum(axis=0))

    def with_numbers(self, scaled: Array) -> Any:
        """The frame with these in their places."""
        width = scaled.shape[1]
        if isinstance(self.frame, np.ndarray):
            return np.concatenate([scaled.astype(self.frame.dtype), self.frame[:, width:]], axis=1)
        data = self.frame.data.copy()
        data[self._places] = scaled
        return type(self.frame)((data, self.frame.indices, self.frame.indptr), shape=self.frame.shape)

    @cached_property
    def _places(self) -> Array:
        """Where the numbers lie among the entries of a sparse frame."""
        return np.asarray(self.frame.indptr[:-1, None] + np.arange(self.numbers.shape[1]))


@dataclass(frozen=True, eq=False)
class Moments:
    """How many numbers each column had, their mean, and the sum of their squared distances from it."""

    count: Array
    mean: Array
    squares: Array

    def __add__(self, other: Self) -> "Moments":
        """Those of both, as if all rows had come at once (Chan, Golub and LeVeque, 1979)."""
        count = self.count + other.count
        share = other.count / np.maximum(count, 1)
        apart = other.mean - self.mean
        return Moments(count, self.mean + share * apart, self.squares + other.squares + share * self.count * apart**2)

    def scaled(self, numbers: Array) -> Array:
        """Standard deviations from the mean; 0 for what is missing or of a column never seen.

        A column that never varied is centred only.
        """
        spread = np.sqrt(self.squares / np.maximum(self.count, 1))
        spread[spread <= 1e-9 * np.abs(self.mean)] = 1.0
        unknown = absent(numbers) | (self.count == 0)
        return np.asarray(np.clip(np.where(unknown, 0.0, numbers - self.mean) / spread, -FARTHEST, FARTHEST))


class Filled(Around):
    """Any learner, on tables whose numbers are scaled, and filled in where they are missing, by their past.

    Args:
        learner: takes arrays, or sparse matrices where the tables hold those.
    """

    def __init__(self, learner: object, past: Moments | None = None) -> None:
        super().__init__(learner)
        self.accepts_nan = True
        self.past = past  # never changed in place, as copies share it

    def fresh(self, seed: int) -> Self:
        return type(self)(self.learner.fresh(seed))

    def learn(self, X: Table, y: Array) -> None:
        self._check(X)
        self.past = X.moments if self.past is None else self.past + X.moments
        self.learner.learn(self._scaled(X), y)

    def logits(self, X: Table) -> Array:
        self._check(X)
        return self.learner.logits(self._scaled(X))

    def copy(self) -> Self:
        return type(self)(copy_learner(self.learner), self.past)

    def state(self) -> Mapping[str, Any]:
        past = self.past and [self.past.count, self.past.mean, self.past.squares]
        return {"past": past, "learner": dump_learner(self.learner, allow_pickle=False)}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.past = None if state["past"] is None else Moments(*state["past"])
        self.learner = load_learner(self.learner, 0, state["learner"], allow_pickle=False)

    def _scaled(self, X: Table) -> Any:
        past = self.past or Moments(*np.zeros((3, X.numbers.shape[1])))
        return X.with_numbers(past.scaled(X.numbers) * X.unit)

    def _check(self, X: Table) -> None:
        if self.past is not None and len(self.past.count) != X.numbers.shape[1]:
            raise FeatureError(
                f"this batch has {X.numbers.shape[1]} columns of numbers, earlier rounds had {len(self.past.count)}: "
                "a column must not hold numbers in one round and strings in another"
            )


def absent(numbers: Array) -> Array:
    """Where there is no number that can be used."""
    return ~(np.abs(numbers) < HUGE)
