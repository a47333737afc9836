"""One training loop for every deep learner, for one instance or for a whole pool."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import RLock
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import torch

from spanwise.deep.inputs import columns, joined
from spanwise.deep.instance import Fold, Instance, distinct
from spanwise.deep.modules import named, shapes_of
from spanwise.deep.network import BUFFER, Network
from spanwise.deep.penalties.penalty import ReadsAgain
from spanwise.deep.recipe import INPUT, Recipe
from spanwise.engines.machine import Tensors, arithmetic, first_line, seeded
from spanwise.engines.stacked import Stack
from spanwise.errors import LabelError, LearnerError, SpanwiseError
from spanwise.learner import Array

log = logging.getLogger("spanwise")

ASKED_AT_ONCE = {"cpu": 512, "cuda": 4096}
"""Rows of one forward pass when answering."""

READ_AT_ONCE = 1 << 28
"""Numbers that the gradients of single rows may take for each instance, when rows are read again."""


class Trainer:
    """What instances share: the recipe, how many steps a round has, and the stack that runs them."""

    def __init__(self, recipe: Recipe, stack: Stack, *, steps: int, batch_size: int, precision: str) -> None:
        self.recipe, self.stack = recipe, stack
        self.network: Network = recipe.network
        self.shape = steps, batch_size
        self.precision = precision
        self.lock = RLock()  # one round of training at a time
        self.folds: WeakValueDictionary[str, Fold] = WeakValueDictionary()  # those that came out of a snapshot

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("lock", "folds")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, lock=RLock(), folds=WeakValueDictionary())

    def begin(self, seed: int, inputs: Tensors) -> Instance:
        """A fresh instance."""
        tensors = self.recipe.start(self.network.begin(seed, inputs))
        width = self.network.width
        random = np.random.PCG64(seed).state
        return Instance(
            tensors, self.network.layout(width).shapes, width, age=0, random=random, origin=self.network.digest
        )

    def check(self, one: Instance, inputs: Tensors) -> None:
        """Refuse an instance that was saved from another network, or with another optimiser or penalty."""
        fresh = self.begin(0, inputs)
        grown = self.network.grows and one.width >= fresh.width
        shapes = self.network.layout(one.width).shapes if grown else fresh.shapes
        one.check(shapes, fresh.tensors, self.network.digest)

    def restored(self, state: Mapping[str, Any]) -> Instance:
        """An instance out of a snapshot; folds that others hold too are shared again."""
        one = Instance.restored(state, self.network.device, self.network.dtype)
        return replace(one, history=tuple(self.folds.setdefault(fold.digest(), fold) for fold in one.history))

    def inputs(self, X: Any) -> Tensors:
        """Rows as tensors on the CPU, made once however many instances take them."""
        return columns(X, self.network.example, self.network.dtype)

    def train(self, instances: Sequence[Instance], inputs: Tensors, y: Array, names: Sequence[str]) -> list[Instance]:
        """Each instance after one more round."""
        fold = Fold(inputs, checked_labels(y, inputs))
        what = f"training on rows of shape {shapes_of(inputs)} changed nothing and"
        with self.lock, named(what), torch.no_grad(), arithmetic(self.network.device, self.precision):
            return self._train([self._with_room_for(one, int(fold.y.max()) + 1) for one in instances], fold, names)

    def score(self, instances: Sequence[Instance], inputs: Tensors) -> list[Array]:
        """The logits of each instance, as wide as its head."""
        width = max(one.width for one in instances)
        states = [self.network.asked(self._state(one, width)) for one in instances]
        most = ASKED_AT_ONCE.get(self.network.device.type, 512)
        rows = len(next(iter(inputs.values())))
        what = f"the network, on rows of shape {shapes_of(inputs)},"
        with named(what), torch.no_grad(), arithmetic(self.network.device, self.precision):
            parts = [
                self.stack.score(self.recipe.answer, states, self._sent(inputs, slice(at, at + most))).cpu()
                for at in range(0, rows, most)
            ]
        return [logits[:, : one.width].numpy() for one, logits in zip(instances, torch.cat(parts, 1), strict=True)]

    def _train(self, instances: list[Instance], fold: Fold, names: Sequence[str]) -> list[Instance]:
        objective = self.recipe.objective
        instances = [one.with_fold(fold, objective.rounds, objective.points) for one in instances]
        folds = distinct([one.history for one in instances])
        rngs = [one.rng() for one in instances]
        plans = [self._plan(one, folds, rng) for one, rng in zip(instances, rngs, strict=True)]
        width = max(one.width for one in instances)
        states = [self._state(one, width) for one in instances]
        seeds = [int(rng.integers(2**62)) for rng in rngs]
        with seeded(self.network.device, seeds[0]):
            states = self.stack.train(self.recipe.step, states, self._data(folds), plans)
        states = self._after_round(states, fold, rngs)
        _check_finite(states, names)
        return [self._aged(one, state, width, rng) for one, state, rng in zip(instances, states, rngs, strict=True)]

    def _plan(self, one: Instance, folds: list[Fold], rng: np.random.Generator) -> Tensors:
        """Which rows of `folds`, laid end to end, each step takes."""
        plan = self.recipe.objective.draw(rng, [len(fold) for fold in one.history], self.shape)
        begins = dict(zip(map(id, folds), np.cumsum([0, *map(len, folds)]), strict=False))
        places = np.concatenate([begins[id(fold)] + np.arange(len(fold)) for fold in one.history])
        plan["rows"] = places[plan["rows"]]
        return {name: torch.from_numpy(column) for name, column in plan.items()}

    def _data(self, folds: list[Fold]) -> Tensors:
        inputs = {name: joined([fold.inputs[name] for fold in folds]) for name in folds[0].inputs}
        data = {**{f"{INPUT}{name}": column for name, column in inputs.items()}, "y": torch.cat([f.y for f in folds])}
        return {name: column.to(self.network.device) for name, column in data.items()}

    def _state(self, one: Instance, width: int) -> Tensors:
        """The tensors of an instance with room for `width` classes, and what changes from round to round."""
        schedule = self.recipe.optimizer.schedule
        rate = 1.0 if schedule is None else schedule(one.age)
        tensors = self.network.resized(one.tensors, one.width, width)
        return {
            **tensors,
            "rate": torch.tensor(rate, dtype=self.network.dtype),
            "known": torch.arange(width) < one.width,
        }

    def _after_round(self, states: list[Tensors], fold: Fold, rngs: list[np.random.Generator]) -> list[Tensors]:
        """What the penalty learns from the round as a whole."""
        penalty = self.recipe.penalty
        if penalty is None:
            return states
        if isinstance(penalty, ReadsAgain):
            plans = [self._reading(penalty.read_again(rng, len(fold), self.shape[1]), rng) for rng in rngs]
            states = self._reread(states, self._data([fold]), plans)
        return [{**state, **penalty.after_round(state)} for state in states]

    def _reread(self, states: list[Tensors], data: Tensors, plans: list[Tensors]) -> list[Tensors]:
        """All rows of a mini-batch at once, where the network lets them be stacked."""
        if not self.recipe.row_by_row:
            try:
                return self.stack.train(self.recipe.reread, states, data, plans, compile=False)
            except RuntimeError as error:
                if isinstance(error, SpanwiseError):
                    raise
                log.warning(
                    "the rows of a mini-batch cannot be stacked, so they are read one by one: %s", first_line(error)
                )
                self.recipe.row_by_row = True
        return self.stack.train(self.recipe.reread, states, data, plans, compile=False)

    def _reading(self, rows: Array, rng: np.random.Generator) -> Tensors:
        """Rows to read again, so many at once that their gradients fit; the last ones are filled up with no weight."""
        at_once = int(np.clip(READ_AT_ONCE // self.network.layout(self.network.width).size, 1, self.shape[1]))
        steps = -(-len(rows) // at_once)
        room = steps * at_once
        plan = {
            "rows": np.resize(rows, room),
            "chance": np.resize(rng.random(len(rows)), room),
            "share": np.where(np.arange(room) < len(rows), 1 / len(rows), 0.0),
        }
        dtypes = {"rows": torch.int64, "chance": self.network.dtype, "share": self.network.dtype}
        return {
            name: torch.as_tensor(column.reshape(steps, at_once), dtype=dtypes[name]) for name, column in plan.items()
        }

    def _with_room_for(self, one: Instance, classes: int) -> Instance:
        """Its head grown to `classes`; what it knows of the others stays."""
        if classes <= one.width:
            return one
        if not self.network.grows:
            raise LabelError(
                f"label {classes - 1} is outside the head of the network, which has {one.width} outputs and cannot "
                "grow: what the network returns must be the output of a linear layer whose weights are trained. "
                "Make the network wider, or name that layer with head=..."
            )
        rng = one.rng()
        tensors = self.network.resized(one.tensors, one.width, classes)
        grown = {name: tensor for name, tensor in tensors.items() if name in ("theta", "anchor")}
        tensors = {**tensors, **self.network.drawn(grown, classes, one.width, classes, rng)}
        return replace(
            one,
            tensors=tensors,
            shapes=self.network.layout(classes).shapes,
            width=classes,
            random=rng.bit_generator.state,
        )

    def _aged(self, one: Instance, state: Tensors, width: int, rng: np.random.Generator) -> Instance:
        kept = {name: value for name, value in state.items() if name in one.tensors}
        tensors = self.network.resized(kept, width, one.width)
        past = self.recipe.objective.rounds - 1  # what the next round still draws from
        later = one.history[-past:] if past else ()
        return replace(one, tensors=tensors, age=one.age + 1, random=rng.bit_generator.state, history=later)

    def _sent(self, inputs: Tensors, rows: slice) -> Tensors:
        return {name: column[rows].to(self.network.device) for name, column in inputs.items()}


def checked_labels(y: Array, inputs: Tensors) -> torch.Tensor:
    """Class numbers, one a row, as a tensor of their own."""
    labels, rows = np.array(y), len(next(iter(inputs.values())))
    if labels.shape != (rows,) or labels.dtype.kind not in "iub" or labels.min() < 0:
        raise LabelError(
            f"labels of shape {labels.shape} and type {labels.dtype} for {rows} rows: a learner takes one class "
            "number, 0 or above, for every row"
        )
    return torch.from_numpy(labels.astype(np.int64))


def _check_finite(states: Sequence[Tensors], names: Sequence[str]) -> None:
    kept = [
        [tensor for name, tensor in state.items() if tensor.is_floating_point() and not name.startswith(BUFFER)]
        for state in states
    ]
    sums = [torch.stack([tensor.sum(dtype=torch.float64) for tensor in one]) for one in kept]  # too wide to overflow
    finite = torch.isfinite(torch.stack(sums)).all(1).tolist()
    if all(finite):
        return
    raise LearnerError(
        f"the weights of {names[finite.index(False)]} are not finite after this round: its loss became NaN or "
        "infinite. Nothing was changed; a lower learning rate, clip=1.0 in the optimiser, or scaled features "
        "usually help."
    )
