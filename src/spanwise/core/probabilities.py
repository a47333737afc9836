"""Logits to probabilities, averaged and weighed.

Many instances at once, each class by itself: numpy is slow along a short last axis. What comes out for one does
not depend, to the last bit, on who else is there, or on how many rows are worked on at a time.
"""

from collections.abc import Sequence

import numpy as np

from spanwise.learner import Array

CACHED, ROWS = 2**15, 128
"""Numbers that stay in a processor's cache while they are worked on; rows that are worth a call of numpy."""

UNLIKELY = 1e-6
"""A probability below this counts as this: one surprise must not silence an instance."""


def softmax(logits: Array) -> Array:
    """Logits to probabilities, row by row.

    >>> softmax(np.array([[0.0, 0.0], [1000.0, 0.0]])).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    return np.asarray(softmax_each([logits])[0].T)


def softmax_each(parts: Sequence[Array]) -> Array:
    """The softmax of each, (parts, classes, n)."""
    if len({part.dtype for part in parts}) > 1:
        return np.stack([softmax_each([part])[0] for part in parts])
    n, classes = parts[0].shape
    if n == 1:  # one row alone numpy sums in another order
        return softmax_each([np.repeat(part, 2, axis=0) for part in parts])[:, :, :1]
    by_class = np.empty((len(parts), classes, n), parts[0].dtype)
    np.concatenate([part.T for part in parts], out=by_class.reshape(len(parts) * classes, n))
    by_class -= by_class.max(axis=1, keepdims=True)
    np.exp(by_class, out=by_class)
    by_class /= by_class.sum(axis=1, keepdims=True)
    return by_class


def averages(groups: Sequence[Sequence[Array]]) -> Array:
    """The softmax of each, averaged over its group, (groups, classes, n), some rows after others."""
    parts = [part for group in groups for part in group]
    if len(groups) > 1 and len({part.dtype for part in parts}) > 1:
        return np.concatenate([averages([group]) for group in groups])
    n, classes = parts[0].shape
    sizes = [len(group) for group in groups]
    parted = blocks(n, max(ROWS, CACHED // (len(parts) * max(1, classes))))
    if len(parted) == 1:
        return _average_over(sizes, softmax_each(parts)).astype(parts[0].dtype, copy=False)
    found = np.empty((len(groups), classes, n), parts[0].dtype)
    for rows in parted:
        found[:, :, rows] = _average_over(sizes, softmax_each([part[rows] for part in parts]))
    return found


def _average_over(sizes: Sequence[int], proba: Array) -> Array:
    """Of so many after one another."""
    if len(sizes) == len(proba):
        return proba
    ends = np.cumsum(sizes).tolist()
    return np.stack(
        [
            weigh([1.0 / size] * size, proba[end - size : end]) if size > 1 else proba[end - 1]
            for size, end in zip(sizes, ends, strict=True)
        ]
    )


def blocks(n: int, size: int) -> list[slice]:
    """All of `n` rows, about `size` at a time; never one alone of several, as for one alone all is done twice.

    >>> blocks(7, 3)
    [slice(0, 3, None), slice(3, 7, None)]
    """
    starts = range(0, max(1, n - 1), size)
    return [slice(start, end) for start, end in zip(starts, [*starts[1:], n], strict=True)]


def weigh(weights: Sequence[float], parts: Array) -> Array:
    """The weighted sum of `parts`, added up in their order.

    >>> weigh([0.5, 2.0], np.array([[[1.0, 2.0]], [[3.0, 4.0]]])).tolist()
    [[6.5, 9.0]]
    """
    exact = np.array(weights, dtype=parts.dtype)
    if parts.size <= CACHED and parts[0].size > 1:  # else numpy adds up in another order
        return np.asarray(np.add.reduce(exact[:, None, None] * parts, axis=0))
    total = np.asarray(exact[0] * parts[0])
    product = np.empty_like(total)  # of one after another: all at once would take much memory
    for weight, part in zip(exact[1:], parts[1:], strict=True):
        total += np.multiply(part, weight, out=product)
    return total


def likeliest(scores: Array) -> Array:
    """The class with the highest score, the first among equals: (..., classes, n) to (..., n).

    >>> likeliest(np.array([[0.2, 0.5], [0.8, 0.5]])).tolist()
    [1, 0]
    """
    if scores.shape[-2] == 2:  # numpy is slow to go along an axis as short as that
        return np.asarray(scores[..., 1, :] > scores[..., 0, :]).astype(np.intp)
    if scores.ndim > 2:  # numpy copies all that it goes along
        return np.stack([likeliest(part) for part in scores])
    return np.asarray(scores.argmax(axis=-2))


def logarithms(proba: Array) -> Array:
    """Of probabilities, none of them taken for less than `UNLIKELY`; in float32, which is enough and far faster."""
    logs = proba.astype(np.float32)
    np.maximum(logs, UNLIKELY, out=logs)
    return np.asarray(np.log(logs, out=logs))
