"""The paper's ablation: a majority vote of the pool, nobody judged."""

from collections.abc import Hashable, Iterable

from spanwise.core.awe import Algorithm, cover_for
from spanwise.core.evidence import Unjudged
from spanwise.core.scheme import Scheme
from spanwise.core.split import Split
from spanwise.schemes.choices import Majority


class Vote(Scheme):
    """The class that most instances of the pool predict.

    Nothing has to be held out for a vote, so it trains on all rows unless told otherwise.

    Args:
        learner: any learner.
        horizon, literal: as for `AWE`; the literal pool's untrained instances vote too.
        train_fraction, split: the paper's comparison trains on AWE's folds, 0.9.
        seed, classes, transactional: as for `Plain`.
    """

    def __init__(
        self,
        learner: object,
        *,
        horizon: int | None = None,
        literal: bool = False,
        train_fraction: float = 1.0,
        split: Split | None = None,
        seed: int = 0,
        classes: Iterable[Hashable] | None = None,
        transactional: bool = True,
    ) -> None:
        algorithm = Algorithm(
            learner,
            cover=cover_for(horizon, literal),
            evidence=Unjudged(train_fraction, split),
            choice=Majority(untrained=literal),
            seed=seed,
        )
        super().__init__(algorithm, classes=classes, transactional=transactional)
