"""How a gradient moves the weights: torch's SGD, Adam and AdamW as functions of one vector.

torch's own optimisers change weights in place and keep one step counter a tensor, so instances of
different ages could not share a stack. These return what is new instead, and compute the same numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import torch
from torch import Tensor

from spanwise.engines.machine import Tensors
from spanwise.errors import SettingError

Schedule = Callable[[int], float]
"""Rounds an instance has been trained -> a factor for its learning rate."""


class Optimizer(Protocol):
    """One step downhill."""

    @property
    def clip(self) -> float | None: ...

    @property
    def schedule(self) -> Schedule | None: ...

    def start(self, weights: Tensor) -> Tensors:
        """What it remembers, before the first step."""
        ...

    def update(self, weights: Tensor, gradient: Tensor, state: Tensors) -> tuple[Tensor, Tensors]:
        """The weights after a step, and what it remembers then; `state["rate"]` scales the learning rate."""
        ...


@dataclass(frozen=True)
class StepDecay:
    """The learning rate times `gamma` after every `every` rounds of an instance's own life.

    >>> [StepDecay(0.5, every=2)(age) for age in range(5)]
    [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    gamma: float = 0.96
    every: int = 1

    def __call__(self, age: int) -> float:
        return float(self.gamma ** (age // self.every))


@dataclass(frozen=True, kw_only=True)
class SGD:
    """Stochastic gradient descent, with torch's names and meanings.

    Args:
        lr: learning rate.
        momentum: share of the last step that is kept.
        weight_decay: pull of every weight towards zero, added to the gradient.
        nesterov: look ahead along the momentum.
        clip: longest gradient allowed, as a Euclidean norm over all weights.
        schedule: a factor for `lr`, by the rounds an instance has been trained.
    """

    lr: float = 0.01
    momentum: float = 0.0
    weight_decay: float = 0.0
    nesterov: bool = False
    clip: float | None = None
    schedule: Schedule | None = None

    def __post_init__(self) -> None:
        _check(self.lr, self.clip)
        if self.nesterov and not self.momentum:
            raise SettingError("nesterov=True looks ahead along the momentum, and momentum=0 leaves none")

    def start(self, weights: Tensor) -> Tensors:
        return {"speed": torch.zeros_like(weights)} if self.momentum else {}

    def update(self, weights: Tensor, gradient: Tensor, state: Tensors) -> tuple[Tensor, Tensors]:
        gradient = gradient + self.weight_decay * weights if self.weight_decay else gradient
        if not self.momentum:
            return weights - self.lr * state["rate"] * gradient, {}
        speed = self.momentum * state["speed"] + gradient
        step = gradient + self.momentum * speed if self.nesterov else speed
        return weights - self.lr * state["rate"] * step, {"speed": speed}


@dataclass(frozen=True, kw_only=True)
class Adam:
    """Adam, with torch's names and meanings; `clip` and `schedule` as for `SGD`."""

    lr: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0
    amsgrad: bool = False
    clip: float | None = None
    schedule: Schedule | None = None

    decoupled: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check(self.lr, self.clip)
        if not all(0 <= beta < 1 for beta in self.betas):
            raise SettingError(f"betas={self.betas}: each at least 0 and below 1")

    def start(self, weights: Tensor) -> Tensors:
        zeros = torch.zeros_like(weights)
        largest = {"largest": zeros} if self.amsgrad else {}
        return {"steps": weights.new_zeros(()), "mean": zeros, "square": zeros, **largest}

    def update(self, weights: Tensor, gradient: Tensor, state: Tensors) -> tuple[Tensor, Tensors]:
        rate = self.lr * state["rate"]
        if self.weight_decay and self.decoupled:
            weights = weights * (1 - rate * self.weight_decay)
        elif self.weight_decay:
            gradient = gradient + self.weight_decay * weights
        first, second = self.betas
        steps = state["steps"] + 1
        mean = torch.lerp(state["mean"], gradient, 1 - first)
        square = (gradient * gradient).mul_(1 - second).add_(state["square"], alpha=second)
        new = {"steps": steps, "mean": mean, "square": square}
        if self.amsgrad:
            square = new["largest"] = torch.maximum(state["largest"], square)
        spread = square.sqrt().div_((1 - second**steps).sqrt()).add_(self.eps)
        step = (mean / spread).mul_(-rate / (1 - first**steps))  # in place where nobody else looks: fewer passes
        return step.add_(weights), new


@dataclass(frozen=True, kw_only=True)
class AdamW(Adam):
    """Adam whose weight decay is taken off the weights themselves rather than added to the gradient."""

    weight_decay: float = 0.01

    decoupled: ClassVar[bool] = True


def clipped(gradient: Tensor, longest: float | None) -> Tensor:
    """`gradient`, shortened to the norm `longest` where it is longer.

    >>> clipped(torch.tensor([3.0, 4.0]), 1.0)
    tensor([0.6000, 0.8000])
    """
    if longest is None:
        return gradient
    shorter: Tensor = longest / (torch.linalg.vector_norm(gradient) + 1e-6)
    return gradient * shorter.clamp(max=1.0)


def _check(lr: float, clip: float | None) -> None:
    if not lr > 0:
        raise SettingError(f"lr={lr}: a learning rate is above zero")
    if clip is not None and clip <= 0:
        raise SettingError(f"clip={clip}: the longest gradient allowed is above zero; None allows any")
