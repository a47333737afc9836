"""Line 9: one batch into a training fold and a hold-out fold, seeded by run and round."""

from collections.abc import Callable
from dataclasses import dataclass
from math import floor

import numpy as np

from spanwise.errors import SettingError
from spanwise.learner import Array

Split = Callable[[int, np.random.Generator], tuple[Array, Array]]
"""(rows, rng) -> (positions to train on, positions to hold out)."""

Draw = Callable[[], np.random.Generator]
"""Makes the generator of a round, for those who draw anything."""

YOUR_OWN = "your own"


def split_at_random(n: int, fraction: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """A random `fraction` of `n` rows to train on, and the others, both in their order.

    At least one row is trained on, so a round of one row holds nothing out.

    >>> split_at_random(5, 0.6, np.random.default_rng(0))
    (array([2, 3, 4]), array([0, 1]))
    """
    training = max(1, floor(fraction * n + 1e-9))
    if training == n:
        return all_rows(n)
    order = rng.permutation(n)
    return np.sort(order[:training]), np.sort(order[training:])


@dataclass(frozen=True)
class leading:
    """Train on the first `fraction` of the rows and hold out the others, for streams whose rows come so ordered.

    >>> leading(0.9)(11, np.random.default_rng(0))
    (array([0, 1, 2, 3, 4, 5, 6, 7, 8]), array([ 9, 10]))
    """

    fraction: float

    def __post_init__(self) -> None:
        check_fraction(self.fraction)

    def __call__(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        training = max(1, int(self.fraction * n))  # rounded down as Wild-Time does
        return np.arange(training), np.arange(training, n)


def all_rows(n: int) -> tuple[Array, Array]:
    """All rows to train on, and none to hold out."""
    return np.arange(n), np.arange(0)


def make_split(n: int, fraction: float, split: Split | None, rng: np.random.Generator) -> tuple[Array, Array]:
    """The user's own `split` where there is one, checked; else at random."""
    if split is None:
        return split_at_random(n, fraction, rng)
    train, held = (np.asarray(part, dtype=np.int64) for part in split(n, rng))
    both = np.concatenate([train, held])
    if not len(train) or len(np.unique(both)) != len(both) or (len(both) and not 0 <= both.min() <= both.max() < n):
        raise SettingError(
            f"split gave {len(train)} training and {len(held)} hold-out positions for {n} rows: it must give "
            f"positions within 0..{n - 1}, none of them twice, and at least one to train on"
        )
    return train, held


def storable_split(split: Split | None) -> Split | str | None:
    """What a snapshot writes of a split: ours as it is, a user's own as a note to pass it again."""
    return split if split is None or type(split).__module__.startswith("spanwise.") else YOUR_OWN


def check_fraction(fraction: float) -> None:
    if not 0 < fraction <= 1:
        raise SettingError(f"train_fraction={fraction}: it must be above 0 and at most 1")
