"""What holds weights back: a pull towards where they were, as strong as they mattered there."""

from typing import Protocol, runtime_checkable

import numpy as np
from torch import Tensor

from spanwise.engines.machine import Tensors
from spanwise.learner import Array


class Penalty(Protocol):
    """A term of the loss, and how it comes to know which weights matter."""

    def start(self, theta: Tensor) -> Tensors:
        """What it remembers before the first step; "anchor" are the weights it pulls towards."""
        ...

    def penalty(self, theta: Tensor, state: Tensors) -> Tensor:
        """What is added to the loss."""
        ...

    def after_step(self, state: Tensors, moved: Tensor, descent: Tensor, gradient: Tensor) -> Tensors:
        """What is new after a step that moved the weights by `moved`.

        `descent` is the gradient of the objective alone, `gradient` that of the whole loss.
        """
        ...

    def after_round(self, state: Tensors) -> Tensors:
        """What is new after a round."""
        ...


@runtime_checkable
class ReadsAgain(Protocol):
    """A penalty that looks at some rows of a round once more at its end, for the Fisher information."""

    def read_again(self, rng: np.random.Generator, rows: int, batch_size: int) -> Array:
        """Positions of those rows."""
        ...

    def label(self, logits: Tensor, chance: Tensor) -> Tensor:
        """The label that the model gives to a row read again; `chance` is uniform in [0, 1)."""
        ...
