"""What one instance does in one step, as pure functions of its state: a stack is `vmap` of them.

A state is a dict of tensors: "theta", all weights as one vector; the network's buffers; what the
optimiser and the penalty remember; "rate", the factor of the learning rate in this round; "known",
which columns of the logits are classes of this instance. The rest only fill the stack.
"""

import torch
from torch import Tensor
from torch.func import grad, vmap
from torch.nn import functional as F

from spanwise.deep.network import Network
from spanwise.deep.objectives.erm import Objective
from spanwise.deep.optimizers import Optimizer, clipped
from spanwise.deep.penalties.penalty import Penalty, ReadsAgain
from spanwise.engines.machine import Tensors

INPUT = "input."
"""What the names of the network's inputs begin with in a mini-batch."""


class Recipe:
    """One training step for every learner of the paper."""

    def __init__(self, network: Network, optimizer: Optimizer, objective: Objective, penalty: Penalty | None) -> None:
        self.network, self.optimizer, self.objective, self.penalty = network, optimizer, objective, penalty
        self.row_by_row = False  # for networks whose rows cannot be stacked

    def start(self, state: Tensors) -> Tensors:
        """`state` with all that the optimiser and the penalty remember before the first step."""
        theta = state["theta"]
        return {**state, **self.optimizer.start(theta), **(self.penalty.start(theta) if self.penalty else {})}

    def step(self, state: Tensors, batch: Tensors) -> Tensors:
        """Down the gradient of the objective, held back by the penalty."""
        before = state["theta"]
        descent, buffers = grad(self.loss, has_aux=True)(before, state, batch)
        pulled = descent + grad(self.penalty.penalty)(before, state) if self.penalty else descent
        gradient = clipped(pulled, self.optimizer.clip)
        after, moved = self.optimizer.update(before, gradient, state)
        new = {**state, **buffers, **moved, "theta": after}
        if self.penalty:
            new |= self.penalty.after_step(state, after - before, descent, gradient)
        return new

    def loss(self, theta: Tensor, state: Tensors, batch: Tensors) -> tuple[Tensor, Tensors]:
        """The objective on a mini-batch, and the buffers as the forward pass leaves them."""
        logits, buffers = self.network(theta, state, inputs_of(batch), training=True)
        return self.objective.loss(logits, state["known"], batch), buffers

    def answer(self, state: Tensors, inputs: Tensors) -> Tensor:
        """Logits."""
        return self.network(state["theta"], state, inputs, training=False)[0]

    def reread(self, state: Tensors, batch: Tensors) -> Tensors:
        """Add the squared gradients of some rows' own log-likelihood to "fisher" (EWC)."""
        gradients = self._one_by_one if self.row_by_row else vmap(grad(self._surprise), in_dims=(None, None, 0, 0))
        squares = gradients(state["theta"], state, inputs_of(batch), batch["chance"]) ** 2
        return {**state, "fisher": state["fisher"] + batch["share"] @ squares}

    def _one_by_one(self, theta: Tensor, state: Tensors, inputs: Tensors, chances: Tensor) -> Tensor:
        rows = [{name: value[i] for name, value in inputs.items()} for i in range(len(chances))]
        return torch.stack([grad(self._surprise)(theta, state, *row) for row in zip(rows, chances, strict=True)])

    def _surprise(self, theta: Tensor, state: Tensors, row: Tensors, chance: Tensor) -> Tensor:
        """Minus the log-likelihood of a label that the model itself gives to one row."""
        assert isinstance(self.penalty, ReadsAgain)
        inputs = {name: value[None] for name, value in row.items()}
        logits, _ = self.network(theta, state, inputs, training=False)
        logits = logits.masked_fill(~state["known"], -torch.inf)
        return F.cross_entropy(logits, self.penalty.label(logits[0].detach(), chance)[None])


def inputs_of(batch: Tensors) -> Tensors:
    return {name.removeprefix(INPUT): value for name, value in batch.items() if name.startswith(INPUT)}
