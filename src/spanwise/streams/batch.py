"""The labelled points of one round, and what it takes to be a stream of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from spanwise.learner import Array


@dataclass(frozen=True, eq=False)
class Batch:
    """One round; unpacks as `X, y`.

    >>> X, y = Batch([[0.1], [0.9]], ["low", "high"], shift=True)
    >>> y
    ['low', 'high']

    Attributes:
        X: anything with rows.
        y: a label a row; None or NaN where it is missing.
        shift: the distribution of this round differs abruptly from the last one's.
        best: what the round's best classifier says of X, where the stream knows it.
    """

    X: Any
    y: Any
    shift: bool = False
    best: Array | None = None

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))


@runtime_checkable
class Stream(Protocol):
    """Batches in the order of their rounds, the same ones each time it is iterated.

    Items are `Batch`, or plain pairs `X, y`. Optional: `shifts`, the rounds at which the distribution
    jumps; `classes`, all labels there will be; `len()`, the rounds.
    """

    def __iter__(self) -> Iterator[Any]: ...
