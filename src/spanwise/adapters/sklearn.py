"""Any scikit-learn classifier that learns batch by batch, as a learner.

Most of the work is scikit-learn's own `partial_fit` and `decision_function`; what is left to do is
what these do not: begin with one class, meet classes that come late, be copied quickly every
round, be saved without pickle, and say finite logits of exactly the classes seen.
"""

import logging
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Self

import numpy as np

from spanwise.errors import MissingExtraError, SnapshotError
from spanwise.learner import Array, below_the_seen

try:
    from sklearn.base import clone
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import Pipeline
    from sklearn.utils import get_tags
except ImportError as error:
    raise MissingExtraError("scikit-learn", "sklearn") from error

from spanwise.adapters.estimators import (
    check_learns_by_batch,
    check_same_settings,
    copy_estimator,
    dump_estimator,
    load_estimator,
    random_states,
    steps_of,
)
from spanwise.adapters.growth import grow
from spanwise.adapters.precision import in_one_precision

log = logging.getLogger("spanwise")

LARGE = 1e30
"""Stands for infinity where a logit must be finite; small enough for float32, and for sums of many."""


class SklearnLearner:
    """A scikit-learn classifier with `partial_fit`, or a pipeline that ends in one.

    >>> from sklearn.linear_model import SGDClassifier
    >>> learner = SklearnLearner(SGDClassifier(loss="log_loss")).fresh(seed=0)
    >>> learner.learn(np.array([[-1.0], [1.0]]), np.array([0, 1]))
    >>> learner.logits(np.array([[-2.0], [2.0]])).argmax(axis=1).tolist()
    [0, 1]

    The steps of a pipeline before its classifier must be stateless (HashingVectorizer, Normalizer)
    or have `partial_fit` themselves (StandardScaler); each batch updates them before it is transformed.

    A class that first appears late is added to linear models, naive Bayes and MLPClassifier with
    nothing forgotten (`growth.grow`). Any other classifier starts anew, with all classes, and says so
    in the log "spanwise": a log and not a warning, since a late class is a normal event, and where
    warnings are errors it would fail the round.

    Args:
        estimator: what to learn with; it is cloned, and never trained itself. Every `random_state`
            in it that is None or a number is set from the seed of each instance. Labels reach it as
            class numbers, so that is what the keys of `class_weight` mean.
    """

    seen: Array  # by class number; never changed in place, as copies share it
    begun: bool  # whether the classifier has trained

    def __init__(self, estimator: Any) -> None:
        check_learns_by_batch(estimator)
        self.template = clone(estimator)
        steps = steps_of(self.template)
        self.accepts_nan = all(get_tags(step).input_tags.allow_nan for step in steps)
        self.stateless = tuple(not get_tags(step).requires_fit for step in steps[:-1])
        self.random_states = random_states(self.template)
        self.seedless = not self.random_states
        self._begin(self._untrained(0))

    def fresh(self, seed: int) -> Self:
        twin = self._twin()
        twin._begin(self._untrained(seed))
        return twin

    def learn(self, X: Any, y: Array) -> None:
        counts = np.bincount(y)
        with np.errstate(divide="ignore", invalid="ignore"):  # naive Bayes takes the logarithm of counts of zero
            for step, stateless in zip(self.before, self.stateless, strict=True):
                X = (step if stateless else step.partial_fit(X, y)).transform(X)
            if len(counts) > len(self.seen) or not self.seen.all():
                self._meet(counts)
            if self.begun:
                self.classifier.partial_fit(in_one_precision(self.classifier, X), y)
            else:
                self.classifier.partial_fit(X, y, classes=np.arange(_room(self.seen)))
        self.begun = True
        _forget_history(self.classifier)

    def logits(self, X: Any) -> Array:
        classes = len(self.seen)
        if not classes:
            return np.zeros((X.shape[0] if hasattr(X, "shape") else len(X), 0))
        for step in self.before:
            X = step.transform(X)
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = below_the_seen(raw_scores(self.classifier, X)[:, :classes], self.seen)
        return scores if np.isfinite(scores).all() else finite(scores)

    def copy(self) -> Self:
        twin = self._twin()
        twin._hold(copy_estimator(self.steps))
        return twin

    @property
    def model(self) -> Any:
        """The estimator with what it has learned, as a pipeline where one was passed."""
        if not isinstance(self.template, Pipeline):
            return self.classifier
        learned = dict(zip(map(id, steps_of(self.template)), self.steps, strict=True))
        model = copy(self.template)
        model.steps = [(name, learned.get(id(step), step)) for name, step in self.template.steps]
        return model

    def state(self) -> Mapping[str, Any]:
        return {"estimator": dump_estimator(self.model), "seen": self.seen, "begun": self.begun}

    def restore(self, state: Mapping[str, Any]) -> None:
        model = load_estimator(state["estimator"], self.template)
        saved, passed = ([type(step) for step in steps_of(one)] for one in (model, self.template))
        if saved != passed:
            kinds = [" > ".join(kind.__name__ for kind in chain) for chain in (saved, passed)]
            raise SnapshotError(
                f"the snapshot holds {kinds[0]}, but {kinds[1]} was passed: pass the learner it was saved with"
            )
        check_same_settings(model, self.template)
        self._hold(steps_of(model))
        self.seen, self.begun = np.array(state["seen"], dtype=bool), bool(state["begun"])

    def _twin(self) -> Self:
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def _untrained(self, seed: int) -> Any:
        model = copy_estimator(self.template)
        if self.seedless:
            return model
        seeds = np.random.SeedSequence(seed).generate_state(len(self.random_states)).tolist()
        if self.random_states == ["random_state"]:  # set_params would look at every other setting first
            model.random_state = seeds[0]
            return model
        return model.set_params(**dict(zip(self.random_states, seeds, strict=True)))

    def _begin(self, model: Any) -> None:
        self._hold(steps_of(model))
        self.seen, self.begun = np.zeros(0, dtype=bool), False

    def _hold(self, steps: Sequence[Any]) -> None:
        self.steps = steps
        *self.before, self.classifier = steps

    def _meet(self, counts: Array) -> None:
        """Take note of the classes of a batch, and make room for those that are new."""
        seen = np.zeros(max(len(counts), len(self.seen)), dtype=bool)
        seen[: len(self.seen)] = self.seen
        if self.begun and _room(seen) > _room(self.seen) and not grow(self.classifier, _room(seen)):
            log.warning(
                "%s cannot take in a class that comes late, so this instance starts anew with all %d classes and "
                "forgets what it knew. SGDClassifier, naive Bayes and MLPClassifier can; so can yours, once "
                "spanwise.adapters.growth.grow knows how.",
                type(self.classifier).__name__,
                len(seen),
            )
            self._start_anew()
            seen[:] = False
        seen[: len(counts)] |= counts > 0
        self.seen = seen

    def _start_anew(self) -> None:
        """The classifier alone: what the steps before it know of the features is still true."""
        self._hold([*self.before, clone(self.classifier)])
        self.begun = False


