"""CORAL, correlation alignment: logits that are distributed alike in every group."""

from dataclasses import dataclass

import torch
from torch import Tensor

from spanwise.deep.objectives.erm import surprise
from spanwise.deep.objectives.groups import Nested, members
from spanwise.engines.machine import Tensors


@dataclass(frozen=True, kw_only=True)
class CORAL(Nested):
    r"""Cross-entropy, plus how far apart the groups' means and covariances of the logits are.

    $$\bar\ell + \lambda \frac{1}{\#\text{pairs}} \sum_{a<b}
    \Big[\tfrac1K\lVert\mu_a-\mu_b\rVert^2 + \tfrac1{K^2}\lVert C_a-C_b\rVert_F^2\Big]$$

    over pairs of groups that the mini-batch holds with two rows or more each: one row has no covariance.

    Args:
        strength: the weight of the penalty, lambda.
        groups, size, points: as for `Nested`.
        wildtime: Wild-Time's sampler, and its treatment of a group of one row, whose K logits it takes
            for K rows of one number: their mean and variance are then compared with every mean and covariance.

    References: Sun and Saenko (2016), who align the logits; means are WILDS's addition; PAPER B.6.
    """

    strength: float = 0.9

    def loss(self, logits: Tensor, known: Tensor, batch: Tensors) -> Tensor:
        member = members(batch["group"], self.ids, logits.dtype).T  # (groups, rows)
        rows = member.sum(1)
        means, spreads = self._moments(torch.where(known, logits, 0), known, member, rows)
        columns = known.sum()
        counts = (rows > (0 if self.wildtime else 1)).to(logits.dtype)
        apart = _apart(means, counts) / columns + _apart(spreads.flatten(1), counts) / columns**2
        penalty = apart / (counts.sum() - 1).clamp(min=1)
        return surprise(logits, known, batch["y"]).mean() + self.strength * penalty

    def _moments(self, logits: Tensor, known: Tensor, member: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Mean (groups, K) and covariance (groups, K, K) of the logits in each group."""
        means = member @ logits / rows.clamp(min=1)[:, None]
        centred = (logits[None] - means[:, None]) * member[:, :, None]
        spreads = centred.transpose(1, 2) @ centred / (rows - 1).clamp(min=1)[:, None, None]
        if not self.wildtime:
            return means, spreads
        mean = means.sum(1, keepdim=True) / known.sum()
        spread = (torch.where(known, means - mean, 0) ** 2).sum(1) / (known.sum() - 1).clamp(min=1)
        single, both = rows == 1, known[:, None] & known[None, :]
        return (
            torch.where(single[:, None] & known, mean, means),
            torch.where(single[:, None, None] & both, spread[:, None, None], spreads),
        )


def _apart(vectors: Tensor, counts: Tensor) -> Tensor:
    """The mean squared distance of two groups that count, times their number less one.

    Over n groups, the squared distances of all pairs add up to n times those from the mean: no pair is looked at.
    """
    mean = counts @ vectors / counts.sum().clamp(min=1)
    return 2 * (counts @ ((vectors - mean) ** 2)).sum()
