"""What did each instance say of points it had not trained on?

`HoldOut` is the paper's: a part of each round is kept out of training, for ever, and scored again
and again with the weights of the day. `Prequential` holds nothing back: every batch is scored just
before it is trained on, and only the counts are kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np

from spanwise.core import packing, rows
from spanwise.core.choice import Model, answers
from spanwise.core.pool import Pool, Scores
from spanwise.core.spans import Span
from spanwise.core.split import Draw, Split, all_rows, check_fraction, make_split, storable_split
from spanwise.core.tally import Count, Tally
from spanwise.errors import SettingError
from spanwise.learner import Array


class Record(Protocol):
    """The evidence as it stands after a round."""

    def tally(self, model: Model) -> Tally:
        """How often `model` was right, by round; empty if nothing is known of it."""
        ...


class Evidence(Protocol):
    """What instances said of points they had not trained on."""

    @property
    def train_fraction(self) -> float:
        """Share of a round that is trained on, unless there is a split of the user's own."""
        ...

    @property
    def split(self) -> Split | None:
        """The user's own (n, rng) -> (training positions, hold-out positions)."""
        ...

    def divide(self, n: int, rng: Draw) -> tuple[Array, Array]:
        """Positions to train on, and positions to hold out; `rng` makes the generator, if anything is drawn."""
        ...

    def before(self, said: Scores, y: Array, models: Sequence[Model], reference: Model | None) -> None:
        """A batch as it was seen before anybody trained on it."""
        ...

    def after(self, X: Any, y: Array) -> None:
        """The hold-out fold of the round."""
        ...

    def open(self, pool: Pool, reference: Model | None) -> Record:
        """The evidence on the models of `pool`, with their weights of now."""
        ...

    def copy(self) -> Self: ...


