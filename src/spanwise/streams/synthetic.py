"""Streams that know their truth: where they shift, and what the best classifier says of every point.

Each is a law of motion over the concepts of `concepts.py`. Most redraw a concept when a new phase
begins; the beginning of a phase is a shift, so shifts are marked where the distribution jumps and
nowhere else.
"""

from bisect import bisect_right
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np

from spanwise.core.labels import Labels
from spanwise.errors import SettingError
from spanwise.learner import Array
from spanwise.streams.batch import Batch
from spanwise.streams.concepts import Concept, Gaussians, Teacher, apart, directions


@dataclass(frozen=True, kw_only=True)
class Synthetic:
    """What the streams of this module share; Gaussian classes that are redrawn in every phase.

    Args:
        rounds: how many batches.
        size: rows a batch.
        features: columns of X; a class needs one of its own, or two where it moves.
        classes: the labels.
        seed: one seed makes the stream repeatable.
    """

    rounds: int = 200
    size: int = 100
    features: int = 10
    classes: Sequence[Hashable] = range(4)
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("rounds", "size"):
            check_at_least(name, getattr(self, name), 1)
        if not 2 <= len(self.classes) <= self.features:
            raise SettingError(
                f"{len(self.classes)} classes in {self.features} features: "
                "there must be 2 classes or more, and at least as many features"
            )

    def __len__(self) -> int:
        return self.rounds

    def __iter__(self) -> Iterator[Batch]:
        labels, shifts = Labels(self.classes), set(self.shifts)
        for t in range(1, self.rounds + 1):
            concept = self.concept(t)
            X, y = concept.draw(self.size, np.random.default_rng((self.seed, 0, t)))
            yield Batch(X, labels.names(y), t in shifts, labels.names(concept.best(X)))

    @property
    def shifts(self) -> list[int]:
        """The rounds at which the distribution jumps."""
        return [t for t in range(2, self.rounds + 1) if self.phase(t) != self.phase(t - 1)]

    def phase(self, t: int) -> int:
        """Which of its concepts the stream is in at round `t`."""
        return 0

    def concept(self, t: int) -> Concept:
        """The distribution of round `t`."""
        k = len(self.classes)
        means = apart(directions(k, self.features, self.rng(self.phase(t))), distance=3.6)
        return Gaussians(means, np.full(k, 1 / k))

    def rng(self, phase: int) -> np.random.Generator:
        """What a phase is drawn with."""
        return np.random.default_rng((self.seed, 1, phase))


@dataclass(frozen=True, kw_only=True)
class Stationary(Synthetic):
    """Nothing ever shifts.

    >>> Stationary(rounds=50).shifts
    []
    """


@dataclass(frozen=True, kw_only=True)
class Abrupt(Synthetic):
    """The concept is redrawn at every shift.

    >>> Abrupt().shifts, Abrupt(at=(20, 30)).shifts
    ([51, 101, 151], [20, 30])

    Args:
        every: rounds from one shift to the next.
        at: the rounds that shift, instead.
    """

    every: int = 50
    at: Sequence[int] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least("every", self.every, 1)

    def phase(self, t: int) -> int:
        return (t - 1) // self.every if self.at is None else bisect_right(sorted(self.at), t)


@dataclass(frozen=True, kw_only=True)
class Recurring(Synthetic):
    """A few concepts that come back in turn.

    Args:
        concepts: how many.
        every: rounds from one shift to the next.
    """

    concepts: int = 3
    every: int = 25

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least("concepts", self.concepts, 2)
        check_at_least("every", self.every, 1)

    def phase(self, t: int) -> int:
        return (t - 1) // self.every % self.concepts


@dataclass(frozen=True, kw_only=True)
class Gradual(Synthetic):
    """Every class mean moves along a circle of its own, a little each round; none comes closer to another.

    Args:
        turns: how many times around in the whole stream.
    """

    turns: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if 2 * len(self.classes) > self.features:
            raise SettingError(
                f"{len(self.classes)} classes in {self.features} features: a mean that moves along a circle "
                f"needs two features of its own, so pass features={2 * len(self.classes)} or more"
            )

    def concept(self, t: int) -> Concept:
        k = len(self.classes)
        units = directions(2 * k, self.features, self.rng(0))
        angle = 2 * pi * self.turns * (t - 1) / self.rounds
        means = apart(units[:k] * cos(angle) + units[k:] * sin(angle), distance=3.6)
        return Gaussians(means, np.full(k, 1 / k))


@dataclass(frozen=True, kw_only=True)
class LabelShift(Synthetic):
    """One class after another is the common one; what each class looks like never changes.

    Args:
        every: rounds from one shift to the next.
        common: share of the common class; the others share the rest.
    """

    every: int = 50
    common: float = 0.8

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least("every", self.every, 1)
        if not 1 / len(self.classes) < self.common < 1:
            raise SettingError(f"common={self.common}: it must be above an equal share, and below 1")

    def phase(self, t: int) -> int:
        return (t - 1) // self.every % len(self.classes)

    def concept(self, t: int) -> Concept:
        k = len(self.classes)
        means = apart(directions(k, self.features, self.rng(0)), distance=2.2)  # close enough for priors to matter
        priors = np.full(k, (1 - self.common) / (k - 1))
        priors[self.phase(t)] = self.common
        return Gaussians(means, priors)


@dataclass(frozen=True, kw_only=True)
class CovariateShift(Synthetic):
    """The points move elsewhere; what a point means never changes, but is not linear.

    So what was fitted to the old points is wrong at the new ones.

    Args:
        every: rounds from one shift to the next.
        noise: share of labels drawn at random.
    """

    every: int = 50
    noise: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least("every", self.every, 1)
        if not 0 <= self.noise < 1:
            raise SettingError(f"noise={self.noise}: it must be at least 0 and below 1")

    def phase(self, t: int) -> int:
        return (t - 1) // self.every

    def concept(self, t: int) -> Concept:
        length = 0.75  # of a wave's vector: a point's neighbours, a unit apart, look linear
        units = directions(len(self.classes), self.features, np.random.default_rng((self.seed, 2)))
        return Teacher(self.place(t) @ units * pi / length, units * length, self.noise)

    def place(self, t: int) -> Array:
        """Along which waves the points lie half a wave out, 0 or 1 each; a shift changes half of them."""
        k = len(self.classes)
        out: Array = self.rng(0).integers(2, size=k)
        for phase in range(1, self.phase(t) + 1):
            out[self.rng(phase).permutation(k)[: (k + 1) // 2]] ^= 1
        return out


def check_at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise SettingError(f"{name}={value}: it must be {least} or more")
