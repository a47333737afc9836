"""EWC, elastic weight consolidation: a weight matters as much as the model's likelihood bends along it."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from spanwise.engines.machine import Tensors
from spanwise.errors import SettingError
from spanwise.learner import Array


@dataclass(frozen=True, kw_only=True)
class EWC:
    r"""$\frac{\lambda}{2} \sum_k \gamma F_k (\theta_k - \theta^*_k)^2$, with $\theta^*$ the last round's weights.

    F is the diagonal of the Fisher information, summed over rounds (the online form):
    $F \leftarrow \gamma F + \frac1n \sum_i (\partial \log p(\hat y_i | x_i) / \partial \theta)^2$, with the network in
    evaluation mode and labels $\hat y_i$ drawn from the model's own distribution.

    Args:
        strength: lambda.
        decay: gamma, the share of the old information that is kept.
        rows: how many rows of a round the information is measured on, at most; what few rows leave to chance, the sum
            over rounds evens out.
        wildtime: as Wild-Time codes it: labels are the model's most probable ones, and rows are one mini-batch drawn
            with replacement.

    References: Kirkpatrick et al. (2017), equation 3; online form, Schwarz et al. (2018); PAPER B.4.
    """

    strength: float = 0.5
    decay: float = 1.0
    rows: int = 32
    wildtime: bool = False

    def __post_init__(self) -> None:
        if self.rows < 1 or self.strength < 0 or not 0 <= self.decay <= 1:
            raise SettingError(
                f"strength={self.strength}, decay={self.decay}, rows={self.rows}: no negative strength, a decay "
                "between 0 and 1, and at least one row for the Fisher information"
            )

    def start(self, theta: Tensor) -> Tensors:
        zeros = torch.zeros_like(theta)
        return {"importance": zeros, "anchor": theta, "fisher": zeros}

    def penalty(self, theta: Tensor, state: Tensors) -> Tensor:
        return self.strength * self.decay / 2 * (state["importance"] * (theta - state["anchor"]) ** 2).sum()

    def after_step(self, state: Tensors, moved: Tensor, descent: Tensor, gradient: Tensor) -> Tensors:
        return {}

    def after_round(self, state: Tensors) -> Tensors:
        importance = self.decay * state["importance"] + state["fisher"]
        return {"importance": importance, "anchor": state["theta"], "fisher": torch.zeros_like(importance)}

    def read_again(self, rng: np.random.Generator, rows: int, batch_size: int) -> Array:
        if self.wildtime:
            return rng.integers(rows, size=min(batch_size, rows))
        return rng.permutation(rows)[: self.rows]

    def label(self, logits: Tensor, chance: Tensor) -> Tensor:
        if self.wildtime:
            return logits.argmax()
        drawn = (logits.softmax(0).cumsum(0) <= chance).sum()
        last = (logits != -torch.inf).sum() - 1
        return torch.minimum(drawn, last)  # rounding may leave the sum below the chance