@dataclass
class HoldOut:
    """Hold-out folds kept by round and scored again with the current weights (line 9, Algorithm 2).

    Args:
        fraction: share of each round held out, 1 - p in the paper's words.
        rounds: keep the folds of at most this many rounds.
        points: keep at most this many points, whole rounds, newest first; a round then costs
            O(points) however long the stream.
        split: your own (n, rng) -> (training positions, hold-out positions).
    """

    fraction: float = 0.1
    rounds: int | None = None
    points: int | None = None
    split: Split | None = None
    folds: list[tuple[Any, Array]] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.fraction < 1:
            raise SettingError(f"fraction={self.fraction}: hold out nothing (0) or a part of a round, below 1")
        check_cap("rounds", self.rounds)
        check_cap("points", self.points)

    @property
    def train_fraction(self) -> float:
        return round(1 - self.fraction, 12)

    def divide(self, n: int, rng: Draw) -> tuple[Array, Array]:
        drawn = rng()
        train, held = make_split(n, self.train_fraction, self.split, drawn)
        if self.points is not None and len(held) > self.points:
            held = np.sort(drawn.choice(held, self.points, replace=False))
        return train, held

    def before(self, said: Scores, y: Array, models: Sequence[Model], reference: Model | None) -> None:
        pass

    def after(self, X: Any, y: Array) -> None:
        self.folds.append((X, y))
        if self.rounds is not None:
            del self.folds[: -self.rounds]
        if self.points is not None:
            while len(self.folds) > self.points or sum(len(y) for _, y in self.folds) > self.points:
                del self.folds[0]  # by rounds too, as a round may have held nothing out

    def open(self, pool: Pool, reference: Model | None) -> Record:
        return Rescored(self.folds, pool, reference)

    def copy(self) -> Self:
        twin = type(self)(self.fraction, self.rounds, self.points, self.split)
        twin.folds = list(self.folds)
        return twin

    def state(self) -> Mapping[str, Any]:
        return {
            "fraction": self.fraction,
            "rounds": self.rounds,
            "points": self.points,
            "split": storable_split(self.split),
            "folds": [{"X": packing.pack(X), "y": y} for X, y in self.folds],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.fraction, self.rounds, self.points = state["fraction"], state["rounds"], state["points"]
        self.split = state["split"]
        self.folds = [(packing.unpack(fold["X"]), fold["y"]) for fold in state["folds"]]


class Rescored:
    """Hold-out folds, each asked of every model once."""

    def __init__(self, folds: Sequence[tuple[Any, Array]], pool: Pool, reference: Model | None) -> None:
        sizes = [len(y) for _, y in folds]
        self.ends = np.cumsum([0, *sizes])
        self.y = np.concatenate([y for _, y in folds])
        filled = [X for X, y in folds if len(y)]
        self.said = pool.scores(rows.join(filled)) if filled else None
        self.trained = [span for span, rounds in pool.trained.items() if rounds]
        self.reference = reference
        self._right: dict[Any, Array] = {}

    def tally(self, model: Model) -> Tally:
        if self.said is None:
            return Tally()
        right = self._answers_right(model)
        other = self._answers_right(self.reference) if self.reference is not None else right
        by_point = np.stack([np.ones_like(right), right, right & ~other, other & ~right])
        sums = np.hstack([np.zeros((4, 1), dtype=np.int64), by_point.cumsum(axis=1, dtype=np.int64)])
        return Tally(np.diff(sums[:, self.ends], axis=1).T)

    def _answers_right(self, model: Model) -> Array:
        assert self.said is not None
        if model.name not in self._right:
            self.said.of(self.trained)  # at once, though models are judged one by one
            self._right[model.name] = answers(model, self.said) == self.y
        return self._right[model.name]


@dataclass
class Prequential:
    """The whole batch, scored just before training on it: nothing is held back, only counts are kept.

    An instance is judged from the round after its start on, as it has nothing to say before it has
    trained; an ensemble is judged on what the ensemble of each round said.

    Args:
        rounds: remember at least this many of the last rounds, and at most twice as many; all if None.
    """

    rounds: int | None = None
    tallies: dict[Span | str, Tally] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        check_cap("rounds", self.rounds)

    train_fraction = 1.0
    split = None

    def divide(self, n: int, rng: Draw) -> tuple[Array, Array]:
        return all_rows(n)

    def before(self, said: Scores, y: Array, models: Sequence[Model], reference: Model | None) -> None:
        if not models:
            return
        said.of(list({span: None for model in models for span in model.weights}))  # at once: an engine may stack them
        names = [model.name for model in models]
        right = np.stack([answers(model, said) == y for model in models])
        other = right[names.index(reference.name)] if reference and reference.name in names else right
        won, lost = (right & ~other).sum(axis=1).tolist(), (other & ~right).sum(axis=1).tolist()
        for name, *count in zip(names, right.sum(axis=1).tolist(), won, lost, strict=True):
            if name not in self.tallies:
                self.tallies[name] = Tally()
            self.tallies[name].add(Count(len(y), *count))
            if self.rounds is not None:
                self.tallies[name].forget(self.rounds)

    def after(self, X: Any, y: Array) -> None:
        pass

    def open(self, pool: Pool, reference: Model | None) -> Record:
        self.tallies = {name: t for name, t in self.tallies.items() if isinstance(name, str) or name in pool.trained}
        return self

    def tally(self, model: Model) -> Tally:
        return self.tallies.get(model.name) or Tally()

    def copy(self) -> Self:
        twin = type(self)(self.rounds)
        twin.tallies = {name: tally.copy() for name, tally in self.tallies.items()}
        return twin


NOTHING = Tally()
"""What is known of anybody where nothing is; only read."""


@dataclass
class Unjudged:
    """No evidence at all, for schemes that do not ask for any.

    Args:
        train_fraction: share of each round trained on; below 1, the same rows that `HoldOut` trains on.
        split: your own, as for `HoldOut`.
    """

    train_fraction: float = 1.0
    split: Split | None = None

    def __post_init__(self) -> None:
        check_fraction(self.train_fraction)

    def divide(self, n: int, rng: Draw) -> tuple[Array, Array]:
        if self.train_fraction == 1 and self.split is None:
            return all_rows(n)
        return make_split(n, self.train_fraction, self.split, rng())

    def before(self, said: Scores, y: Array, models: Sequence[Model], reference: Model | None) -> None:
        pass

    def after(self, X: Any, y: Array) -> None:
        pass

    def open(self, pool: Pool, reference: Model | None) -> Record:
        return self

    def tally(self, model: Model) -> Tally:
        return NOTHING

    def copy(self) -> Self:
        return type(self)(self.train_fraction, self.split)

    def state(self) -> Mapping[str, Any]:
        return {"train_fraction": self.train_fraction, "split": storable_split(self.split)}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.train_fraction, self.split = state["train_fraction"], state["split"]


def check_cap(name: str, cap: int | None) -> None:
    if cap is not None and cap < 1:
        raise SettingError(f"{name}={cap}: keep at least 1, or leave it out to keep all")
