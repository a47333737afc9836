"""Token ids and the mask that tells them from padding, as all networks for text take them."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from spanwise.errors import FeatureError


def token_columns(X: Any, *, vocabulary: int, longest: int) -> dict[str, Tensor]:
    """Token ids, and their mask where there is one, checked before a GPU gets to see them.

    >>> token_columns({"ids": [[5, 7], [6, 0]], "mask": [[1, 1], [1, 0]]}, vocabulary=10, longest=8)["mask"]
    tensor([[1, 1],
            [1, 0]])

    Args:
        X: a dict of `ids` and `mask`, both (n, length), the mask 1 for a token and 0 for padding; or the ids alone.
        vocabulary: ids lie below it.
        longest: most tokens a row.
    """
    given = X if isinstance(X, dict) else {"ids": X}
    if "ids" not in given or not set(given) <= {"ids", "mask"}:
        raise FeatureError(f"token ids come in columns 'ids' and 'mask'; these columns are {sorted(map(str, given))}")
    columns = {name: _whole_numbers(column, name) for name, column in given.items()}
    _check_ids(columns["ids"], vocabulary, longest)
    columns.setdefault("mask", torch.ones_like(columns["ids"]))  # rounds of other lengths may be joined to this one
    _check_mask(columns["mask"], columns["ids"])
    return columns


def additive(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """What to add to attention scores (n, heads, length, length) so that no token looks at padding."""
    return (1 - mask)[:, None, None, :].to(dtype) * torch.finfo(dtype).min


def _whole_numbers(column: Any, name: str) -> Tensor:
    try:
        numbers = column if isinstance(column, Tensor) else torch.from_numpy(np.array(column))
    except (TypeError, ValueError):
        raise FeatureError(f"{name!r} must be whole numbers, as many in every row: pad shorter rows") from None
    if numbers.is_floating_point() or numbers.is_complex() or numbers.ndim != 2 or not numbers.numel():
        raise FeatureError(
            f"{name!r} must be whole numbers of shape (n, length), and is {numbers.dtype} of {tuple(numbers.shape)}"
        )
    return numbers.to("cpu", torch.int64)


def _check_ids(ids: Tensor, vocabulary: int, longest: int) -> None:
    if ids.shape[1] > longest:
        raise FeatureError(f"rows of {ids.shape[1]} tokens; this network takes {longest} at most: cut them shorter")
    if ids.min() < 0 or ids.max() >= vocabulary:
        raise FeatureError(
            f"token ids from {int(ids.min())} to {int(ids.max())}; this network knows 0 to {vocabulary - 1}: "
            "were they made by another tokenizer?"
        )


def _check_mask(mask: Tensor, ids: Tensor) -> None:
    if mask.shape != ids.shape or mask.min() < 0 or mask.max() > 1:
        raise FeatureError(
            f"the mask, of shape {tuple(mask.shape)}, must hold 1 for each token of the ids, of shape "
            f"{tuple(ids.shape)}, and 0 for padding"
        )
    if not mask[:, 0].all():
        row = int(mask[:, 0].argmin())
        raise FeatureError(
            f"row {row} begins with padding, but its first token is what is classified: pad on the right"
        )
