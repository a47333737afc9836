"""Handwritten digits that turn: scikit-learn's 8 x 8 images, rotated by an angle that changes over time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from spanwise.errors import MissingExtraError, SettingError
from spanwise.learner import Array
from spanwise.streams.batch import Batch
from spanwise.streams.schedule import Kind, Schedule

try:
    from scipy import ndimage
    from sklearn.datasets import load_digits
except ImportError as error:
    raise MissingExtraError("scikit-learn", "sklearn") from error


@dataclass(frozen=True, kw_only=True)
class RotatingDigits:
    """Digits whose angle jumps, moves or stays.

    There are 1,797 digits. A round draws its own without repeating one, but the next may draw them
    again, so a long stream shows each of them several times.

    >>> stream = RotatingDigits()
    >>> len(stream), stream.shifts
    (300, [71, 121, 181, 231])
    >>> X, y = next(iter(stream))
    >>> X.shape, y.shape
    ((60, 64), (60,))

    Args:
        kind: "abrupt", the angle jumps; "gradual", it moves evenly from one to the next; "none", it stays at the first.
        rounds: how many batches.
        size: rows a batch.
        angles: (round, degrees), by round: the angle from that round on, or at that round where it moves.
        seed: one seed makes the stream repeatable.
    """

    kind: Kind = "abrupt"
    rounds: int = 300
    size: int = 60
    angles: Sequence[tuple[int, float]] = ((1, 0.0), (71, 75.0), (121, 160.0), (181, 0.0), (231, 110.0))
    seed: int = 0

    def __post_init__(self) -> None:
        Schedule(self.kind, self.angles, "angles")
        if self.rounds < 1 or not 1 <= self.size <= len(digits()[1]):
            raise SettingError(
                f"rounds={self.rounds} and size={self.size}: a stream needs a round or more, "
                f"and a round between 1 and {len(digits()[1])} digits"
            )

    def __len__(self) -> int:
        return self.rounds

    def __iter__(self) -> Iterator[Batch]:
        images, labels = digits()
        shifts = set(self.shifts)
        for t in range(1, self.rounds + 1):
            drawn = np.random.default_rng((self.seed, t)).choice(len(labels), self.size, replace=False)
            yield Batch(rotated(images[drawn], self.angle(t)), labels[drawn], t in shifts)

    @property
    def classes(self) -> list[int]:
        """The ten digits."""
        return list(range(10))

    @property
    def shifts(self) -> list[int]:
        """The rounds at which the angle jumps."""
        return Schedule(self.kind, self.angles).jumps(self.rounds)

    def angle(self, t: int) -> float:
        """Degrees at round `t`."""
        return Schedule(self.kind, self.angles).at(t)


def rotated(images: Array, degrees: float) -> Array:
    """Images (n, 8, 8) as rows (n, 64), turned about their middle.

    Interpolation is linear, so that no value leaves the range it came from. Turning a batch as it is
    drawn costs about a millisecond, less than turning all digits once an angle.
    """
    if degrees:
        images = ndimage.rotate(images, degrees, axes=(1, 2), reshape=False, order=1)
    return images.reshape(len(images), -1)


@cache
def digits() -> tuple[Array, Array]:
    """All images, scaled to 0..1, and their labels."""
    bunch = load_digits()
    return bunch.images / 16.0, bunch.target
