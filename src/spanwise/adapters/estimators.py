"""What scikit-learn leaves to others: telling whether an estimator learns batch by batch, copying a trained one
quickly, and writing it down without pickle.

A scheme copies all of its instances before every round, and `deepcopy` looks long at each of the
thirty settings of an estimator; most are numbers and strings that need no copy at all.
"""

import sys
from copy import deepcopy
from functools import cache
from importlib import import_module
from types import NoneType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from spanwise.errors import LearnerError, MissingExtraError, SettingError, SnapshotError

ATOMS = frozenset({NoneType, bool, int, float, complex, str, bytes, type, np.float64, np.float32, np.int64, np.bool_})
"""Types whose values never change, so that a copy may share them."""

SETTINGS = (NoneType, bool, int, float, str, tuple)
"""Types of settings that can be compared."""

LIBRARIES = frozenset({"sklearn", "numpy", "scipy"})
"""Whose classes a snapshot may name; they are what trained estimators are made of."""


NEEDS_ALL_DATA = {"early_stopping": True, "class_weight": "balanced"}
"""Settings that scikit-learn cannot honour batch by batch."""


def check_learns_by_batch(estimator: Any) -> None:
    """Refuse what is no classifier, and what would need all data at once, by the name of the step."""
    *before, (name, classifier) = zip(_names(estimator), steps_of(estimator), strict=True)
    if not is_classifier(classifier):
        raise LearnerError(f"{name} is no classifier; spanwise learns classes: pass one such as SGDClassifier")
    if not hasattr(classifier, "partial_fit"):
        raise LearnerError(
            f"{name} cannot learn batch by batch: it has no partial_fit. Use SGDClassifier, a naive Bayes, "
            "MLPClassifier with solver='adam', or a classifier of River"
        )
    for setting, value in NEEDS_ALL_DATA.items():
        if getattr(classifier, setting, None) == value:
            raise SettingError(f"{name} has {setting}={value!r}, which needs all data at once: leave it out")
    for name, step in before:
        if get_tags(step).requires_fit and not hasattr(step, "partial_fit"):
            raise LearnerError(
                f"{name} cannot learn batch by batch: it is neither stateless nor has partial_fit. Use a step that "
                "is, such as HashingVectorizer for text, or StandardScaler, MinMaxScaler or IncrementalPCA"
            )


def steps_of(estimator: Any) -> list[Any]:
    """The steps that do something, the classifier last."""
    if not isinstance(estimator, Pipeline):
        return [estimator]
    return [step for _, step in estimator.steps if step is not None and step != "passthrough"]


def _names(estimator: Any) -> list[str]:
    """What to call those steps in a message."""
    if not isinstance(estimator, Pipeline):
        return [type(estimator).__name__]
    names = {id(step): name for name, step in estimator.steps}
    return [f"step {names[id(step)]!r} of the pipeline ({type(step).__name__})" for step in steps_of(estimator)]


def random_states(estimator: Any) -> list[str]:
    """The names of the parameters that a seed decides; a generator of the user's own is left as it is."""
    params = estimator.get_params(deep=True)
    names = [name for name in params if name == "random_state" or name.endswith("__random_state")]
    return [name for name in sorted(names) if params[name] is None or isinstance(params[name], int | np.integer)]


def copy_estimator(estimator: Any) -> Any:
    """A twin that shares no state with `estimator`; what was one array under two names stays one."""
    return _copy(estimator, {})


def _copy(value: Any, memo: dict[int, Any]) -> Any:
    key = id(value)
    if key in memo:
        return memo[key]
    kind: Any = type(value)
    if kind is np.ndarray and not value.dtype.hasobject:
        memo[key] = twin = value.copy(order="K")
    elif kind is list or kind is tuple:
        memo[key] = twin = kind([item if type(item) in ATOMS else _copy(item, memo) for item in value])
    elif _is_plain(kind):
        memo[key] = twin = object.__new__(kind)
        twin.__dict__.update(
            {name: item if type(item) in ATOMS else _copy(item, memo) for name, item in value.__dict__.items()}
        )
    else:
        twin = deepcopy(value, memo)
    return twin


@cache
def _is_plain(kind: Any) -> bool:
    """Whether all there is to such an object is its `__dict__`, as it has no way of its own to be made or copied."""
    if kind.__new__ is not object.__new__ or kind.__basicsize__ != BaseEstimator.__basicsize__:
        return False  # it holds something that only its own code, in C, can see
    if getattr(kind, "__slots__", ()) or not kind.__dictoffset__:
        return False
    ordinary = BaseEstimator if issubclass(kind, BaseEstimator) else object
    ways = ("__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__")
    return all(getattr(kind, way, None) is getattr(ordinary, way, None) for way in ways)


def dump_estimator(estimator: Any) -> bytes:
    """The estimator as skops writes it, or a `SnapshotError` that says why it cannot be read back."""
    io = _skops()
    name = type(estimator).__name__
    try:
        data: bytes = io.dumps(estimator)
        lost = [kind for kind in io.get_untrusted_types(data=data) if _found(kind) is None]
    except Exception as error:
        raise SnapshotError(f"skops cannot write this {name}: {type(error).__name__}: {error}") from error
    if lost:
        raise SnapshotError(f"this {name} holds {', '.join(lost)}, which cannot be found again by its name")
    return data


def load_estimator(data: bytes, template: Any) -> Any:
    """The estimator that was written down, made of nothing but scikit-learn's classes and what `template` holds."""
    io = _skops()
    try:
        own = set(io.get_untrusted_types(data=io.dumps(template)))
        named = io.get_untrusted_types(data=data)
        strange = [kind for kind in named if kind not in own and not _is_library_class(kind)]
        if strange:
            raise SnapshotError(
                f"the snapshot names {', '.join(strange)}, which is neither part of scikit-learn nor of the "
                f"{type(template).__name__} that was passed: pass the learner it was saved with"
            )
        return io.loads(data, trusted=named)
    except SnapshotError:
        raise
    except Exception as error:
        raise SnapshotError(
            f"the estimator in this snapshot cannot be read: {type(error).__name__}: {error}"
        ) from error


def check_same_settings(saved: Any, template: Any) -> None:
    """Refuse a template whose settings differ: new instances would not be what the old ones are."""
    old, new = (
        {name: value for name, value in one.get_params().items() if isinstance(value, SETTINGS)}
        for one in (saved, template)
    )
    names = [name for name in sorted(old.keys() & new.keys()) if not name.endswith("random_state")]
    other = [f"{name} was {old[name]!r} and is {new[name]!r}" for name in names if old[name] != new[name]]
    if other:
        raise SnapshotError(f"the learner has other settings than the saved one: {', '.join(other)}")


def _skops() -> Any:
    """skops, loaded when it is first needed: it takes seconds, as it brings along torch where that is installed."""
    try:
        return import_module("skops.io")
    except ImportError as error:
        raise MissingExtraError("skops", "sklearn") from error


def _is_library_class(name: str) -> bool:
    """Classes only: a function, were it numpy's own, could be made to run what the file says."""
    return name.partition(".")[0] in LIBRARIES and isinstance(_found(name), type)


def _found(name: str) -> Any:
    """What skops calls `name`, if it is loaded already; a file must not decide what gets imported."""
    module, _, attribute = name.rpartition(".")
    return getattr(sys.modules.get(module), attribute, None)
