"""Rows of any container as arrays and plain values, so that a snapshot needs no pickle."""

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from spanwise.errors import SnapshotError


def pack(X: Any) -> Mapping[str, Any]:
    """`X` as a dict that `snapshot` can write.

    >>> unpack(pack({"age": np.array([31, 40]), "name": ["a", "b"]}))
    {'age': array([31, 40]), 'name': ['a', 'b']}
    """
    kind = type(X).__name__
    if isinstance(X, dict):
        return {"kind": "dict", "columns": [[name, pack(column)] for name, column in X.items()]}
    if isinstance(X, np.ndarray):
        kind = "objects" if X.dtype.kind == "O" else "array"
        return {"kind": kind, "values": X.tolist() if kind == "objects" else X}
    if isinstance(X, list | tuple):
        return {"kind": "list", "values": list(X)}
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        columns = [[name, str(X[name].dtype), pack(X[name].to_numpy())] for name in X.columns]
        return {"kind": "frame", "columns": columns}
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        return {"kind": "sparse", "class": kind, "shape": list(X.shape), "parts": [X.data, X.indices, X.indptr]}
    if hasattr(X, "detach"):
        return {"kind": "tensor", "values": X.detach().cpu().numpy()}
    raise SnapshotError(f"hold-out rows of type {kind} cannot be written to a snapshot: use arrays, frames or lists")


def unpack(packed: Mapping[str, Any]) -> Any:
    """The container that `pack` took apart."""
    kind = packed["kind"]
    if kind == "dict":
        return {name: unpack(column) for name, column in packed["columns"]}
    if kind == "objects":
        values = np.empty(len(packed["values"]), dtype=object)
        values[:] = packed["values"]
        return values
    if kind in ("array", "list"):
        return packed["values"]
    if kind == "frame":
        pandas = _library("pandas")
        return pandas.DataFrame(
            {name: pandas.Series(unpack(values), dtype=dtype) for name, dtype, values in packed["columns"]}
        )
    if kind == "sparse":
        sparse = _library("scipy.sparse")
        make = sparse.csr_array if packed["class"].endswith("array") else sparse.csr_matrix
        return make(tuple(packed["parts"]), shape=tuple(packed["shape"]))
    if kind == "tensor":
        return _library("torch").from_numpy(np.array(packed["values"]))
    raise SnapshotError(f"this snapshot holds rows of an unknown kind, {kind!r}")


def _library(name: str) -> Any:
    if name not in sys.modules:
        raise SnapshotError(f"this snapshot holds rows made by {name}: import {name} before loading it")
    return sys.modules[name]
