"""SI, synaptic intelligence: a weight matters as much as moving it has brought the loss down."""

from dataclasses import dataclass

import torch
from torch import Tensor

from spanwise.engines.machine import Tensors
from spanwise.errors import SettingError


@dataclass(frozen=True, kw_only=True)
class SI:
    r"""$c \sum_k \Omega_k (\theta_k - \tilde\theta_k)^2$, with $\tilde\theta$ the weights at the end of the last round.

    During a round the path integral $w_k = -\sum_\text{steps} g_k \, \Delta\theta_k$ is added up, g the gradient of the
    objective alone. At its end $\Omega_k \mathrel{+}= \max(0, w_k) / ((\theta_k - \tilde\theta_k)^2 + \xi)$.

    Args:
        strength: c.
        damping: xi, which keeps weights that hardly moved from mattering too much.
        wildtime: as Wild-Time codes it: w is the last mini-batch's gradient, the penalty's own included, times the
            whole way of the round; and Omega may fall below zero, where it pushes weights away.

    References: Zenke, Poole and Ganguli (2017), equations 3 to 5; PAPER B.3.
    """

    strength: float = 0.1
    damping: float = 1e-3
    wildtime: bool = False

    def __post_init__(self) -> None:
        if self.damping <= 0:
            raise SettingError(f"damping={self.damping}: above zero, as weights that do not move divide by it")

    def start(self, theta: Tensor) -> Tensors:
        zeros = torch.zeros_like(theta)
        return {"omega": zeros, "anchor": theta, "path": zeros}

    def penalty(self, theta: Tensor, state: Tensors) -> Tensor:
        return self.strength * (state["omega"] * (theta - state["anchor"]) ** 2).sum()

    def after_step(self, state: Tensors, moved: Tensor, descent: Tensor, gradient: Tensor) -> Tensors:
        if self.wildtime:
            return {"path": -gradient}  # the last one stays
        return {"path": state["path"] - descent * moved}

    def after_round(self, state: Tensors) -> Tensors:
        way = state["theta"] - state["anchor"]
        gained = state["path"] * way if self.wildtime else state["path"].clamp(min=0)
        omega = state["omega"] + gained / (way**2 + self.damping)
        return {"omega": omega, "anchor": state["theta"], "path": torch.zeros_like(way)}
