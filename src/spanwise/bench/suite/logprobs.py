"""What a pool says, as float32 log-probabilities.

A recording keeps float32. Choices made on float64 logits could differ from those made on a recording, by ties and last
digits; so live runs are cast in the same way, before anybody chooses.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from spanwise.core import rows
from spanwise.core.choice import log_softmax
from spanwise.core.loop import Around, Loop, Within, copy_learner, engine_for
from spanwise.core.pool import complete
from spanwise.core.spans import Span
from spanwise.errors import SettingError
from spanwise.learner import Array

LEAST = -1e30
"""Stands for what is lower still, so that float32 can hold it."""


class LogProbs(Around):
    """A learner whose logits are float32 log-probabilities of all classes there will be.

    >>> from spanwise.adapters.functions import majority_class
    >>> one = LogProbs(majority_class(), classes=2)
    >>> one.logits([[0.0]]).round(3).tolist()
    [[-0.6930000185966492, -0.6930000185966492]]

    Classes that the learner leaves out are completed as in any pool: the row's least logit minus 1. Where the learner
    has its own way to run a pool, as stacked networks have, the pool is run in that way.

    Args:
        learner: any learner, or a scikit-learn or River classifier, or a torch module.
        classes: how many there will be; what the learner says of more is left out.
    """

    def __init__(self, learner: object, classes: int) -> None:
        if classes < 1:
            raise SettingError(f"classes={classes}: there must be one at least")
        super().__init__(learner)
        self.classes = classes

    def fresh(self, seed: int) -> Self:
        return type(self)(self.learner.fresh(seed), self.classes)

    def logits(self, X: Any) -> Array:
        """Of a learner on its own, which is the first there is; in a pool, errors name the start."""
        return log_probs(np.asarray(self.learner.logits(X)), rows.count(X), self.classes, Span(1))

    def copy(self) -> Self:
        return type(self)(copy_learner(self.learner), self.classes)

    def engine(self) -> "LogProbsLoop | None":
        """The same way to run many of them that the learner has; None where that is no kind of loop."""
        return LogProbsLoop(self) if isinstance(engine_for(self.learner), Loop) else None


class LogProbsLoop(Within):
    """Instances that are run by the loop of the learner within."""

    learner: LogProbs

    def learn(self, spans: Sequence[Span], X: Any, y: Array) -> None:
        self.within(spans).learn(spans, X, y)

    def logits(self, spans: Sequence[Span], X: Any) -> list[Array]:
        n, answers = rows.count(X), self.within(spans).logits(spans, X)
        return [log_probs(said, n, self.learner.classes, span) for span, said in zip(spans, answers, strict=True)]


def log_probs(logits: Array, n: int, classes: int, span: Span) -> Array:
    """Logits as float32 log-probabilities, (n, classes), in C order: sums over rows in another order differ by a bit.

    >>> log_probs(np.array([[0, -1e300]]), n=1, classes=2, span=Span(1)).tolist()
    [[0.0, -1.0000000150474662e+30]]
    """
    wide = complete(logits, n, classes, span).astype(np.float64, copy=False)
    return np.maximum(log_softmax(wide), LEAST).astype(np.float32, order="C")
