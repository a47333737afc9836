"""A pool of torch networks as one stacked set of tensors, trained and scored together.

What one instance does in one step is a pure function of its state. `torch.func.vmap` of that function
does it for all of them at once: twenty small products become one large one. Instances are loaded into
slots at the start of a round and taken out at its end, so being born or retired costs nothing and
compiles nothing anew; slots that nobody needs repeat the first instance and are thrown away.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol, TypeVar, cast

import torch
from torch import Tensor
from torch.func import vmap

from spanwise.core.loop import Loop
from spanwise.core.spans import Span
from spanwise.engines import memory
from spanwise.engines.machine import Graph, Step, Tensors, first_line, mini_batch, seeded, walk
from spanwise.errors import LearnerError, SettingError
from spanwise.learner import Array

log = logging.getLogger("spanwise")
T = TypeVar("T")

SMALL = 32 << 20
"""On a CPU, instances are stacked while a step of one takes at most so many bytes: a loop is as fast beyond."""

LADDER = (1, 2, 4, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128)
"""Slots that a graph may have. A pool grows as 2 log2 t, so a long run captures few of them."""

GRAPHS = 8
"""Graphs that are kept; each holds memory of its own."""


@dataclass(frozen=True, kw_only=True)
class Stacking:
    """How a pool is stacked.

    Args:
        slots: slots of a stack, where that many fit; a larger pool is split. None takes the next of a few sizes, and
            captures anew when a pool outgrows it.
        compile: on CUDA, compile the training step before it is captured. It takes seconds to a minute, once a
            size, and then makes every step faster.
        memory: share of the free memory that a stack may take; a pool that needs more is split into chunks.
    """

    slots: int | None = None
    compile: bool = True
    memory: float = 0.8

    def __post_init__(self) -> None:
        if self.slots is not None and self.slots < 1:
            raise SettingError(f"slots={self.slots}: at least one is needed")
        if not 0 < self.memory <= 1:
            raise SettingError(f"memory={self.memory}: a share of the free memory, above 0 and at most 1")


class Stackable(Protocol):
    """A learner that can learn and answer for many of its kind at once."""

    @property
    def at_once(self) -> int:
        """How many a stack takes at most."""
        ...

    def fresh(self, seed: int) -> "Stackable": ...

    def learn(self, X: Any, y: Array) -> None: ...

    def logits(self, X: Any) -> Array: ...

    def learn_together(self, learners: Sequence[Any], X: Any, y: Array, names: Sequence[str]) -> None:
        """Train all of `learners`, or none if one of them fails; `names` are for the error."""
        ...

    def logits_together(self, learners: Sequence[Any], X: Any) -> list[Array]:
        """What each of `learners` says."""
        ...


class Stacked(Loop):
    """The loop's instances, trained and asked together."""

    @property
    def together(self) -> int:  # type: ignore[override]
        return cast(Stackable, self.learner).at_once

    def learn(self, spans: Sequence[Span], X: Any, y: Array) -> None:
        learner = cast(Stackable, self.learner)
        names = [f"the instance started at round {span.start}" for span in spans]
        learner.learn_together([self.instances[span] for span in spans], X, y, names)

    def logits(self, spans: Sequence[Span], X: Any) -> list[Array]:
        return cast(Stackable, self.learner).logits_together([self.instances[span] for span in spans], X)


