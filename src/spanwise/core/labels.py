"""Labels of any hashable type to class numbers 0..K-1, and back.

Classes are numbered in the order given, then in the order of their first appearance. A class that
first shows up late is a normal event. None, NaN and pandas' NA mean that the label is missing.
"""

from collections.abc import Hashable, Iterable
from typing import Any, Self

import numpy as np

from spanwise.errors import LabelError, SettingError
from spanwise.learner import Array

MISSING_TYPES = {"NAType", "NaTType"}
KINDS = {bool: "b", int: "i", float: "f", str: "U"}
"""The kind of array that labels of one type come back in; all others come back as objects."""


class Labels:
    """The classes known so far.

    >>> labels = Labels()
    >>> labels.number(["spam", None, "ham", "spam"])
    (array([0, 2, 3]), array([0, 1, 0]))
    >>> labels.names(np.array([1, 0])).tolist()
    ['ham', 'spam']
    """

    def __init__(self, classes: Iterable[Hashable] | None = None, *, fixed: bool = True) -> None:
        """Begin with `classes`; they are all there are if `fixed`, and may grow otherwise."""
        self.classes: list[Hashable] = [_plain(c) for c in classes] if classes is not None else []
        self.fixed = fixed and classes is not None
        self._number = {c: i for i, c in enumerate(self.classes)}
        if len(self._number) != len(self.classes):
            raise SettingError(f"classes={self.classes!r} names a class twice")

    def __len__(self) -> int:
        return len(self.classes)

    def number(self, y: Any) -> tuple[Array, Array]:
        """(positions of the rows that have a label, their class numbers); new classes are added."""
        y = flatten(y)
        labelled = np.flatnonzero(_present(y))
        if len(labelled) < len(y):
            y = _whole(y[labelled])
        if not len(labelled):
            raise LabelError("every label in this batch is missing: there is nothing to learn from")
        if y.dtype.kind in "OmM":
            return labelled, np.array([self._of(_bare(value)) for value in y])
        if y.dtype.kind in "iu" and self._are_numbers() and y.min() >= 0 and y.max() < len(self):
            return labelled, y.astype(np.int64)
        values, first, inverse = np.unique(y, return_index=True, return_inverse=True)
        numbers = np.empty(len(values), dtype=np.int64)
        for i in np.argsort(first, kind="stable"):
            numbers[i] = self._of(values[i].item())
        return labelled, numbers[inverse]

    def names(self, numbers: Array) -> Array:
        """The labels of class numbers, as an array of the labels' own type where they share one."""
        table = np.empty(len(self.classes), dtype=object)
        table[:] = self.classes
        types = {type(c) for c in self.classes}
        if len(types) == 1:
            kind = KINDS.get(*types)
            typed = np.array(self.classes) if kind else table
            table = typed if typed.dtype.kind == kind else table  # integers may be too large for one
        return table[numbers]

    def copy(self) -> Self:
        twin = type(self)()
        twin.classes, twin.fixed, twin._number = self.classes.copy(), self.fixed, self._number.copy()
        return twin

    def _are_numbers(self) -> bool:
        """Whether every class is its own number already."""
        return self.classes == list(range(len(self.classes)))

    def _of(self, label: Any) -> int:
        try:
            number = self._number.get(label)
        except TypeError:
            raise LabelError(
                f"a label of type {type(label).__name__} cannot be a class: labels must be hashable, "
                "such as strings, integers or tuples"
            ) from None
        if number is not None:
            return number
        if self.fixed:
            raise LabelError(
                f"label {label!r} is not among the classes given, {self.classes!r}. "
                "Add it there, or leave classes out to let them grow."
            )
        self._number[label] = len(self.classes)
        self.classes.append(label)
        return self._number[label]


def flatten(y: Any) -> Array:
    """Labels as a one-dimensional array that has not turned them into something else."""
    if hasattr(y, "detach"):
        y = y.detach().cpu().numpy()
    if not hasattr(y, "dtype"):
        if isinstance(y, str | bytes | dict) or not hasattr(y, "__len__"):
            raise LabelError(f"labels came as {type(y).__name__}: pass a list or an array with one label a row")
        if not hasattr(y, "columns"):
            values = np.empty(len(y), dtype=object)
            values[:] = list(y)
            y = values
    flat: Array = np.asarray(y)
    if flat.ndim != 1:
        raise LabelError(f"labels have shape {flat.shape}: one label a row is needed, so shape (n,)")
    if flat.dtype.kind in "cV":
        raise LabelError(f"labels of dtype {flat.dtype} cannot be classes: use strings, integers or other hashables")
    return flat


def labelled(y: Any) -> Array:
    """The positions of the rows that have a label, which may be none of them.

    >>> labelled(["spam", None, float("nan"), "ham"])
    array([0, 3])
    """
    return np.flatnonzero(_present(flatten(y)))


def _present(y: Array) -> Array:
    if y.dtype.kind in "iubUS":
        return np.ones(len(y), dtype=bool)
    if y.dtype.kind == "f":
        return ~np.isnan(y)
    if y.dtype.kind in "mM":
        return ~np.isnat(y)
    return np.array([not _is_missing(value) for value in y], dtype=bool)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in MISSING_TYPES:
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _plain(label: Any) -> Hashable:
    plain = _bare(label)
    if not isinstance(plain, Hashable):
        raise SettingError(f"class {label!r} is not hashable")
    return plain


def _bare(label: Any) -> Any:
    """numpy's scalars as Python's, so that equal labels look equal; dates finer than Python's stay as they are."""
    plain = label.item() if isinstance(label, np.generic) else label
    lost = isinstance(label, np.datetime64 | np.timedelta64) and isinstance(plain, int)
    return label if lost else plain


def _whole(y: Array) -> Array:
    """Whole numbers that only a NaN among them had turned into floats, as integers."""
    return y.astype(np.int64) if y.dtype.kind == "f" and (y == np.floor(y)).all() and (abs(y) < 2**53).all() else y
