"""What a user would have instead: the learner alone, and an ensemble of learners alone."""

from collections.abc import Hashable, Iterable

from spanwise.core.awe import Algorithm
from spanwise.core.evidence import Unjudged
from spanwise.core.scheme import Scheme
from spanwise.core.split import Split
from spanwise.schemes.choices import First, Uniform
from spanwise.schemes.covers import Copies


class Plain(Scheme):
    """The learner alone, on all data. A scheme that falls back to start 1 equals it bit for bit.

    Args:
        learner: any learner.
        train_fraction: below 1, the same rows that `AWE` with this seed and fraction trains on.
        split: your own (n, rng) -> (training positions, hold-out positions).
        seed: one seed makes the run repeatable.
        classes: all classes, where they are known.
        transactional: train a copy, so that a failed round changes nothing.
    """

    def __init__(
        self,
        learner: object,
        *,
        train_fraction: float = 1.0,
        split: Split | None = None,
        seed: int = 0,
        classes: Iterable[Hashable] | None = None,
        transactional: bool = True,
    ) -> None:
        evidence = Unjudged(train_fraction, split)
        algorithm = Algorithm(learner, cover=Copies(1), evidence=evidence, choice=First(), seed=seed)
        super().__init__(algorithm, classes=classes, transactional=transactional)


class PlainEnsemble(Scheme):
    """Independent copies of the plain learner on all data, their probabilities averaged.

    What averaging alone gains, any claim of a cleverer scheme has to beat at the same size. The
    first copy is `Plain`; the others differ by their seed, so a learner without randomness gains nothing.

    Args:
        learner: any learner.
        copies: how many.
        seed, classes, transactional: as for `Plain`.
    """

    def __init__(
        self,
        learner: object,
        *,
        copies: int = 6,
        seed: int = 0,
        classes: Iterable[Hashable] | None = None,
        transactional: bool = True,
    ) -> None:
        algorithm = Algorithm(learner, cover=Copies(copies), evidence=Unjudged(), choice=Uniform(), seed=seed)
        super().__init__(algorithm, classes=classes, transactional=transactional)
