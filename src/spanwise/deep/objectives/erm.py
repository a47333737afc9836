"""FT, fine-tuning: plain cross-entropy on the rows of the current round."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from spanwise.engines.machine import Tensors
from spanwise.learner import Array


class Objective(Protocol):
    """What a mini-batch should bring down, and where its rows come from."""

    @property
    def rounds(self) -> int:
        """Rows are drawn from so many of the instance's last rounds."""
        ...

    @property
    def points(self) -> int | None:
        """Of those, as many of the latest as hold no more than so many rows."""
        ...

    def draw(self, rng: np.random.Generator, sizes: Sequence[int], shape: tuple[int, int]) -> dict[str, Array]:
        """A round's mini-batches, (steps, rows each): "rows", positions in the instance's rounds laid end to end,
        the oldest first; and, where there are groups, "group"."""
        ...

    def loss(self, logits: Tensor, known: Tensor, batch: Tensors) -> Tensor:
        """Of one mini-batch; columns that are not `known` do not count."""
        ...


@dataclass(frozen=True)
class CrossEntropy:
    """The mean of minus the log-probability of the right class; rows of the current round, with replacement."""

    rounds = 1
    points = None

    def draw(self, rng: np.random.Generator, sizes: Sequence[int], shape: tuple[int, int]) -> dict[str, Array]:
        return {"rows": rng.integers(sizes[-1], size=shape)}

    def loss(self, logits: Tensor, known: Tensor, batch: Tensors) -> Tensor:
        return surprise(logits, known, batch["y"]).mean()


def surprise(logits: Tensor, known: Tensor, y: Tensor) -> Tensor:
    """Minus the log-probability of each row's class, among the classes that are `known`."""
    return F.cross_entropy(logits.masked_fill(~known, -torch.inf), y, reduction="none")
