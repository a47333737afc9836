"""Texts, categories and numbers as rows of numbers, with nothing to learn.

A word or a category is put into one of a fixed number of columns by its hash, so one never seen
before has its place as any other, and every round gives rows of one width. Whatever has to be learned
about the numbers (their scale, what to put where one is missing) is left to the instance: see `missing`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from types import NoneType
from typing import Any

import numpy as np

from spanwise.adapters.missing import Table, absent
from spanwise.errors import FeatureError, MissingExtraError, SettingError
from spanwise.learner import Array

try:
    from scipy import sparse
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.utils import murmurhash3_32
except ImportError as error:
    raise MissingExtraError("scikit-learn", "sklearn") from error

WORDS = 4.0
"""Length of the words of a text beside other columns, in sparse rows."""

PLACES = 8
"""Columns that a word is counted in where rows are narrow and dense."""


@dataclass(frozen=True)
class Words:
    """Words and pairs of neighbouring words, each counted in the column it hashes to; a text that is missing has none.

    >>> Words(width=2**18)(["Oil price falls", None]).getnnz(axis=1)
    array([5, 0], dtype=int32)

    Args:
        width: columns to hash into; sparse rows are scaled to length 1.
        dense: an array rather than a sparse matrix, for learners that know no other. As it must be narrow, words
            alone are counted, each in `PLACES` columns and with a sign of its own in each: words that share a column
            then cancel out instead of piling up, and no column is empty for long. Numbers are about 1.
    """

    width: int
    dense: bool = False

    def __post_init__(self) -> None:
        if self.width < 1:
            raise SettingError(f"width={self.width}: words need a column or more")

    def __call__(self, X: Any) -> Any:
        hashed = self._vectorizer.transform(texts(X))
        return hashed.toarray() * np.float32(self.width**0.5) if self.dense else hashed

    @cached_property
    def _vectorizer(self) -> Any:
        if self.dense:
            return HashingVectorizer(n_features=self.width, analyzer=scattered, dtype=np.float32)
        return HashingVectorizer(n_features=self.width, ngram_range=(1, 2), alternate_sign=False, dtype=np.float32)


def scattered(text: str) -> list[str]:
    """The words of a text under several names each.

    >>> scattered("Oil!")[:2]
    ['oil 0', 'oil 1']
    """
    words = re.findall(r"\b\w\w+\b", text.lower())
    return [f"{word} {place}" for word in words for place in range(PLACES)]


@dataclass(frozen=True)
class Columns:
    """Columns of numbers, of categories, and one of text, side by side.

    A column that holds numbers by its type stays one column, with another that marks where they are
    missing; each value of any other column is a category of its own, a missing one too. The order of the columns
    makes no difference.

    >>> table = Columns(width=8)({"carrier": np.array(["UA", None], dtype=object), "temp": np.array([np.nan, 39.0])})
    >>> table.numbers.tolist(), table.frame.shape
    ([[nan], [39.0]], (2, 10))

    Args:
        width: columns to hash categories into, and as many for the words of the text.
        dense: as for `Words`.
        text: the column to be read as text, if there is one.

    Sparse rows are made for linear models, whose steps are as long as the rows. There numbers and
    categories are divided by the root of how many columns they are, which makes their part of a row about 1
    long; words, each of which is seen far less often, are made `WORDS` long.
    """

    width: int
    dense: bool = False
    text: str | None = None

    def __post_init__(self) -> None:
        Words(self.width)  # which refuses a width that is none

    def __call__(self, X: Any) -> Table:
        columns = as_columns(X)
        if self.text is not None and self.text not in columns:
            raise FeatureError(f"the text is said to be in column {self.text!r}; there are {', '.join(columns)}")
        fields = {name: columns[name] for name in sorted(columns) if name != self.text}
        numeric = {name: column for name, column in fields.items() if column.dtype.kind in "fiub"}
        n = len(next(iter(columns.values())))
        numbers = np.column_stack([*numeric.values()]).astype(np.float64) if numeric else np.zeros((n, 0))
        unit = 1.0 if self.dense else max(1, len(fields)) ** -0.5
        blocks = [
            sparse.csr_matrix(np.ones(numbers.shape, dtype=np.float32)),  # places for the instance to fill
            sparse.csr_matrix(absent(numbers) * np.float32(unit)),
            one_hot({name: column for name, column in fields.items() if name not in numeric}, n, self.width, unit),
        ]
        if self.text is not None:
            words = Words(self.width, self.dense)(columns[self.text])
            blocks.append(sparse.csr_matrix(words * np.float32(1 if self.dense else WORDS)))
        frame = sparse.hstack(blocks, format="csr", dtype=np.float32)
        return Table(numbers, frame.toarray() if self.dense else frame, unit)


def one_hot(columns: Mapping[str, Array], n: int, width: int, unit: float) -> Any:
    """Each category of each column as a `unit` in the place that name and value hash to, (n, width)."""
    places = np.empty((n, len(columns)), dtype=np.int32)
    for j, (name, column) in enumerate(columns.items()):
        values = strings(column)
        place = {
            value: murmurhash3_32(name + ("" if value is None else f"={value}"), positive=True) % width
            for value in set(values)
        }
        places[:, j] = [place[value] for value in values]
    data = np.full(places.size, unit, dtype=np.float32)
    return sparse.csr_matrix((data, places.ravel(), np.arange(n + 1) * len(columns)), shape=(n, width))


def strings(column: Array) -> list[str | None]:
    """The values of a column as strings, None where one is missing."""
    values: list[Any] = column.tolist()
    if set(map(type, values)) <= {str, NoneType}:
        return values
    return [None if is_missing(value) else str(value) for value in values]


def texts(X: Any) -> list[str]:
    """The strings of a list, an array or a Series; empty where one is missing."""
    if isinstance(X, str | dict) or hasattr(X, "columns") or getattr(X, "ndim", 1) != 1:
        raise FeatureError(f"a {type(X).__name__} is no list of texts: of a table pass one column")
    found = ["" if is_missing(text) else text for text in X]
    for row, text in enumerate(found):
        if not isinstance(text, str):
            raise FeatureError(f"row {row} is not a text but {type(text).__name__}: pass strings")
    return found


def as_columns(X: Any) -> dict[str, Array]:
    """A dict of columns, a frame, or an array (n, d) as columns by name."""
    if hasattr(X, "columns"):
        return {str(name): _column(X.iloc[:, place]) for place, name in enumerate(X.columns)}
    if isinstance(X, Mapping):
        return {str(name): _column(column) for name, column in X.items()}
    array = np.asarray(X)
    if array.ndim != 2:
        raise FeatureError(
            f"rows of shape {array.shape[1:]} are no columns: pass a dict of columns, or an array (n, d)"
        )
    return {f"{place:09}": array[:, place] for place in range(array.shape[1])}


def _column(column: Any) -> Array:
    if hasattr(column, "iloc") and getattr(column.dtype, "kind", "O") in "iuf":
        return np.asarray(column.to_numpy(dtype=float, na_value=np.nan))
    array = np.asarray(column)
    if array.ndim != 1:
        raise FeatureError(f"a column holds rows of shape {array.shape[1:]}: a column has one value a row")
    return array


def is_missing(value: Any) -> bool:
    """None, NaN, and what pandas has for them.

    >>> [is_missing(value) for value in (None, float("nan"), "", 0)]
    [True, True, False, False]
    """
    if isinstance(value, float | np.floating):
        return isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")
