"""Any River classifier as a learner: batches in, one dict a row out.

River grows its own classes and features, so little is left to do: rows become dicts with string
keys (or one frame, where the model learns whole batches), class numbers are its labels, and
logits are the logarithms of its probabilities.
"""

import pickle
from collections.abc import Mapping, Sequence
from copy import deepcopy
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Self

import numpy as np

from spanwise.errors import LearnerError, MissingExtraError
from spanwise.learner import Array, below_the_seen

try:
    from river import base, compose
    from river.active.base import ActiveLearningClassifier
    from river.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
except ImportError as error:
    raise MissingExtraError("river", "river") from error

from spanwise.adapters.river_saving import dump_model, load_model

LEAST = 1e-12
"""The least probability that counts: its logarithm is the least logit of a class that was seen."""

ROW_BY_ROW = (BernoulliNB, ComplementNB, MultinomialNB)
"""Their learn_many turns labels into strings and refuses dense frames, so they are never given a batch."""


class RiverLearner:
    """A River classifier, or a pipeline that ends in one.

    >>> from river.naive_bayes import GaussianNB
    >>> learner = RiverLearner(GaussianNB()).fresh(seed=0)
    >>> learner.learn(np.array([[0.0], [0.2], [5.0], [5.2]]), np.array([0, 0, 1, 1]))
    >>> learner.logits(np.array([[0.1], [5.1]])).argmax(axis=1).tolist()
    [0, 1]

    Whole batches go to `learn_many` where the model and every step before it has one and pandas is
    installed; River's linear models then take one step along the mean gradient a batch. Lists of
    dicts are learned row by row, as their features may differ from row to row.

    Saved without pickle: LogisticRegression (scaled, in OneVsRest), MultinomialNB, BernoulliNB,
    HoeffdingTree and bags of them. Not: GaussianNB, SoftmaxRegression, KNN, ARF and whatever uses ADWIN.

    Args:
        model: what to learn with; it is cloned, and never trained itself.
        by_row: learn row by row even where the model has a `learn_many`: slower, but a linear model
            then takes one step a row instead of one a batch, which is often much better.
    """

    accepts_nan = False

    def __init__(self, model: Any, *, by_row: bool = False) -> None:
        check_classifier(model)
        self.template = model.clone()
        self.model = self.template.clone()
        self.seedless = not _takes_seed(model._get_params())
        self.batches = not by_row and _takes_batches(model) and find_spec("pandas") is not None
        self.seen: set[int] = set()

    def fresh(self, seed: int) -> Self:
        return self._twin(self.template.clone(_seeded(self.template._get_params(), seed)), set())

    def learn(self, X: Any, y: Array) -> None:
        numbers = np.unique(y).tolist()
        if not self.model._multiclass:
            self._check_binary(numbers)
            y = y.astype(bool)
        if self.batches and not isinstance(X, list | tuple):
            frame = _frame(X)
            self.model.learn_many(frame, import_module("pandas").Series(y, index=frame.index))
        else:
            for row, label in zip(_records(X), y.tolist(), strict=True):
                self.model.learn_one(row, label)
        self.seen.update(numbers)

    def logits(self, X: Any) -> Array:
        rows = _records(X) if isinstance(X, list | tuple) or not self.batches else _frame(X)
        if not self.seen:
            return np.zeros((len(rows), 0))
        seen = np.zeros(1 + max(self.seen), dtype=bool)
        seen[list(self.seen)] = True
        told = self._told_of_rows(rows, len(seen)) if isinstance(rows, list | tuple) else self._told(rows, len(seen))
        return below_the_seen(np.log(np.where(told > LEAST, told, LEAST)), seen)

    def copy(self) -> Self:
        """Through pickle, which is two to six times faster than deepcopy for all but the smallest models."""
        try:
            model = pickle.loads(pickle.dumps(self.model, protocol=5))
        except (pickle.PicklingError, AttributeError, TypeError):  # a function of the user's own in a pipeline
            model = deepcopy(self.model)
        return self._twin(model, set(self.seen))

    def state(self) -> Mapping[str, Any]:
        return {"model": dump_model(self.model, self.template), "seen": sorted(self.seen)}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.model, self.seen = load_model(state["model"], self.template), set(state["seen"])

    def _told(self, frame: Any, classes: int) -> Array:
        """Probabilities of a whole frame, (n, classes)."""
        try:
            table = self.model.predict_proba_many(frame)
        except NotImplementedError:
            return self._told_of_rows(_records(frame), classes)
        told = np.zeros((len(frame), classes))
        for column, label in enumerate(table.columns):
            if int(label) < classes:
                told[:, int(label)] = table.iloc[:, column]
        return told

    def _told_of_rows(self, rows: Sequence[Any], classes: int) -> Array:
        """Probabilities row by row; all on one class where the model only names it."""
        told = np.zeros((len(rows), classes))
        for i, row in enumerate(rows):
            try:
                of_row = self.model.predict_proba_one(row)
            except NotImplementedError:
                of_row = {self.model.predict_one(row): 1.0}
            for label, probability in of_row.items():
                if label is not None and label < classes:
                    told[i, int(label)] = probability
        return told

    def _check_binary(self, numbers: Sequence[int]) -> None:
        if numbers[-1] > 1:
            raise LearnerError(
                f"{self.model} takes two classes, and class number {numbers[-1]} is a third one: "
                "wrap it in river.multiclass.OneVsRestClassifier, or pass a classifier for many classes"
            )

    def _twin(self, model: Any, seen: set[int]) -> Self:
        twin = type(self).__new__(type(self))
        twin.template, twin.batches, twin.seedless = self.template, self.batches, self.seedless
        twin.model, twin.seen = model, seen
        return twin


