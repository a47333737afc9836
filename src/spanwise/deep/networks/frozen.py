"""A frozen backbone: the features of a row are computed once for the whole pool, and only heads are trained.

This is the cheap way to use a large encoder: one forward pass a row, however many instances there are,
and none for hold-out rows that are scored again every round.
"""

import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from threading import RLock
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from spanwise.core import rows
from spanwise.deep.inputs import ONLY, columns
from spanwise.deep.networks.mlp import MLP
from spanwise.errors import FeatureError, LearnerError, SettingError

ROWS_AT_ONCE = 256
"""Rows of one forward pass through the backbone."""


class Frozen(nn.Module):
    """A head on the features of a backbone that is never trained.

    The features are what the backbone's method `features` gives (our networks have one: all that comes
    before their head), else what the backbone itself answers. They are computed in `prepare`, with
    the backbone in evaluation mode and on the device where it is: move it there yourself. Its weights
    must not change afterwards, or what is remembered is no longer what it would say.

    The backbone is no submodule: its weights are not among `parameters()`, so that a pool of K
    instances holds K heads and one backbone. Copies share it, and the features remembered.

    >>> head = Frozen(nn.Linear(4, 8), classes=3)
    >>> features = head.prepare(np.zeros((5, 4)))
    >>> head(features).shape, [name for name, _ in head.named_parameters()]
    (torch.Size([5, 3]), ['head.head.weight', 'head.head.bias'])

    Args:
        backbone: any network; it is put into evaluation mode.
        classes: logits a row.
        hidden: widths of hidden layers in the head; without any the head is linear.
        cache: rows whose features are remembered; those not asked for longest are dropped first.
    """

    def __init__(
        self, backbone: nn.Module, *, classes: int = 2, hidden: Sequence[int] = (), cache: int = 100_000
    ) -> None:
        if cache < 0:
            raise SettingError(f"cache={cache}: the number of rows to remember is 0 or more")
        super().__init__()
        self.backbone = Backbone(backbone, cache)
        self.head = MLP(hidden, classes=classes)

    def prepare(self, X: Any) -> Tensor:
        """The features of rows as the backbone takes them."""
        return self.backbone(X)

    def forward(self, features: Tensor) -> Tensor:
        logits: Tensor = self.head(features)
        return logits


class Backbone:
    """What a frozen network says of rows; a row it has seen lately is not run again.

    Not an `nn.Module`, and a copy of it is itself: that is what keeps it out of the pool's weights.

    Args:
        network, cache: as for `Frozen`.
    """

    def __init__(self, network: nn.Module, cache: int) -> None:
        self.network, self.cache = network, cache
        self.remembered: OrderedDict[bytes, Tensor] = OrderedDict()
        self.lock = RLock()

    def __call__(self, X: Any) -> Tensor:
        keys = row_keys(X)
        if not keys:
            raise FeatureError("there is not a single row in these features")
        with self.lock:
            known = {key: self.remembered[key] for key in keys if key in self.remembered}
            asked = {key: row for row, key in enumerate(keys) if key not in known}  # each once, though it came twice
            known |= zip(asked, self._run(X, np.array(list(asked.values()), dtype=int)), strict=True)
            self.remembered |= known
            for key in known:
                self.remembered.move_to_end(key)
            while len(self.remembered) > self.cache:
                self.remembered.popitem(last=False)
        return torch.stack([known[key] for key in keys])

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Callable[..., "Backbone"], tuple[Any, ...]]:
        return Backbone, (self.network, self.cache)

    def _run(self, X: Any, positions: np.ndarray[Any, np.dtype[np.int64]]) -> Iterable[Tensor]:
        for first in range(0, len(positions), ROWS_AT_ONCE):
            features = self._features(rows.take(X, positions[first : first + ROWS_AT_ONCE]))
            yield from (row.clone() for row in features)  # a view would keep the others alive

    @torch.no_grad()
    def _features(self, X: Any) -> Tensor:
        network = self.network.eval()
        own = getattr(network, "features", None)
        ask = own if inspect.ismethod(own) else network  # in networks of others `features` may be a layer
        weight = next((weight for weight in network.parameters() if weight.is_floating_point()), torch.zeros(()))
        inputs = {name: column.to(weight.device) for name, column in columns(X, network, weight.dtype).items()}
        only = (inputs.pop(ONLY),) if ONLY in inputs else ()
        features = ask(*only, **inputs)
        if not isinstance(features, Tensor) or len(features) != rows.count(X):
            what = (
                f"shape {tuple(features.shape)}" if isinstance(features, Tensor) else f"type {type(features).__name__}"
            )
            raise LearnerError(
                f"for {rows.count(X)} rows the backbone answered something of {what}; expected a tensor with a row of "
                "features for each: wrap it in a module that gives one"
            )
        return features.flatten(1).to("cpu", torch.promote_types(features.dtype, torch.float32))


def row_keys(X: Any) -> list[bytes]:
    """What each row is known by: a digest of all that it holds.

    >>> first, second, third = row_keys(["a", "b", "a"])
    >>> first == third, first == second
    (True, False)
    """
    if hasattr(X, "columns"):
        X = {f"{place} {name}": X.iloc[:, place] for place, name in enumerate(X.columns)}
    if isinstance(X, dict):
        rows.count(X)  # columns of one length
        named = [[_content(name) + key for key in row_keys(X[name])] for name in sorted(X)]
        return [_digest(b"".join(parts)) for parts in zip(*named, strict=True)]
    if hasattr(X, "tocsr"):
        X = [row.toarray() for row in X.tocsr()]
    return [_digest(_content(row)) for row in (_array(X) if isinstance(X, Tensor) else X)]


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


def _content(value: Any) -> bytes:
    if isinstance(value, str):
        return b"s" + value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return b"b" + value
    if isinstance(value, list | tuple):
        return b"l" + b"".join(_digest(_content(item)) for item in value)
    if isinstance(value, dict):
        return b"d" + b"".join(_digest(_content(item)) for item in sorted(value.items()))
    array = _array(value) if isinstance(value, Tensor) else np.asarray(value)
    if array.dtype.hasobject:
        raise FeatureError(
            f"a row holds a {type(value).__name__}, which a frozen backbone cannot tell from another: "
            "pass texts, numbers or arrays"
        )
    return f"{array.dtype.str}{array.shape}".encode() + array.tobytes()


def _array(tensor: Tensor) -> np.ndarray[Any, Any]:
    tensor = tensor.detach().cpu()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()  # numpy has no bfloat16
