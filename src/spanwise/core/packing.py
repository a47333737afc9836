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
        if X.dtype.kind == "O":
            return {"kind": "objects", "shape": list(X.shape), "values": X.ravel().tolist()}
        return {"kind": "array", "values": np.asarray(X) if isinstance(X, np.memmap) else X}
    if isinstance(X, list | tuple):
        return {"kind": "list", "values": list(X)}
    if hasattr(X, "columns"):
        return {"kind": "frame", "columns": [[name, pack(X.iloc[:, i])] for i, name in enumerate(X.columns)]}
    if hasattr(X, "cat"):
        codes, categories = X.cat.codes.to_numpy(), X.cat.categories.to_numpy()
        return {"kind": "categories", "codes": codes, "values": pack(categories), "ordered": bool(X.cat.ordered)}
    if hasattr(X, "iloc"):
        return {"kind": "series", "dtype": str(X.dtype), "values": pack(X.to_numpy())}
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        return {"kind": "sparse", "class": kind, "shape": list(X.shape), "parts": [X.data, X.indices, X.indptr]}
    if hasattr(X, "detach"):
        exact = X.detach().cpu().float() if X.dtype.itemsize < 4 and X.is_floating_point() else X.detach().cpu()
        return {"kind": "tensor", "dtype": str(X.dtype).removeprefix("torch."), "values": exact.numpy()}
    raise SnapshotError(f"hold-out rows of type {kind} cannot be written to a snapshot: use arrays, frames or lists")


def unpack(packed: Mapping[str, Any]) -> Any:
    """The container that `pack` took apart."""
    kind = packed["kind"]
    if kind == "dict":
        return {name: unpack(column) for name, column in packed["columns"]}
    if kind == "objects":
        values = np.empty(len(packed["values"]), dtype=object)
        values[:] = packed["values"]
        return values.reshape(packed["shape"])
    if kind in ("array", "list"):
        return packed["values"]
    if kind in ("frame", "series", "categories"):
        return _unpack_pandas(packed, _library("pandas"))
    if kind == "sparse":
        sparse = _library("scipy.sparse")
        make = sparse.csr_array if packed["class"].endswith("array") else sparse.csr_matrix
        return make(tuple(packed["parts"]), shape=tuple(packed["shape"]))
    if kind == "tensor":
        torch = _library("torch")
        return torch.from_numpy(np.array(packed["values"])).to(getattr(torch, packed["dtype"]))
    raise SnapshotError(f"this snapshot holds rows of an unknown kind, {kind!r}")


def _unpack_pandas(packed: Mapping[str, Any], pandas: Any) -> Any:
    if packed["kind"] == "series":
        return pandas.Series(unpack(packed["values"]), dtype=packed["dtype"])
    if packed["kind"] == "categories":
        categories = unpack(packed["values"])
        return pandas.Series(pandas.Categorical.from_codes(packed["codes"], categories, packed["ordered"]))
    frame = pandas.concat([unpack(column) for _, column in packed["columns"]], axis=1)
    frame.columns = [name for name, _ in packed["columns"]]
    return frame


def _library(name: str) -> Any:
    if name not in sys.modules:
        raise SnapshotError(f"this snapshot holds rows made by {name}: import {name} before loading it")
    return sys.modules[name]
