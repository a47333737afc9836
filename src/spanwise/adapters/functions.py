"""Three plain functions as a learner, for a model that lives in no library.

The functions pass a state along: whatever `learn` returns is what `logits` is asked with.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Self

import numpy as np

from spanwise.learner import Array


class FunctionLearner:
    """A learner made of three functions and the state they pass along.

    Args:
        fresh: seed -> state, untrained.
        learn: (state, X, y) -> state; it may change the state it was given.
        logits: (state, X) -> (n, classes); narrower than the classes known is fine.
        accepts_nan: whether NaN and infinite features are welcome.
        seedless: whether all fresh states are the same, whatever the seed, so that one copy is as good as many.
    """

    def __init__(
        self,
        fresh: Callable[[int], Any],
        learn: Callable[[Any, Any, Array], Any],
        logits: Callable[[Any, Any], Array],
        *,
        accepts_nan: bool = False,
        seedless: bool = False,
    ) -> None:
        self.functions = (fresh, learn, logits)
        self.accepts_nan, self.seedless = accepts_nan, seedless
        self.values: Any = fresh(0)

    def fresh(self, seed: int) -> Self:
        twin = self._twin()
        twin.values = self.functions[0](seed)
        return twin

    def learn(self, X: Any, y: Array) -> None:
        self.values = self.functions[1](self.values, X, y)

    def logits(self, X: Any) -> Array:
        return self.functions[2](self.values, X)

    def copy(self) -> Self:
        twin = self._twin()
        twin.values = deepcopy(self.values)
        return twin

    def state(self) -> dict[str, Any]:
        return {"values": self.values}

    def restore(self, state: Any) -> None:
        self.values = state["values"]

    def _twin(self) -> Self:
        twin = type(self).__new__(type(self))
        twin.functions, twin.accepts_nan, twin.seedless = self.functions, self.accepts_nan, self.seedless
        return twin


def majority_class() -> FunctionLearner:
    """The class seen most often, whatever the features: the simplest learner there is.

    >>> learner = majority_class()
    >>> learner.learn(None, np.array([0, 1, 1]))
    >>> learner.logits(["any", "thing"]).tolist()
    [[1.0, 2.0], [1.0, 2.0]]
    """

    def count(counts: Array, X: Any, y: Array) -> Array:
        total = np.bincount(y, minlength=len(counts)).astype(float)
        total[: len(counts)] += counts
        return total

    return FunctionLearner(
        lambda seed: np.zeros(0), count, lambda counts, X: np.tile(counts, (len(X), 1)), seedless=True
    )
