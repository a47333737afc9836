"""How good were the answers? Four figures, as scikit-learn computes them, with numpy alone."""

import numpy as np

from spanwise.errors import DataError
from spanwise.learner import Array

LEAST = float(np.finfo(np.float64).eps)
"""A probability below this counts as this: one impossible event must not make all others worthless."""


def accuracy(y: Array, predicted: Array) -> float:
    """Share of rows that were right.

    >>> accuracy(np.array([0, 1, 1, 1]), np.array([0, 1, 1, 0]))
    0.75
    """
    _check(y, predicted)
    return float(np.mean(np.asarray(y) == np.asarray(predicted)))


def balanced_accuracy(y: Array, predicted: Array) -> float:
    """Mean over the classes in `y` of the share of their rows that were right.

    A class that was predicted but is not in `y` has no rows to be right about, so it does not count.

    >>> balanced_accuracy(np.array([0, 1, 1, 1]), np.array([0, 1, 1, 2]))
    0.833...
    """
    right, true, _ = _counts(y, predicted)
    present = true > 0
    return float(np.mean(right[present] / true[present]))


def macro_f1(y: Array, predicted: Array) -> float:
    """Mean of F1 over the classes in `y` or among the predictions; one in only one of the two has F1 = 0.

    >>> macro_f1(np.array([0, 1, 1, 1]), np.array([0, 1, 1, 2]))
    0.6
    """
    right, true, said = _counts(y, predicted)
    return float(np.mean(2 * right / (true + said)))


def log_loss(y: Array, proba: Array) -> float:
    """Mean of minus the logarithm of the probability given to what happened, in nats.

    >>> log_loss(np.array([0, 1]), np.array([[0.5, 0.5], [0.75, 0.25]]))
    1.0397...

    Args:
        y: class numbers. One without a column is a class the model had never seen: probability 0,
            which counts as `LEAST`, where scikit-learn refuses.
        proba: (n, classes); rows sum to 1.
    """
    _check(y, proba)
    y = np.asarray(y)
    known = y < proba.shape[1]
    given = np.zeros(len(y))
    given[known] = proba[known, y[known]]
    return float(-np.log(np.maximum(given, LEAST)).mean())


def _counts(y: Array, predicted: Array) -> tuple[Array, Array, Array]:
    """By class in `y` or `predicted`: rows right, rows of the class, rows said to be of it."""
    _check(y, predicted)
    classes, numbers = np.unique(np.concatenate([y, predicted]), return_inverse=True)
    true, said = numbers[: len(y)], numbers[len(y) :]
    right = true[true == said]
    by_class = [np.bincount(part, minlength=len(classes)) for part in (right, true, said)]
    return by_class[0], by_class[1], by_class[2]


def _check(y: Array, answers: Array) -> None:
    if len(y) != len(answers) or not len(y):
        raise DataError(f"{len(y)} labels and {len(answers)} answers: a score needs one of each a row, and a row")
