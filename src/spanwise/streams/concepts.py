"""Distributions of one round that know their own best classifier.

Two kinds are enough: Gaussian classes, whose means and priors can move, and a fixed non-linear
teacher that is asked in different places.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Protocol

import numpy as np

from spanwise.learner import Array


class Concept(Protocol):
    """The distribution of a round; classes are numbers."""

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """`n` points and their classes."""
        ...

    def best(self, X: Array) -> Array:
        """What no classifier can beat on average: the likeliest class of each point."""
        ...


@dataclass(frozen=True, eq=False)
class Gaussians:
    r"""Each class a unit Gaussian around its mean.

    The best classifier is linear: $\arg\max_k \log \pi_k - |x - m_k|^2 / 2$.

    Args:
        means: (classes, features).
        priors: share of each class.
    """

    means: Array
    priors: Array

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        y = rng.choice(len(self.priors), size=n, p=self.priors)
        return self.means[y] + rng.standard_normal((n, self.means.shape[1])), y

    def best(self, X: Array) -> Array:
        offsets = np.log(self.priors) - (self.means**2).sum(axis=1) / 2
        return np.asarray((X @ self.means.T + offsets).argmax(axis=1))


@dataclass(frozen=True, eq=False)
class Teacher:
    r"""Points around a centre, labelled by a teacher that is the same wherever it is asked.

    The teacher says $\arg\max_k \sin(w_k \cdot x)$: nearly linear around the crossing of its waves, and the
    other way round half a wave away. A share `noise` of the labels is replaced by one drawn at random.

    Args:
        center: (features,), the mean of the points.
        waves: (classes, features), the w.
        noise: share of labels replaced.
    """

    center: Array
    waves: Array
    noise: float

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        X = self.center + rng.standard_normal((n, len(self.center)))
        at_random = rng.integers(len(self.waves), size=n)
        return X, np.where(rng.random(n) < self.noise, at_random, self.best(X))

    def best(self, X: Array) -> Array:
        return np.asarray(np.sin(X @ self.waves.T).argmax(axis=1))


def directions(k: int, features: int, rng: np.random.Generator) -> Array:
    """`k` random unit vectors at right angles to each other, one a row."""
    square, upper = np.linalg.qr(rng.standard_normal((features, k)))
    return (square * np.sign(np.diag(upper))).T  # LAPACK's signs are not those of chance


def apart(units: Array, distance: float) -> Array:
    """Unit vectors at right angles, stretched until their tips are `distance` apart.

    However the vectors lie, the classes around their tips are then equally hard to tell apart.
    """
    return units * (distance / sqrt(2))
