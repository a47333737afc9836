"""Rows as users have them to columns of tensors, once a batch, however many instances there are."""

import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from spanwise.core import rows
from spanwise.engines.machine import Tensors
from spanwise.errors import FeatureError

ONLY = "x"
"""The name of the column where there is only one, which a network takes by position."""


def columns(X: Any, network: nn.Module, dtype: torch.dtype) -> Tensors:
    """The inputs of `network` for the rows of `X`, on the CPU.

    A network with a method `prepare(X)` makes them itself (words to token ids, say). Else numbers
    become floats; whole numbers stay what they are for a network that looks them up in an embedding.

    >>> columns([[1, 2]], nn.Linear(2, 3), torch.float32)
    {'x': tensor([[1., 2.]])}
    """
    prepare = getattr(network, "prepare", None)
    prepared = X if prepare is None else prepare(X)
    whole = any(isinstance(module, nn.Embedding | nn.EmbeddingBag) for module in network.modules())
    named = prepared if isinstance(prepared, Mapping) else {ONLY: prepared}
    return {name: _tensor(column, name, dtype, whole) for name, column in named.items()}


def joined(parts: list[Tensor]) -> Tensor:
    """Rows one after another; shorter rows of whole numbers, which are tokens, are filled up with zeros on the right.

    >>> joined([torch.tensor([[7]]), torch.tensor([[8, 9]])])
    tensor([[7, 0],
            [8, 9]])
    """
    shapes = {part.shape[1:] for part in parts}
    if len(shapes) > 1:
        if any(part.is_floating_point() or part.dim() != 2 for part in parts):
            raise FeatureError(f"rounds that are drawn from together have rows of shapes {sorted(map(tuple, shapes))}")
        longest = max(part.shape[1] for part in parts)
        parts = [nn.functional.pad(part, (0, longest - part.shape[1])) for part in parts]
    return torch.cat(parts)


def _tensor(column: Any, name: str, dtype: torch.dtype, whole: bool) -> Tensor:
    numbers = column if isinstance(column, Tensor) else _numbers(column, name)
    keep = whole and not numbers.is_floating_point()
    return numbers.detach().to("cpu", torch.int64 if keep else dtype, copy=True)  # the caller may use his again


def _numbers(column: Any, name: str) -> Tensor:
    if "scipy.sparse" in sys.modules and sys.modules["scipy.sparse"].issparse(column):
        column = column.toarray()
    array = np.asarray(column)
    if array.dtype == object:
        with suppress(TypeError, ValueError):
            array = array.astype(float)
    if array.dtype.kind not in "fiub":
        what = "" if name == ONLY else f" in column {name!r}"
        raise FeatureError(
            f"a network takes numbers, and these rows{what} hold {array.dtype}: encode them first, or give the "
            f"network a method prepare(X) that turns {rows.count(column)} rows into tensors"
        )
    return torch.from_numpy(array if array.flags.writeable and array.flags.c_contiguous else array.copy())
