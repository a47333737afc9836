"""The paper's ablation: AWE with one resolution of its pool only."""

from collections.abc import Hashable, Iterable

from spanwise.core.awe import Algorithm
from spanwise.core.evidence import HoldOut
from spanwise.core.refine import Doubling
from spanwise.core.scheme import Scheme
from spanwise.core.split import Split
from spanwise.schemes.covers import OneResolution


class SingleResolution(Scheme):
    """AWE whose spans all have one length, which somebody has to guess.

    Args:
        learner: any learner.
        length: rounds of an R span, even; B spans are twice as long.
        train_fraction, split, delta: as for `AWE`.
        seed, classes, transactional: as for `Plain`.
    """

    def __init__(
        self,
        learner: object,
        *,
        length: int = 8,
        train_fraction: float = 0.9,
        split: Split | None = None,
        delta: float = 0.1,
        seed: int = 0,
        classes: Iterable[Hashable] | None = None,
        transactional: bool = True,
    ) -> None:
        algorithm = Algorithm(
            learner,
            cover=OneResolution(length),
            evidence=HoldOut(1 - train_fraction, split=split),
            window=Doubling(delta),
            seed=seed,
        )
        super().__init__(algorithm, classes=classes, transactional=transactional)
