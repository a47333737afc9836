"""Rows of any container: count, take and join them, and say what is wrong with them.

A container is anything whose rows can be taken by position: ndarray, DataFrame, sparse matrix,
tensor, list, dict of such columns. Libraries are looked up in `sys.modules`: one that was never
imported cannot have made the object at hand.
"""

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from spanwise.errors import FeatureError
from spanwise.learner import Array


class Layout(NamedTuple):
    """What must stay the same from round to round."""

    container: str
    width: tuple[int, ...] | None
    names: tuple[str, ...] | None


def count(X: Any) -> int:
    """How many rows.

    >>> count({"age": [31, 40], "name": ["a", "b"]}), count(np.zeros((3, 2)))
    (2, 3)
    """
    if isinstance(X, dict):
        if not X:
            raise FeatureError("there is not a single column in these features")
        lengths = {name: count(column) for name, column in X.items()}
        if len(set(lengths.values())) != 1:
            raise FeatureError(f"the columns differ in length: {lengths}; every column needs one value a row")
        return next(iter(lengths.values()))
    shape = getattr(X, "shape", None)
    if shape:
        return int(shape[0])
    if hasattr(X, "__len__") and shape is None and not isinstance(X, str | bytes):
        return len(X)
    raise FeatureError(
        f"features of type {type(X).__name__} have no rows to count: pass an array, a DataFrame, "
        "a sparse matrix, a tensor, a list, or a dict of such columns"
    )


def take(X: Any, positions: Array) -> Any:
    """The rows at `positions`, in that order, in a container of the same kind."""
    if isinstance(X, dict):
        return {name: take(column, positions) for name, column in X.items()}
    if hasattr(X, "iloc"):
        return X.iloc[positions]
    if isinstance(X, list | tuple):  # rows that can change are copied, as an array's are
        return [row.copy() if isinstance(row := X[i], dict | list) else row for i in positions]
    if _is_tensor(X):
        return X[sys.modules["torch"].as_tensor(positions, device=X.device)]
    return (X.tocsr() if _is_sparse(X) else X)[positions]


