"""IRM, invariant risk minimisation: one classifier that is optimal in every group at once."""

from dataclasses import dataclass

import torch
from torch import Tensor

from spanwise.deep.objectives.erm import surprise
from spanwise.deep.objectives.groups import Nested, members
from spanwise.engines.machine import Tensors


@dataclass(frozen=True, kw_only=True)
class IRM(Nested):
    r"""The mean loss of the groups, plus how much each would gain from scaling the logits.

    With $\ell_i(s)$ the cross-entropy of row i when its logits are multiplied by s,

    $$\frac1G\sum_g \bar\ell_g(1) + \lambda \frac1G\sum_g \bar\ell'_{g,\text{even}}(1)\,\bar\ell'_{g,\text{odd}}(1)$$

    The product of two halves of a group estimates the squared slope without bias; it can be negative,
    and is 0 for a group of one row. Only groups that the mini-batch holds count.

    Args:
        strength: the weight of the penalty, lambda.
        groups, size, points, wildtime: as for `Nested`; the sampler is all that Wild-Time does otherwise.

    References: Arjovsky et al. (2019), section 3 and appendix D; PAPER B.5.
    """

    strength: float = 1.0

    def loss(self, logits: Tensor, known: Tensor, batch: Tensors) -> Tensor:
        member = members(batch["group"], self.ids, logits.dtype)  # (rows, groups)
        present = (member.sum(0) > 0).to(logits.dtype)
        risks = averages(surprise(logits, known, batch["y"]), member)
        slopes = slope(logits, known, batch["y"])
        even = member * (member.cumsum(0) % 2)  # the first, third, ... row of each group
        gains = averages(slopes, even) * averages(slopes, member - even)
        return ((risks + self.strength * gains) * present).sum() / present.sum()


def slope(logits: Tensor, known: Tensor, y: Tensor) -> Tensor:
    r"""The derivative of each row's cross-entropy by a factor on its logits, at 1: $\sum_k p_k z_k - z_y$."""
    probability = logits.masked_fill(~known, -torch.inf).softmax(-1)
    return (probability * logits).sum(-1) - logits.gather(-1, y[:, None])[:, 0]


def averages(values: Tensor, member: Tensor) -> Tensor:
    """The mean of `values` (rows) in each column of `member` (rows, groups); 0 where it is empty."""
    return values @ member / member.sum(0).clamp(min=1)
