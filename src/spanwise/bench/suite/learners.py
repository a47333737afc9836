"""The learners of the suite, each made for the kind of data that a stream holds.

What differs between kinds is how rows become numbers: an array is scaled by what an instance has seen of it, words and
categories are hashed. The learners themselves are the same everywhere. scikit-learn and River are imported when one of
their learners is made.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, cast

from spanwise.bench.suite.sources import Kind
from spanwise.errors import SettingError, UnknownNameError
from spanwise.learner import Learner

READY = "spanwise.adapters.ready_files"
READY_SKLEARN = "spanwise.adapters.ready_sklearn"
READY_RIVER = "spanwise.adapters.ready_river"

ROWS = 50_000
"""Rows of a stream at most, for the learners of River: they take them one by one."""

COLUMNS = 500
"""And columns at most: learning, scoring and a copy a round, a tree did 7,000 rows a second of 8 columns, 25 of 784."""

TREES = 3
"""Of the forest: it did 590 to 1,310 rows a second of 8 to 33 columns, with River's default of 10 trees 160 to 370."""


def make(name: str, kind: Kind, classes: int) -> Learner:
    """A learner of the suite, untrained.

    Args:
        name: a row of `LEARNERS`.
        kind: what the stream holds.
        classes: how many there will be.
    """
    if name not in LEARNERS:
        raise UnknownNameError(f"there is no learner {name!r} in the suite: it must be one of {', '.join(LEARNERS)}")
    return LEARNERS[name](kind, classes)


def suits(name: str, kind: Kind, rows: int, columns: int = 1) -> bool:
    """Whether the suite has a learner learn a stream.

    >>> suits("linear", "text", rows=400_000), suits("adaptive-forest", "text", rows=1000)
    (True, False)
    >>> suits("adaptive-forest", "array", rows=45_312, columns=8)
    True

    Args:
        name: a row of `LEARNERS`.
        kind: what the stream holds.
        rows: of the whole stream.
        columns: of an array.
    """
    return name not in RIVER or (kind == "array" and rows <= ROWS and columns <= COLUMNS)


def linear(kind: Kind, classes: int) -> Learner:
    """Logistic regression by stochastic gradient descent."""
    if kind == "array":
        return cast(Learner, import_module(READY_SKLEARN).scaled_linear())
    ready = import_module(READY)
    return cast(Learner, ready.words_linear(classes) if kind == "text" else ready.columns_linear(classes=classes))


def mlp(rate: float, kind: Kind, classes: int) -> Learner:
    """A small neural network trained with Adam, one pass over each batch.

    Args:
        rate: of learning.
        kind: what the stream holds.
        classes: makes no difference, as for all but the linear learner.
    """
    network = import_module(READY_SKLEARN).MLPClassifier((32,), batch_size=32, learning_rate_init=rate)
    return on_dense_rows(network, kind)


def naive_bayes(kind: Kind, classes: int) -> Learner:
    """Gaussian naive Bayes."""
    return on_dense_rows(import_module(READY_SKLEARN).GaussianNB(), kind)


def hoeffding_tree(kind: Kind, classes: int) -> Learner:
    """River's decision tree that grows as data comes in."""
    check_array(kind)
    return cast(Learner, import_module(READY_RIVER).hoeffding_tree())


def adaptive_forest(kind: Kind, classes: int) -> Learner:
    """River's adaptive random forest, whose trees are replaced where they see drift."""
    check_array(kind)
    wrap = import_module(READY_RIVER).RiverLearner
    return cast(Learner, wrap(import_module("river.forest").ARFClassifier(n_models=TREES)))


def on_dense_rows(estimator: Any, kind: Kind) -> Learner:
    """A scikit-learn classifier, made to take this kind of data as an array that is not sparse."""
    if kind == "array":
        sklearn = import_module(READY_SKLEARN)
        return cast(Learner, sklearn.SklearnLearner(sklearn.make_pipeline(sklearn.StandardScaler(), estimator)))
    ready = import_module(READY)
    return cast(Learner, ready.for_text(estimator) if kind == "text" else ready.for_columns(estimator))


def check_array(kind: Kind) -> None:
    if kind != "array":
        raise SettingError(f"the suite has River's learners learn arrays alone, and this is of kind {kind!r}")


LEARNERS: dict[str, Callable[[Kind, int], Learner]] = {
    "linear": linear,
    "mlp-fast": partial(mlp, 0.01),
    "mlp-slow": partial(mlp, 0.001),
    "naive-bayes": naive_bayes,
    "hoeffding-tree": hoeffding_tree,
    "adaptive-forest": adaptive_forest,
}

RIVER = frozenset({"hoeffding-tree", "adaptive-forest"})
SEEDLESS = frozenset({"naive-bayes", "hoeffding-tree"})
"""Copies of these are all the same, so that an ensemble of them is one of them."""

PEER = "adaptive-forest"
"""It adapts by itself, and so is reported apart: is it better wrapped than alone?"""

SEEDS = {name: 2 if name == PEER else 5 for name in LEARNERS}
"""How many, from 0; the forest is slow. Of learners without randomness, seeds differ in what AWE holds back alone."""
