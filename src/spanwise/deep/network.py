"""A torch module as a pure function of one vector of weights."""

import hashlib
import logging
from collections.abc import Callable
from contextlib import nullcontext
from copy import deepcopy
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from spanwise.deep.inputs import ONLY
from spanwise.deep.layout import Layout
from spanwise.deep.modules import (
    check_buffers,
    check_logits,
    filled_in,
    keep_exact,
    last_linear,
    linear,
    logits_of,
    made,
    on,
    saved,
    trained,
)
from spanwise.engines.machine import Tensors, seeded
from spanwise.errors import LearnerError

log = logging.getLogger("spanwise")

Given = nn.Module | Callable[[], nn.Module]
BUFFER = "buffer."
"""What the names of a network's buffers begin with in the state of an instance."""


class Network:
    """What all instances of a network share: its code, its constants, and where its weights lie.

    Weights that want no gradient, and buffers that are not saved, are constants. Buffers that are
    saved, such as the running averages of a BatchNorm, belong to an instance like its weights.

    Args:
        given: a module, whose weights every instance starts from but for the head; or a function that makes one.
        head: name of the linear layer that gives the logits; None for the last one.
        device: where it runs.
        dtype: what weights are kept in.
        compute: what they are cast to for each forward pass.
    """

    def __init__(
        self, given: Given, head: str | None, device: torch.device, dtype: torch.dtype, compute: torch.dtype
    ) -> None:
        self.given, self.head = deepcopy(given) if isinstance(given, nn.Module) else given, head
        self.device, self.dtype, self.compute = device, dtype, compute
        self.frames: dict[bool, nn.Module] = {}  # in training mode and not; their weights are never looked at
        self.layouts: dict[int, Layout] = {}  # by the classes of the head
        self.grows = False
        self.width = 0
        self.layer: nn.Linear | None = None  # the head, to draw others from
        self.exact: list[str] = []  # weights that are never rounded
        self.asking = Lock()  # a frame holds one instance's weights at a time; training has a lock of its own
        self.base: Tensors = {}  # what every instance of a given module starts from

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "asking"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, asking=Lock())

    @cached_property
    def example(self) -> nn.Module:
        """A module to ask how it wants its inputs."""
        if isinstance(self.given, nn.Module):
            return self.given
        with seeded(torch.device("cpu"), 0):
            return made(self.given)

    @cached_property
    def digest(self) -> str:
        """Of the constants, which instances share and a snapshot does not hold."""
        told, frame = hashlib.sha256(), self.frames[False]
        for name, weight in sorted(frame.named_parameters()):
            if not weight.requires_grad:
                told.update(name.encode() + weight.detach().cpu().float().numpy().tobytes())
        return told.hexdigest()[:16]

    def begin(self, seed: int, inputs: Tensors) -> Tensors:
        """Weights and buffers of a fresh instance."""
        if not self.frames:
            self._look_at(inputs)
        with seeded(torch.device("cpu"), seed):
            if not isinstance(self.given, nn.Module):
                return self._read(filled_in(made(self.given), inputs))
            return {**self.base, "theta": self._with_a_new_head(self.base["theta"])}

    def __call__(self, theta: Tensor, state: Tensors, inputs: Tensors, *, training: bool) -> tuple[Tensor, Tensors]:
        """Logits, and the buffers as they are afterwards."""
        layout = self.layouts[state["known"].shape[-1]]
        buffers = {name: value.clone() for name, value in state.items() if name.startswith(BUFFER)}
        filled = {**layout.weights(theta.to(self.compute)), **{n.removeprefix(BUFFER): b for n, b in buffers.items()}}
        if self.exact:
            full = layout.weights(theta)
            filled |= {name: full[name] for name in self.exact}
        named = {name: value.to(self.compute) if value.is_floating_point() else value for name, value in inputs.items()}
        only = (named.pop(ONLY),) if set(named) == {ONLY} else ()
        with nullcontext() if training else self.asking:
            logits = functional_call(self.frames[training], filled, only, named)
        check_logits(logits, len(next(iter(inputs.values()))))
        return logits.to(self.dtype), buffers

    def layout(self, width: int) -> Layout:
        """Where the weights lie when the head has `width` classes."""
        if width not in self.layouts:
            shapes = dict(self.layouts[self.width].shapes)
            for name in self.head_weights:
                shapes[name] = (width, *shapes[name][1:])
            self.layouts[width] = Layout(shapes)
        return self.layouts[width]

    @property
    def head_weights(self) -> list[str]:
        """Names of the weights of the head."""
        return [name for name in self.layouts[self.width].shapes if name.rpartition(".")[0] == self.head]

    def asked(self, tensors: Tensors) -> Tensors:
        """What of an instance's tensors it takes to answer."""
        return {name: value for name, value in tensors.items() if name in ("theta", "known") or name.startswith(BUFFER)}

    def resized(self, tensors: Tensors, old: int, new: int) -> Tensors:
        """The same instance with room for more or fewer classes: zeros where nothing was."""
        if old == new:
            return tensors
        before, after = self.layout(old), self.layout(new)
        return {n: t if is_short(n, t) else self._moved(t, before, after) for n, t in tensors.items()}

    def drawn(self, vectors: Tensors, width: int, old: int, new: int, rng: np.random.Generator) -> Tensors:
        """`vectors`, all with the same fresh weights for the classes `old` to `new`, drawn as for a new layer."""
        vectors = {name: vector.clone() for name, vector in vectors.items()}
        assert self.layer is not None
        bound = 1 / np.sqrt(self.layer.in_features)
        for name in self.head_weights:
            shape = self.layout(width).shapes[name][1:]
            fresh = torch.as_tensor(rng.uniform(-bound, bound, (new - old, *shape)), dtype=self.dtype)
            for vector in vectors.values():
                self.layout(width).weights(vector)[name][old:new] = fresh.to(self.device)
        return vectors

    def _moved(self, vector: Tensor, before: Layout, after: Layout) -> Tensor:
        weights = before.weights(vector)
        for name in self.head_weights:
            room = vector.new_zeros(after.shapes[name])
            both = min(len(room), len(weights[name]))
            room[:both] = weights[name][:both]
            weights[name] = room
        return after.vector(weights)

    def _read(self, module: nn.Module) -> Tensors:
        """The weights of a module as one vector, and its buffers."""
        weights = {name: value.detach().to(self.device, self.dtype) for name, value in trained(module).items()}
        layout = self.layout(self.width)
        if {name: tuple(value.shape) for name, value in weights.items()} != layout.shapes:
            raise LearnerError(
                "the function that makes the network made one of another shape than before: a learner is for rows "
                "of one shape, so make another learner for other rows"
            )
        buffers = {f"{BUFFER}{name}": on(value, self.device, self.dtype) for name, value in saved(module).items()}
        return {"theta": layout.vector(weights), **buffers}

    def _with_a_new_head(self, theta: Tensor) -> Tensor:
        """The given weights but for the head, which is drawn as when the layer was made."""
        if self.layer is None:
            return theta
        layer = deepcopy(self.layer)
        layer.reset_parameters()
        theta = theta.clone()
        weights = self.layout(self.width).weights(theta)
        for name in self.head_weights:
            weights[name].copy_(layer.get_parameter(name.rpartition(".")[2]).detach())
        return theta

    def _guess(self, module: nn.Module, width: int) -> str | None:
        """No layer's output is what the network returns: the last one of that width is drawn anew, but cannot grow."""
        last = last_linear(module)
        found = last if last is not None and linear(module, last).out_features == width else None
        drawn = "no layer is" if found is None else f"the layer {found!r} is"
        log.warning(
            "what the network returns is not the output of a linear layer: %s drawn anew for each instance", drawn
        )
        return found

    def _look_at(self, inputs: Tensors) -> None:
        """A first module tells the shapes of all, and has the constants that they share."""
        with seeded(torch.device("cpu"), 0):
            module = deepcopy(self.given).to("cpu") if isinstance(self.given, nn.Module) else made(self.given)
            module = filled_in(module, inputs)
            logits, gave = logits_of(deepcopy(module).to(self.dtype), inputs)
            check_buffers(deepcopy(module).to(self.dtype), inputs)
        if self.head is None:
            self.head = gave if gave is not None else self._guess(module, logits.shape[1])
        self.width = logits.shape[1]
        weights = trained(module)
        if not weights:
            raise LearnerError("the network has no weights to train: every one of them has requires_grad=False")
        self.layouts[self.width] = Layout({name: tuple(value.shape) for name, value in weights.items()})
        if self.head is not None:
            self.layer = deepcopy(linear(module, self.head)).to(self.dtype)
            self.grows = self.head == gave and "weight" in {name.rpartition(".")[2] for name in self.head_weights}
        if isinstance(self.given, nn.Module):
            self.base = self._read(module)
        module = module.to(self.device, self.compute)
        if self.compute != self.dtype:
            layers = keep_exact(module, self.dtype)
            self.exact = [name for name in weights if name.rpartition(".")[0] in layers]
        self.frames = {True: deepcopy(module).train(), False: module.eval()}


def is_short(name: str, tensor: Tensor) -> bool:
    """Is it something other than a vector with a number for every weight?"""
    return name.startswith(BUFFER) or tensor.dim() != 1