def join(parts: Sequence[Any]) -> Any:
    """The rows of all `parts`, one after another.

    >>> join([["a"], ["b", "c"]])
    ['a', 'b', 'c']
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, dict):
        return {name: join(_as_long([part[name] for part in parts])) for name in first}
    if hasattr(first, "iloc"):
        return sys.modules["pandas"].concat(parts, ignore_index=True)
    if isinstance(first, list | tuple):
        return [row for part in parts for row in part]
    if _is_tensor(first):
        return sys.modules["torch"].cat(list(parts))
    if _is_sparse(first):
        return sys.modules["scipy.sparse"].vstack(parts, format="csr")
    return np.concatenate(parts)


def _as_long(parts: Sequence[Any]) -> Sequence[Any]:
    """Columns of token ids, or of their mask, filled up with zeros to the longest row."""
    if not all(isinstance(part, np.ndarray) and part.ndim == 2 and part.dtype.kind in "iub" for part in parts):
        return parts
    longest = max(part.shape[1] for part in parts)
    return [np.pad(part, ((0, 0), (0, longest - part.shape[1]))) for part in parts]


def layout(X: Any) -> Layout:
    """Container, width and feature names of `X`."""
    if isinstance(X, dict):
        return Layout("dict", (len(X),), tuple(sorted(map(str, X))))
    if isinstance(X, np.ndarray):
        return Layout("ndarray", X.shape[1:] or None, None)
    columns = getattr(X, "columns", None)
    if columns is not None:
        return Layout(type(X).__name__, (len(columns),), tuple(map(str, columns)))
    if isinstance(X, list | tuple):
        width = (len(X[0]),) if len(X) and isinstance(X[0], list | tuple | np.ndarray) else None
        return Layout("list", width, None)
    shape = tuple(getattr(X, "shape", ()))
    return Layout("sparse" if _is_sparse(X) else type(X).__name__, shape[1:] or None, None)


def check_layout(seen: Layout, now: Layout, *, learning: bool) -> None:
    """Refuse features that do not fit those of earlier rounds."""
    if seen.names is not None and now.names is not None and seen.names != now.names:
        raise FeatureError(_names_differ(seen.names, now.names))
    if seen.width != now.width:
        hint = "one row alone is passed as X[:1]" if now.width is None else "every round needs the same features"
        raise FeatureError(f"this batch has rows of shape {now.width}, earlier rounds had {seen.width}: {hint}")
    if learning and seen.container != now.container:
        raise FeatureError(
            f"this batch came as {now.container}, earlier rounds as {seen.container}: learn from one kind throughout"
        )


def check_finite(X: Any) -> None:
    """Refuse NaN and infinity, saying where the first one is."""
    if isinstance(X, dict):
        for name, column in X.items():
            _refuse(_first_bad(column), f"column {name!r} holds")
    else:
        _refuse(_first_bad(X), "the features hold")


def _refuse(bad: tuple[int | str, ...] | None, where: str) -> None:
    if bad is not None:
        at = f"row {bad[0]}" + "".join(f", column {i}" for i in bad[1:])
        raise FeatureError(
            f"{where} NaN or infinity, first at {at}. Fill or drop such values, "
            "or wrap a learner that takes them and says so with accepts_nan = True."
        )


def _first_bad(X: Any) -> tuple[int | str, ...] | None:
    if _is_sparse(X):
        X = X.tocoo()
        bad = np.flatnonzero(~np.isfinite(X.data))
        return (int(X.row[bad[0]]), int(X.col[bad[0]])) if len(bad) else None
    if _is_tensor(X):
        X = sys.modules["torch"].isfinite(X).logical_not().nonzero()
        return tuple(X[0].tolist()) if len(X) else None
    if isinstance(X, list | tuple) and len(X) and isinstance(X[0], str | bytes):
        return None
    if isinstance(X, list | tuple) and len(X) and isinstance(X[0], dict):
        places = [(i, name) for i, row in enumerate(X) for name, value in row.items() if not _is_fine(value)]
        return places[0] if places else None
    values = _numbers(X)
    if values.dtype.kind not in "fc" or np.isfinite(values).all():
        return None
    return tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])


def _is_fine(value: Any) -> bool:
    return not isinstance(value, float | np.floating) or bool(np.isfinite(value))


def _numbers(X: Any) -> Array:
    """The numbers in `X` at their places, and something finite at all others."""
    if hasattr(X, "columns"):
        if not X.shape[1]:
            raise FeatureError("there is not a single column in these features")
        return np.column_stack([_column(X.iloc[:, i]) for i in range(X.shape[1])])
    if hasattr(X, "iloc"):
        return _column(X)
    try:
        return np.asarray(X)
    except ValueError:
        raise FeatureError("the rows differ in length: every row needs the same features") from None


def _column(series: Any) -> Array:
    """A pandas column as floats if it holds numbers, pandas' NA among them; else zeros."""
    kind = getattr(series.dtype, "kind", "O")
    if kind == "f" or (kind in "iu" and not isinstance(series.dtype, np.dtype)):
        return np.asarray(series.to_numpy(dtype=float, na_value=np.nan))
    return np.zeros(len(series))


def _names_differ(seen: tuple[str, ...], now: tuple[str, ...]) -> str:
    missing, extra = sorted(set(seen) - set(now)), sorted(set(now) - set(seen))
    if not missing and not extra:
        return f"the features came in another order: {list(now)} instead of {list(seen)}"
    return f"the features differ from those of earlier rounds: missing {missing}, unexpected {extra}"


def _is_sparse(X: Any) -> bool:
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


def _is_tensor(X: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, getattr(torch, "Tensor", ()))