def raw_scores(classifier: Any, X: Any) -> Array:
    """(n, classes), the best that the classifier offers: scores, logarithms of probabilities, or its bare answer."""
    if hasattr(classifier, "decision_function"):
        scores: Array = classifier.decision_function(X)
        # halves, so that softmax over the two gives the sigmoid of the one
        return scores if scores.ndim == 2 else np.stack([scores * -0.5, scores * 0.5], axis=1)
    if hasattr(classifier, "predict_joint_log_proba"):
        return np.asarray(classifier.predict_joint_log_proba(X))
    if hasattr(classifier, "predict_proba"):
        proba: Array = classifier.predict_proba(X)
        return np.asarray(np.log(np.maximum(proba, np.finfo(proba.dtype).eps)))
    return np.asarray(np.eye(len(classifier.classes_))[classifier.predict(X)])


def finite(scores: Array) -> Array:
    """Infinite scores made large, and NaN the lowest; the highest of each row becomes 0.

    >>> finite(np.array([[-np.inf, -3.0], [np.nan, np.nan]])).tolist()
    [[-1e+30, 0.0], [0.0, 0.0]]
    """
    scores = np.nan_to_num(scores, nan=-LARGE, posinf=LARGE, neginf=-LARGE)
    return np.asarray(scores - scores.max(axis=1, keepdims=True))


def _room(seen: Array) -> int:
    """Classes to lay out: scikit-learn's linear models refuse to begin with one, so a second is always there."""
    return max(2, len(seen))


def _forget_history(classifier: Any) -> None:
    """Let go of what a network keeps and never reads again, as every copy would carry it along.

    That is the loss of every round so far, and the generator that it makes from its seed in each round.
    """
    if isinstance(classifier, MLPClassifier):
        del classifier.loss_curve_[:-1]
        if isinstance(classifier.random_state, int):
            del classifier._random_state
