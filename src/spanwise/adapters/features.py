"""Rows turned into features before a learner sees them, once a batch, however many instances there are.

A pool asks twenty instances about one batch, and several schemes ask the same again. The features
of a batch do not depend on who asks, so they are made once and remembered by what the batch holds.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from threading import RLock
from types import NoneType
from typing import Any, Self

import numpy as np

from spanwise.core import rows
from spanwise.core.loop import Around, Loop, Within, copy_learner, engine_for
from spanwise.core.spans import Span
from spanwise.learner import Array

BATCHES = 8
"""Batches whose features are remembered: in a round a few schemes ask about a batch, its folds, and the hold-out."""

ROWS = 1 << 18
"""Rows that these batches may have together; the latest is remembered in any case."""


class Featured(Around):
    """A learner whose rows first go through a function that has nothing to learn.

    >>> from spanwise.adapters.functions import majority_class
    >>> lengths = Featured(lambda texts: np.array([[len(text)] for text in texts]), majority_class())
    >>> one = lengths.fresh(seed=0)
    >>> one.learn(["no", "yes", "maybe"], np.array([0, 1, 1]))
    >>> one.logits(["perhaps"]).tolist()
    [[1.0, 2.0]]

    All learners that come from one, fresh or copied, share what is remembered. Where the learner has its
    own way to run a pool, as stacked networks have, the pool is run in that way.

    Args:
        features: rows -> what the learner takes; the same for a row whatever the batch and the round. What it
            returns is handed to many instances, so none may change it.
        learner: any learner, or a scikit-learn or River classifier.
    """

    def __init__(self, features: Callable[[Any], Any], learner: object) -> None:
        self.features = features if isinstance(features, Remembered) else Remembered(features)
        super().__init__(learner)

    def fresh(self, seed: int) -> Self:
        return type(self)(self.features, self.learner.fresh(seed))

    def learn(self, X: Any, y: Array) -> None:
        self.learner.learn(self.features(X), y)

    def logits(self, X: Any) -> Array:
        return self.learner.logits(self.features(X))

    def copy(self) -> Self:
        return type(self)(self.features, copy_learner(self.learner))

    def engine(self) -> "FeaturedLoop | None":
        """The same way to run many of them that the learner has; None where that is no kind of loop."""
        return FeaturedLoop(self) if isinstance(engine_for(self.learner), Loop) else None


class FeaturedLoop(Within):
    """Instances that are run by the loop of the learner within, on features that are made once for all of them."""

    learner: Featured

    def learn(self, spans: Sequence[Span], X: Any, y: Array) -> None:
        self.within(spans).learn(spans, self.learner.features(X), y)

    def logits(self, spans: Sequence[Span], X: Any) -> list[Array]:
        return self.within(spans).logits(spans, self.learner.features(X))


class Remembered:
    """A function of a batch that is not called again for a batch it has seen lately.

    A copy of it is itself, so that all instances of a learner share what is remembered.

    >>> asked = []
    >>> features = Remembered(lambda X: asked.append(X))
    >>> for batch in (["a", "b"], ["a", "b"], ["b", "a"]):
    ...     features(batch)
    >>> asked
    [['a', 'b'], ['b', 'a']]
    """

    def __init__(self, features: Callable[[Any], Any]) -> None:
        self.features = features
        self.known: OrderedDict[bytes, tuple[int, Any]] = OrderedDict()  # rows of a batch, and their features
        self.lock = RLock()

    def __call__(self, X: Any) -> Any:
        key = content(X)
        with self.lock:
            if key is None:
                return self.features(X)
            if key not in self.known:
                self.known[key] = (rows.count(X), self.features(X))
            self.known.move_to_end(key)
            self._forget()
            return self.known[key][1]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Callable[..., "Remembered"], tuple[Any, ...]]:
        return Remembered, (self.features,)

    def _forget(self) -> None:
        held = sum(n for n, _ in self.known.values())
        while len(self.known) > 1 and (len(self.known) > BATCHES or held > ROWS):
            _, (n, _) = self.known.popitem(last=False)
            held -= n


def content(X: Any) -> bytes | None:
    """A digest of all that a batch holds, for equal batches the same; None where that cannot be told.

    >>> content(["a", None]) == content(["a", None]), content({"a": np.ones(2)}) == content({"b": np.ones(2)})
    (True, False)
    """
    if isinstance(X, dict):
        columns = [(str(name), content(column)) for name, column in X.items()]
        return None if any(told is None for _, told in columns) else _digest(repr(columns).encode())
    if isinstance(X, np.ndarray) and not X.dtype.hasobject:
        return _digest(f"{X.dtype.str}{X.shape}".encode(), np.ascontiguousarray(X).tobytes())
    if isinstance(X, list) or (isinstance(X, np.ndarray) and X.ndim == 1):
        items = X if isinstance(X, list) else X.tolist()
        return _digest(json.dumps(items).encode()) if set(map(type, items)) <= {str, NoneType} else None
    return None


def _digest(*parts: bytes) -> bytes:
    return blake2b(b"".join(parts), digest_size=16).digest()
