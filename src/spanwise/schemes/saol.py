"""Strongly adaptive online learning (Daniely, Gonen and Shalev-Shwartz, 2015), the paper's rival.

Every interval of the geometric covering has a weight that grows when its instance did better than
what was played, and shrinks when it did worse: w <- w (1 + eta (loss played - loss of the interval)),
with eta = min(1/2, 1/sqrt(length)), which is also the weight an interval is born with.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Self

import numpy as np

from spanwise.core.awe import Algorithm
from spanwise.core.choice import Choice, Model, Single
from spanwise.core.evidence import Unjudged
from spanwise.core.pool import Pool, Scores
from spanwise.core.refine import Estimate
from spanwise.core.scheme import Scheme
from spanwise.core.spans import Cover, Span
from spanwise.learner import Array
from spanwise.schemes.covers import Geometric
from spanwise.schemes.losses import error, errors, mixture


@dataclass
class SAOLWeights(Choice):
    """A weight for every interval alive, moved by the error on each batch before training on it.

    Args:
        random: draw one instance a round with probability proportional to its weight, instead of
            playing the weighted mean of all; the loss played is then the expected one.
        fallback: play start 1 while instances that have not trained yet hold most of the weight.
        seed: of the draws.
    """

    random: bool = False
    fallback: bool = False
    seed: int = 0
    weights: dict[Span, float] = field(default_factory=dict, init=False, repr=False)

    def observe(self, said: Scores, y: Array, played: Model, cover: Cover, round: int) -> None:
        weights = self.weights or born(cover, round)
        lost = errors(list(weights), said, y)
        total = sum(weights.values())
        loss = sum(w * lost[s] for s, w in weights.items()) / total if self.random else error(played, said, y)
        moved = {s: w * (1 + rate(s, round) * (loss - lost[s])) for s, w in weights.items()}
        self.weights = {s: moved.get(s, weight) for s, weight in born(cover, round + 1).items()}

    def candidates(self, estimates: Mapping[Span, Estimate], pool: Pool, round: int) -> Sequence[Model]:
        mixed = mixture(self.weights, pool, "saol")
        untrained = sum(weight for span, weight in mixed.weights.items() if not pool.trained[span])
        if self.fallback and untrained > 0.5:
            return ()
        if not self.random:
            return [mixed]
        spans, chances = zip(*mixed.weights.items(), strict=True)
        draw = np.random.default_rng((self.seed, round, 0, 2)).choice(len(spans), p=chances)
        return [Single(spans[draw])]

    def copy(self) -> Self:
        twin = type(self)(self.random, self.fallback, self.seed)
        twin.weights = dict(self.weights)
        return twin


def born(cover: Cover, round: int) -> dict[Span, float]:
    """The intervals of a round, each with the weight it is born with."""
    return {span: rate(span, round) for span in cover.intervals(round)}


def rate(span: Span, round: int) -> float:
    """eta of an interval; one without an end is taken to be as long as the stream so far.

    >>> rate(Span(8, 15), round=9), rate(Span(8, 8), round=8)
    (0.35355339059327373, 0.5)
    """
    length = (span.end if span.end is not None else round) - span.start + 1
    return min(0.5, 1 / sqrt(length))


class SAOL(Scheme):
    """SAOL around any learner: geometric covering, multiplicative weights on each batch's error.

    Args:
        learner: any learner.
        cover: other intervals than the geometric ones, e.g. `MRI()` to tell cover and weights apart.
        random: draw one instance a round instead of averaging.
        fallback: play the plain learner while untrained instances hold most of the weight, as the
            draws in the paper's tables suggest its authors did.
        seed, classes, transactional: as for `Plain`.
    """

    def __init__(
        self,
        learner: object,
        *,
        cover: Cover | None = None,
        random: bool = False,
        fallback: bool = False,
        seed: int = 0,
        classes: Iterable[Hashable] | None = None,
        transactional: bool = True,
    ) -> None:
        cover = cover or Geometric(base=fallback)
        choice = SAOLWeights(random, fallback, seed)
        algorithm = Algorithm(learner, cover=cover, evidence=Unjudged(), choice=choice, seed=seed)
        super().__init__(algorithm, classes=classes, transactional=transactional)