def check_classifier(model: object) -> None:
    """Refuse what does not put one label on a row."""
    if isinstance(model, base.Classifier) and not isinstance(
        model, type | ActiveLearningClassifier | base.MultiLabelClassifier
    ):
        return
    raise LearnerError(
        f"{model} is no River classifier that gives each row one label: pass an instance of one, "
        "or a pipeline that ends in one"
    )


def _takes_seed(value: Any) -> bool:
    """Whether there is a `seed` anywhere in River's description of a model's parameters."""
    if isinstance(value, dict):
        return "seed" in value or any(_takes_seed(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(_takes_seed(item) for item in value)
    return isinstance(value, base.Estimator) and _takes_seed(value._get_params())


def _seeded(value: Any, seed: int) -> Any:
    """River's own description of a model's parameters, with every `seed` in it set."""
    if isinstance(value, dict):
        return {name: seed if name == "seed" else _seeded(item, seed) for name, item in value.items()}
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], type):
        return value[0], _seeded(value[1], seed)
    if isinstance(value, list):
        return [_seeded(item, seed) for item in value]
    return value.clone(_seeded(value._get_params(), seed)) if isinstance(value, base.Estimator) else value


def _takes_batches(model: Any) -> bool:
    """Whether `learn_many` works all the way through."""
    if isinstance(model, compose.Pipeline):
        *steps, model = model.steps.values()
        if not all(map(_transforms_batches, steps)):
            return False
    inner = getattr(model, "_wrapped_model", None)
    able = hasattr(model, "learn_many") and hasattr(model, "predict_proba_many") and not isinstance(model, ROW_BY_ROW)
    return able and (inner is None or _takes_batches(inner))


def _transforms_batches(step: Any) -> bool:
    if isinstance(step, compose.Pipeline):
        return all(map(_transforms_batches, step.steps.values()))
    if isinstance(step, compose.TransformerUnion):
        return all(map(_transforms_batches, step.transformers.values()))
    batched = isinstance(step, base.MiniBatchTransformer | base.MiniBatchSupervisedTransformer)
    return batched and not isinstance(step, compose.FuncTransformer)  # a function of dicts knows no frames


def _frame(X: Any) -> Any:
    """`X` as a DataFrame whose columns have strings for names."""
    if hasattr(X, "iloc"):
        return X.set_axis([str(name) for name in X.columns], axis=1)
    pandas = import_module("pandas")
    if isinstance(X, Mapping):
        return pandas.DataFrame({str(name): np.asarray(column) for name, column in X.items()})
    values = _dense(X)
    return pandas.DataFrame(values, columns=_names(values))


def _records(X: Any) -> Sequence[Any]:
    """`X` as one dict a row; a list of dicts (or of texts) as it is."""
    if isinstance(X, list | tuple) and not (len(X) and isinstance(X[0], list | tuple | np.ndarray)):
        return X
    if hasattr(X, "iloc"):
        X = {name: X[name] for name in X.columns}
    if isinstance(X, Mapping):
        names = [str(name) for name in X]
        columns = [np.asarray(column).tolist() for column in X.values()]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    values = _dense(X)
    if values.ndim == 1:
        return list(values.tolist())
    names = _names(values)
    return [dict(zip(names, row, strict=True)) for row in values.tolist()]


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)


def _names(values: Array) -> list[str]:
    return [str(column) for column in range(values.shape[1])]
