"""The one contract of the library, and the table that adapts other people's objects to it.

A learner is anything with three methods. Everything else in spanwise stands on these three:
it never looks inside a learner, which is what "black box" means in the paper.
"""

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Protocol, Self, cast, runtime_checkable

import numpy as np
import numpy.typing as npt

from spanwise.errors import LearnerError

Array = npt.NDArray[Any]

FOREIGN = {
    "sklearn.base:BaseEstimator": "spanwise.adapters.sklearn:SklearnLearner",
    "river.base:Estimator": "spanwise.adapters.river:RiverLearner",
    "torch.nn:Module": "spanwise.deep.learner:TorchLearner",
}
"""Foreign base class -> the adapter that makes a learner of it."""


@runtime_checkable
class Learner(Protocol):
    """Anything that learns from labelled batches, one after another.

    `y` holds class numbers 0..K-1. `logits` may be narrower than K, as an instance that
    started before a class appeared must be: what it says of the classes it leaves out is
    the row's least logit minus 1. It may be wider, as a network made for more classes than
    have appeared is: what it says of those is left out. Optional attributes: `accepts_nan = True` when NaN and
    infinite features are welcome; `seedless = True` when all fresh learners are the same, whatever
    the seed; `copy()` when there is a faster way than `deepcopy`;
    `engine()` when the learner knows a better way to run many of itself than a loop.
    """

    def fresh(self, seed: int) -> Self:
        """An untrained learner with the same settings that shares nothing with this one."""
        ...

    def learn(self, X: Any, y: Array) -> None:
        """Learn one training fold."""
        ...

    def logits(self, X: Any) -> Array:
        """(n, classes), finite; the highest is the prediction."""
        ...


@runtime_checkable
class Stateful(Protocol):
    """A learner that can be saved without pickle."""

    def state(self) -> Mapping[str, Any]:
        """All that was learned, as arrays, bytes, numbers, strings, lists and dicts."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become the learner whose `state()` this was."""
        ...


def adapt(thing: object) -> Learner:
    """`thing` as a learner: itself if it is one, else through the table `FOREIGN`.

    A library that has not been imported cannot have made `thing`, so nothing is imported to find out.
    """
    if isinstance(thing, Learner) and not isinstance(thing, type):
        return thing
    for base, adapter in FOREIGN.items():
        module, name = base.split(":")
        if module in sys.modules and isinstance(thing, getattr(sys.modules[module], name)):
            adapter_module, adapter_name = adapter.split(":")
            return cast(Learner, getattr(import_module(adapter_module), adapter_name)(thing))
    raise LearnerError(
        f"{thing!r} is not a learner: it lacks {_missing(thing)}, and it is no scikit-learn or River "
        f"classifier or torch module. Pass an instance with fresh(seed), learn(X, y) and logits(X)."
    )


def _missing(thing: object) -> str:
    methods = [m for m in ("fresh", "learn", "logits") if not callable(getattr(thing, m, None))]
    return ", ".join(methods) or "an instance (this is a class)"


def below_the_seen(logits: Array, seen: Array) -> Array:
    """Put the classes an instance has never seen one below the least logit of those it has.

    >>> below_the_seen(np.array([[2.0, 9.0, -1.0]]), np.array([True, False, True]))
    array([[ 2., -2., -1.]])
    """
    if seen.all():
        return logits
    if not seen.any():
        return np.zeros_like(logits)
    return np.where(seen, logits, logits[:, seen].min(axis=1, keepdims=True) - 1.0)
