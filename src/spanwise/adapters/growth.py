"""A class that first appears in a later round, for classifiers that fix their classes at the first batch.

scikit-learn lays out one row (or column) of numbers a class when it first trains. Here those arrays
are made longer, so that nothing learned is lost. A grown classifier answers as before on every
point: a new class starts as the mean of the old ones, less 1, and a mean is never above the highest.

Naive Bayes needs less: counts of zero are exactly what it would hold, had it known the class all along.
"""

from functools import singledispatch
from typing import Any

import numpy as np
from sklearn import linear_model
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import LabelBinarizer

from spanwise.learner import Array

LINEAR: tuple[type[Any], ...] = (
    *(SGDClassifier, Perceptron),
    getattr(linear_model, "PassiveAggressiveClassifier", SGDClassifier),  # gone some day
)
LINEAR_ARRAYS = (
    *("coef_", "intercept_", "_standard_coef", "_standard_intercept"),
    *("_average_coef", "_average_intercept"),
)
"""Linear models that learn batch by batch, and the arrays that they hold."""


@singledispatch
def grow(classifier: Any, classes: int) -> bool:
    """Make room for `classes` classes in a classifier that has trained with fewer, at least 2.

    A classifier of your own learns to grow by `grow.register(YourClassifier)(your_function)`.

    Args:
        classifier: changed in place; its next `partial_fit` must find all in order.
        classes: how many there are now; they are numbered from 0.

    Returns:
        False where nobody knows how, and nothing has been changed.
    """
    return False


def _grow_linear(classifier: Any, classes: int) -> bool:
    """SGDClassifier, Perceptron, PassiveAggressiveClassifier: one row a class, but one row alone for two classes."""
    grown: dict[int, Array] = {}  # by address: averaged models hold the same numbers under two names
    for name in LINEAR_ARRAYS:
        old = vars(classifier).get(name)
        if old is None:
            continue
        address = old.__array_interface__["data"][0]
        if address not in grown:
            lower = 1.0 if name.endswith("intercept") or name == "intercept_" else 0.0
            grown[address] = _longer_rows(old, len(classifier.classes_), classes, lower * classifier.fit_intercept)
        setattr(classifier, name, grown[address])
    classifier.classes_ = np.arange(classes)
    return True


for linear in LINEAR:
    grow.register(linear, _grow_linear)


def _longer_rows(old: Array, known: int, classes: int, lower: float) -> Array:
    rows = old.reshape(1 if known == 2 else known, -1)
    rows = _both_sides(rows, known, axis=0)
    new = rows.mean(axis=0, keepdims=True) - np.asarray(lower, dtype=rows.dtype)
    rows = np.concatenate([rows, new.repeat(classes - known, axis=0)])
    return rows[:, 0].copy() if old.shape in ((known,), (1,)) else rows


def _both_sides(values: Array, known: int, axis: int, mirror: float = -1.0) -> Array:
    """Two classes share one score, high for the second; as two scores it is that and its mirror image."""
    if known > 2:
        return values
    return np.concatenate([np.asarray(mirror, dtype=values.dtype) * values, values], axis=axis)


@grow.register(MLPClassifier)
def _grow_network(classifier: Any, classes: int) -> bool:
    """A wider output layer; a sigmoid over two classes becomes the softmax that says the same."""
    known = len(classifier.classes_)
    for layers, lower in ((classifier.coefs_, 0.0), (classifier.intercepts_, 1.0)):
        layers[-1] = _wider_layer(layers[-1], known, classes, lower)
    for name, mirror in (("ms", -1.0), ("vs", 1.0), ("velocities", -1.0)):
        moments = vars(classifier._optimizer).get(name)
        if moments is not None:
            for last in (len(classifier.coefs_) - 1, -1):
                moments[last] = _wider_moments(moments[last], known, classes, mirror)
    classifier.classes_ = np.arange(classes)
    classifier._label_binarizer = LabelBinarizer().fit(classifier.classes_)
    classifier.n_outputs_, classifier.out_activation_ = classes, "softmax"
    return True


def _wider_layer(old: Array, known: int, classes: int, lower: float) -> Array:
    # softmax looks at the difference of two scores, so that each side takes half of the sigmoid's
    layer = _both_sides(old / 2 if known == 2 else old, known, axis=-1)
    new = layer.mean(axis=-1, keepdims=True) - np.asarray(lower, dtype=layer.dtype)
    return np.concatenate([layer, new.repeat(classes - known, axis=-1)], axis=-1)


def _wider_moments(old: Array, known: int, classes: int, mirror: float) -> Array:
    moments = _both_sides(old, known, axis=-1, mirror=mirror)
    return _padded(moments, classes - known, axis=moments.ndim - 1)


@grow.register(GaussianNB)
def _grow_gaussian(classifier: Any, classes: int) -> bool:
    if classifier.priors is not None:  # given for the classes that were; scikit-learn says so when it starts anew
        return False
    more = classes - len(classifier.classes_)
    for name in ("theta_", "var_", "class_count_", "class_prior_"):
        setattr(classifier, name, _padded(getattr(classifier, name), more))
    classifier.classes_ = np.arange(classes)
    return True


@grow.register(BernoulliNB)
@grow.register(CategoricalNB)
@grow.register(ComplementNB)
@grow.register(MultinomialNB)
def _grow_counts(classifier: Any, classes: int) -> bool:
    more = classes - len(classifier.classes_)
    classifier.class_count_ = _padded(classifier.class_count_, more)
    if isinstance(classifier, CategoricalNB):
        classifier.category_count_ = [_padded(counts, more) for counts in classifier.category_count_]
    else:
        classifier.feature_count_ = _padded(classifier.feature_count_, more)
    classifier.classes_ = np.arange(classes)
    return True


def _padded(old: Array, more: int, axis: int = 0) -> Array:
    return np.pad(old, [(0, more if i == axis else 0) for i in range(old.ndim)])