class Stack:
    """Runs a pure function for many states of one shape: stacked as far as it can be, in chunks that fit.

    Args:
        device: where.
        stacking: how; False runs one after another.
    """

    def __init__(self, device: torch.device, stacking: Stacking | bool) -> None:
        self.device = device
        self.settings = stacking if isinstance(stacking, Stacking) else Stacking()
        self.alone = stacking is False
        self.slots = self.settings.slots or 1
        self.fits: dict[Any, int] = {}  # instances a chunk, by the work they do
        self.wide: dict[Any, Any] = {}  # what all instances of a stack do, by what one of them does
        self.graphs: dict[Any, Graph] = {}
        self.lock = Lock()  # a graph works on memory of its own, one round at a time

    def __getstate__(self) -> dict[str, Any]:
        """Without what cannot travel; it is made again where it is needed."""
        return {"device": self.device, "settings": self.settings, "alone": self.alone, "slots": self.slots}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, fits={}, wide={}, graphs={}, lock=Lock())

    @property
    def most(self) -> int:
        """Instances that it takes at a time."""
        return 1 if self.alone else self.settings.slots or LADDER[-1]

    def train(
        self, step: Step, states: Sequence[Tensors], data: Tensors, plans: Sequence[Tensors], *, compile: bool = True
    ) -> list[Tensors]:
        """Each of `states` after all steps of its plan; rows are drawn from `data`, which they share."""
        kind = (step, shapes(states[0]), shapes(data, rows=False))
        compile = compile and self.settings.compile

        def run(chunk: slice) -> list[Tensors]:
            return self._train(step, states[chunk], data, plans[chunk], self._slots(kind, len(states[chunk])), compile)

        def trial() -> int:
            batch = mini_batch(data, self._here({name: column[0] for name, column in plans[0].items()}))
            twice = stacked([batch, batch])
            fit = self._fit(states[0], lambda one: step(one, batch), lambda two: self._together(step)(two, twice))
            return min(fit, self.most)

        return self._chunked(run, len(states), kind, trial)

    def score(self, answer: Callable[[Tensors, Tensors], Tensor], states: Sequence[Tensors], rows: Tensors) -> Tensor:
        """What each of `states` answers to `rows`, (instances, rows, classes)."""
        doublings = len(next(iter(rows.values()))).bit_length()
        kind = (answer, doublings, shapes(rows, rows=False), shapes(states[0]))
        wide = vmap(answer, in_dims=(0, None))

        def run(chunk: slice) -> list[Tensor]:
            if len(states[chunk]) == 1:
                return [answer(self._here(states[chunk.start]), rows)]
            return list(wide(self._here(stacked(states[chunk])), rows))

        def trial() -> int:
            fit = self._fit(states[0], lambda one: answer(one, rows), lambda two: wide(two, rows))
            return min(fit, self.most)

        return torch.stack(self._chunked(run, len(states), kind, trial))

    def footprint(self, state: Tensors, work: Callable[[Tensors], object]) -> int:
        """Bytes that one instance takes: its state as it was, at work, and as it will be; and all that `work` makes."""
        return 3 * memory.size_of(state) + memory.peak_of(lambda: work(state))

    def _train(
        self,
        step: Step,
        states: Sequence[Tensors],
        data: Tensors,
        plans: Sequence[Tensors],
        slots: int,
        compile: bool,
    ) -> list[Tensors]:
        if slots == 1:
            return [self._walk(step, states[0], data, plans[0], compile)]
        more = slots - len(states)
        state, plan = stacked([*states, *[states[0]] * more]), stacked([*plans, *[plans[0]] * more], dim=1)
        return unstacked(self._walk(self._together(step), state, data, plan, compile), len(states))

    def _walk(self, step: Step, state: Tensors, data: Tensors, plan: Tensors, compile: bool) -> Tensors:
        state, plan = self._here(state), self._here(plan)
        if self.device.type != "cuda":
            return walk(step, state, data, plan)
        key = (step, shapes(state), shapes(plan, rows=False), shapes(data, rows=False))
        with self.lock:
            if key not in self.graphs or not self.graphs[key].fits(data, plan):
                self.graphs.pop(key, None)
                if len(self.graphs) >= GRAPHS:
                    del self.graphs[next(iter(self.graphs))]
                self.graphs[key] = Graph(step, state, data, plan, compile=compile)
            return self.graphs[key].run(state, data, plan)

    def _together(self, step: Step) -> Step:
        """What one instance does, done by all instances of a stack."""
        if step not in self.wide:
            self.wide[step] = vmap(step, randomness="different")
        return cast(Step, self.wide[step])

    def _here(self, tensors: Tensors) -> Tensors:
        """On the device: what is small is made on the CPU and sent in one piece."""
        return {name: tensor.to(self.device) for name, tensor in tensors.items()}

    def _slots(self, kind: Any, k: int) -> int:
        """On a GPU a few sizes only, as each is captured by itself, and none smaller than has been needed."""
        if self.device.type != "cuda" or k == 1:
            return k
        if k > self.slots:
            self.slots = next((size for size in LADDER if size >= k), k)
            self.graphs.clear()
        return max(k, min(self.slots, self.fits[kind]))

    def _chunked(self, run: Callable[[slice], list[T]], k: int, kind: Any, trial: Callable[[], int]) -> list[T]:
        """`run` on chunks of as many instances as fit; on half as many when memory runs out all the same."""
        if kind not in self.fits and k > 1:
            self.fits[kind] = 1 if self.alone else self._tried(trial)
        done: list[T] = []
        while len(done) < k:
            size = min(self.fits.get(kind, 1), k - len(done))
            try:
                done += run(slice(len(done), len(done) + size))
                continue
            except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
                if not out_of_memory(error):
                    raise
                self._halve(kind, size, error)
            if self.device.type == "cuda":  # out here, where the error has let go of what it held
                torch.cuda.empty_cache()
        return done

    def _tried(self, trial: Callable[[], int]) -> int:
        """With random numbers apart, so that a run does not depend on whether there was a trial."""
        with seeded(self.device, 0):
            try:
                return trial()
            except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
                if not out_of_memory(error):
                    raise
                return 1

    def _halve(self, kind: Any, size: int, error: Exception) -> None:
        self.graphs.clear()
        if size == 1:
            raise LearnerError(
                f"one network alone does not fit into the memory of {self.device}: {first_line(error)}. "
                "Nothing was changed; try a smaller batch_size or precision='bf16'."
            ) from error
        self.fits[kind] = size // 2
        log.warning("a stack of %d did not fit into the memory of %s; going on with %d", size, self.device, size // 2)

    def _fit(self, state: Tensors, work: Callable[[Tensors], object], twice: Callable[[Tensors], object]) -> int:
        """How many instances to stack: as many as fit, and one where a stack does not pay or cannot be."""
        state = self._here(state)
        each = self.footprint(state, work)
        fit = max(1, int(self.settings.memory * memory.available(self.device) / each))
        if fit == 1 or (self.device.type == "cpu" and each > SMALL):
            return 1
        try:
            twice(stacked([state, state]))
        except Exception as error:
            if not out_of_memory(error):
                log.warning("the network cannot be stacked, so instances run one by one: %s", first_line(error))
            return 1
        return fit


def stacked(trees: Sequence[Tensors], dim: int = 0) -> Tensors:
    """Tensors of several instances as one each."""
    return {name: torch.stack([tree[name] for tree in trees], dim) for name in trees[0]}


def unstacked(tree: Tensors, k: int) -> list[Tensors]:
    """The first `k` instances of a stack, in memory of their own: some of them may be gone long before others."""
    columns = {name: tensor.unbind() for name, tensor in tree.items()}
    return [{name: column[i].clone() for name, column in columns.items()} for i in range(k)]


def shapes(tensors: Tensors, *, rows: bool = True) -> tuple[Any, ...]:
    """What two sets of tensors must share to run through the same graph."""
    return tuple((name, t.dtype, tuple(t.shape if rows else t.shape[1:])) for name, t in sorted(tensors.items()))


def out_of_memory(error: Exception) -> bool:
    """On a GPU or on a CPU."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or "can't allocate memory" in str(error)
