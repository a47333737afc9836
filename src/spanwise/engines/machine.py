"""One function, over and over, on the same tensors.

`step(state, batch)` takes the state of one instance and a mini-batch to the next state. On a CPU it is
called once a step. On a GPU a step is a few hundred small kernels, and starting them takes longer than
running them, so it is compiled, captured once as a CUDA graph, and replayed.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import RLock
from types import FunctionType
from typing import Any

import torch
from torch import Tensor

Tensors = dict[str, Tensor]
Step = Callable[[Tensors, Tensors], Tensors]

log = logging.getLogger("spanwise")

SEEDING = RLock()
"""torch's random numbers belong to the whole process: one thread at a time may set them aside."""


def walk(step: Step, state: Tensors, data: Tensors, plan: Tensors) -> Tensors:
    """All steps of `plan`, one after another.

    Args:
        step: (state, mini-batch) -> state.
        state: before the first step; left as it is.
        data: columns of rows to draw from.
        plan: for each step, the positions of its "rows" in `data`, and whatever else a mini-batch holds.
    """
    for now in range(len(plan["rows"])):
        state = step(state, mini_batch(data, {name: column[now] for name, column in plan.items()}))
    return state


def mini_batch(data: Tensors, now: Tensors) -> Tensors:
    """The rows that one step of a plan asks for, with the rest of that step."""
    rows = {name: column[now["rows"]] for name, column in data.items()}
    return {**rows, **{name: column for name, column in now.items() if name != "rows"}}


class Graph:
    """The steps of a plan as replays of one CUDA graph, on memory of its own.

    Args:
        step: (state, mini-batch) -> state.
        state, data, plan: as for `walk`; their shapes are kept, but for how many rows and steps there are.
        compile: compile the step before it is captured, where that works.
    """

    def __init__(self, step: Step, state: Tensors, data: Tensors, plan: Tensors, *, compile: bool) -> None:
        self.state = copied(state)
        self.data = {name: _roomy(column, 256) for name, column in data.items()}
        self.plan = {name: _roomy(column, 1) for name, column in plan.items()}
        self.now = torch.zeros(1, dtype=torch.int64, device=self.plan["rows"].device)
        self.step_ = in_place(step)
        if compile:
            self.step_ = self._compiled_if_it_can_be(step)
        self.graph = self._capture()

    def fits(self, data: Tensors, plan: Tensors) -> bool:
        """Is there room for so many rows and steps?"""
        return _holds(self.data, data) and _holds(self.plan, plan)

    def run(self, state: Tensors, data: Tensors, plan: Tensors) -> Tensors:
        for mine, given in ((self.data, data), (self.plan, plan)):
            for name, column in given.items():
                mine[name][: len(column)].copy_(column)
        for name, tensor in state.items():
            self.state[name].copy_(tensor)
        self.now.zero_()
        for _ in range(len(plan["rows"])):
            self.graph.replay()
        return copied(self.state)

    def _advance(self) -> None:
        at = {name: column.index_select(0, self.now)[0] for name, column in self.plan.items()}
        self.step_(self.state, mini_batch(self.data, at))
        self.now.add_(1).remainder_(len(self.plan["rows"]))

    def _compiled_if_it_can_be(self, step: Step) -> Callable[[Tensors, Tensors], None]:
        """Compiled and tried once; as it was, with the reason in the log, where the compiler gives up."""
        plain = in_place(step)
        compiled = torch.compile(in_place(step), fullgraph=True, dynamic=False)
        at = {name: column[0] for name, column in self.plan.items()}
        try:
            compiled(copied(self.state), mini_batch(self.data, at))
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            log.warning("the training step is not compiled: %s", first_line(error))
            return plain
        return compiled

    def _capture(self) -> torch.cuda.CUDAGraph:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):  # libraries choose their kernels and take their workspaces before the capture
                self._advance()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            self._advance()
        return graph


def in_place(step: Step) -> Callable[[Tensors, Tensors], None]:
    """`step`, writing what is new over what was; a function of its own, as the compiler keeps count by code object."""

    def step_(state: Tensors, batch: Tensors) -> None:
        for name, new in step(state, batch).items():
            state[name].copy_(new)

    return FunctionType(step_.__code__.replace(), step_.__globals__, "step_", None, step_.__closure__)


def copied(tensors: Mapping[str, Tensor]) -> Tensors:
    return {name: tensor.clone() for name, tensor in tensors.items()}


def _roomy(column: Tensor, least: int) -> Tensor:
    """A copy with room for more, so that a longer round seldom needs a new capture."""
    room = column.new_zeros((max(least, 1 << (len(column) - 1).bit_length()), *column.shape[1:]))
    room[: len(column)] = column
    return room


def _holds(mine: Tensors, given: Tensors) -> bool:
    return all(len(column) <= len(mine[name]) for name, column in given.items())


def first_line(error: Exception) -> str:
    """What an error of another library says, in short."""
    said = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {said[0][:200]}"


@contextmanager
def seeded(device: torch.device, seed: int) -> Iterator[None]:
    """torch's own random numbers (dropout, fresh weights) from `seed`, and as they were afterwards."""
    with SEEDING, torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.default_generator.manual_seed(seed)
        if device.type == "cuda":
            torch.cuda.default_generators[device.index or 0].manual_seed(seed)
        yield


@contextmanager
def arithmetic(device: torch.device, precision: str) -> Iterator[None]:
    """How a GPU multiplies matrices: tf32 or bf16 where that was asked for, full float32 elsewhere."""
    if device.type != "cuda":
        yield
        return
    cudnn: Any = torch.backends.cudnn
    before = torch.get_float32_matmul_precision(), cudnn.allow_tf32, cudnn.benchmark
    rounded = precision in ("tf32", "bf16")
    torch.set_float32_matmul_precision("high" if rounded else "highest")
    cudnn.allow_tf32 = cudnn.benchmark = rounded  # the search for the fastest kernel may end with another one next time
    try:
        with torch.cuda.device(device):
            yield
    finally:
        torch.set_float32_matmul_precision(before[0])
        cudnn.allow_tf32, cudnn.benchmark = before[1:]
