"""Batches of another precision than the first, for classifiers that refuse them.

scikit-learn's SGD lays out its weights in the precision of its first batch, float32 or float64, and then refuses the
other. Nothing is rounded here: float32 that comes late is made float64, and weights of float32 are when float64 comes.
"""

from typing import Any

import numpy as np

from spanwise.adapters.growth import LINEAR, LINEAR_ARRAYS
from spanwise.learner import Array


def in_one_precision(classifier: Any, X: Any) -> Any:
    """The features as a classifier that has trained can go on with, its weights widened where they must be.

    Args:
        classifier: may be changed in place.
        X: an array, sparse matrix or DataFrame; anything else is returned as it is.
    """
    if not isinstance(classifier, LINEAR):
        return X
    kind = precision(X)
    if kind is None or kind == classifier.coef_.dtype:
        return X
    if kind == np.float32:
        return X.astype(np.float64)
    _widen(classifier)
    return X


def precision(X: Any) -> np.dtype[Any] | None:
    """What scikit-learn trains on such features in: float32 as it is, all else as float64; None where nobody knows.

    >>> precision(np.zeros((2, 3), dtype="float32")), precision(np.zeros((2, 3), dtype="int8")), precision([[1.0]])
    (dtype('float32'), dtype('float64'), None)
    """
    kinds = [X.dtype] if hasattr(X, "dtype") else list(getattr(X, "dtypes", ()))
    if not kinds or not all(isinstance(kind, np.dtype) for kind in kinds):
        return None
    return np.dtype(np.float32 if np.result_type(*kinds) == np.float32 else np.float64)


def _widen(classifier: Any) -> None:
    wide: dict[int, Array] = {}  # by identity: averaged models hold the same numbers under two names
    for name in LINEAR_ARRAYS:
        old = vars(classifier).get(name)
        if old is not None:
            setattr(classifier, name, wide.setdefault(id(old), old.astype(np.float64)))
