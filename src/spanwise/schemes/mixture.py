"""A mixture of starts, in the proportions that explain the last rounds best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from spanwise.core.pool import Groups, Scores
from spanwise.core.probabilities import UNLIKELY, weigh
from spanwise.core.spans import Span
from spanwise.learner import Array

SHARED = 0.1
"""What is divided anew each round, so that whoever was of no use can come back."""


@dataclass(frozen=True)
class Proportions:
    r"""Who explains the labels? One step of expectation and maximisation a round, and a share for everybody.

    With $p_i$ the probability that start i gave to a row's label, and $r_i$ the mean over rows of
    $p_i / \sum_j \pi_j p_j$, a round moves $\pi_i$ to $\pi_i r_i$. A tenth of all is then divided anew, and so is
    what those leave who are gone: half of it to start 1, and half to the others evenly.

    >>> before = Proportions().among((1, 9), 1.0)
    >>> after = before.after(np.array([[0.2, 0.1], [0.8, 0.9]]), 1.0)  # two labels, as likely to either
    >>> [round(share, 2) for share in after.shares]
    [0.15, 0.85]

    Args:
        starts: 1 first.
        shares: of each; they sum to 1.
    """

    starts: tuple[int, ...] = ()
    shares: tuple[float, ...] = ()

    def among(self, starts: Sequence[int], counts: float) -> Self:
        """For those who are there now, one round later, given how much of a whole round that was."""
        before = dict(zip(self.starts, self.shares, strict=True))
        kept = [(1.0 - SHARED) ** counts * before.get(start, 0.0) for start in starts]
        anew, others = 1.0 - sum(kept), len(starts) - 1
        parts = [0.5, *[0.5 / others] * others] if others else [1.0]
        return type(self)(tuple(starts), tuple(one + anew * part for one, part in zip(kept, parts, strict=True)))

    def after(self, likely: Array, counts: float) -> Self:
        """A round has come, given how likely each start found each of its labels, (starts, n)."""
        shares, likely = np.array(self.shares), np.maximum(likely, UNLIKELY)
        ratios = likely @ (1.0 / (shares @ likely)) / likely.shape[1]
        return type(self)(self.starts, tuple((shares * (counts * ratios + 1.0 - counts)).tolist()))

    @property
    def largest(self) -> tuple[int, float]:
        """The start that has the largest share, the earliest among equals, and that share."""
        share = max(self.shares)
        return self.starts[self.shares.index(share)], share


@dataclass(frozen=True)
class Mixed:
    """All starts in proportions; the instances of each are averaged."""

    groups: Groups
    proportions: Proportions
    name: str = "mixture"

    @property
    def weights(self) -> Mapping[Span, float]:
        each = zip(self.groups, self.proportions.shares, strict=True)
        return {span: share / len(spans) for spans, share in each for span in spans}

    def scores(self, said: Scores) -> Array:
        return weigh(self.proportions.shares, said.means_of(self.groups)).T

    def proba(self, said: Scores) -> Array:
        return self.scores(said)
