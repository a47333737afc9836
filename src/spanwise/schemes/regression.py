"""Labels regressed on what the starts said: how far to trust each, and which classes all of them misjudge.

A mixture can only take what somebody says. A regression can also find that everybody says it too surely, or that a
class has become more frequent than anybody learned.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Self

import numpy as np

from spanwise.core.pool import Scores
from spanwise.core.probabilities import blocks, softmax, weigh
from spanwise.core.spans import Span
from spanwise.learner import Array

DOUBT = 3.0
"""What the first guess weighs, that start 1 is right: as 8 rows of 2 classes on which nobody is sure, or 40 of 10."""

MANY_CLASSES = 1000
"""With more, none gets a correction: their curvature would take more memory and time than learners do."""

AT_ONCE = 2**17
"""Numbers that are worked on at a time, so that a large round needs little more memory than a small one."""

ROUNDED = 2**14
"""Rows, times the root of classes, that may be summed in float32; of more, rounding may outweigh the first guess."""


@dataclass(frozen=True)
class Fit:
    r"""Multinomial logistic regression on the logarithms of probabilities, one Newton step a round.

    Class k scores $\sum_s a_s \log p_s(k) + b_k$, where start s gives it probability $p_s(k)$. What is fitted is
    $\theta = (a, b)$; the first guess $\theta_0$ is $a_1 = 1$ and all else 0. With $g_t$ the gradient of round t's
    logarithmic loss at the $\theta$ before it, and $C_t$ its curvature there, past rounds are remembered as
    $A_t = m A_{t-1} + C_t$ and $h_t = m h_{t-1} + C_t \theta - g_t$, and $\theta$ is then the solution of
    $(A_t + \lambda) \theta = h_t + \lambda \theta_0$. In the curvature, each row's probabilities are averaged with its
    label: where a learner is sure and wrong, its own have none, and a step without bound would follow.

    >>> said = np.log([[[0.99] * 9, [0.01] * 9]])  # start 1 is sure of class 0
    >>> fit = Fit((1,), 2).after(said, y=np.array([0, 1, 1, 0, 1, 1, 0, 1, 1]), fades=0.5)
    >>> bool(fit.trust[0] < 1), bool(fit.correction[0] < fit.correction[1])
    (True, True)

    Args:
        starts: who is listened to, 1 first.
        classes: how many there are.
        curvature: $A_t$; nothing is known yet if None.
        pull: $h_t$.
    """

    starts: tuple[int, ...]
    classes: int
    curvature: Array | None = None
    pull: Array | None = None

    @property
    def _size(self) -> int:
        return len(self.starts) + (self.classes if self.classes <= MANY_CLASSES else 0)

    @cached_property
    def _first(self) -> Array:
        return np.asarray(np.eye(1, self._size)[0])

    @cached_property
    def _values(self) -> Array:
        if self.curvature is None or self.pull is None:
            return self._first
        known, pull = self.curvature.copy(), self.pull.copy()
        known.ravel()[:: self._size + 1] += DOUBT
        pull[0] += DOUBT
        return np.linalg.solve(known, pull)

    @property
    def trust(self) -> Array:
        """$a$, in the order of `starts`: the power to which the probabilities of each are raised."""
        return np.asarray(self._values[: len(self.starts)])

    @property
    def correction(self) -> Array:
        """$b$, by class; a class that is more likely than everybody says has more than 0."""
        found = self._values[len(self.starts) :]
        return found if len(found) else np.zeros(self.classes)

    def scores(self, logs: Array) -> Array:
        """(classes, n), given the logarithms of probabilities, (starts, classes, n)."""
        found = weigh(self.trust.tolist(), logs)
        found += self.correction.astype(logs.dtype)[:, None]
        return found

    def among(self, starts: Sequence[int], classes: int) -> Self:
        """For these starts and so many classes; who is gone is left out, and who is new begins with nothing."""
        if (tuple(starts), classes) == (self.starts, self.classes):
            return self
        found = type(self)(tuple(starts), classes)
        if self.curvature is None or self.pull is None:
            return found
        corrected = range(min(found._size - len(starts), self._size - len(self.starts)))
        both = [start for start in self.starts if start in starts]
        into, out = (
            np.array([*map(fit.starts.index, both), *(len(fit.starts) + number for number in corrected)])
            for fit in (found, self)
        )
        curvature, pull = np.zeros((found._size, found._size)), np.zeros(found._size)
        curvature[into[:, None], into] = self.curvature[out[:, None], out]
        pull[into] = self.pull[out]
        return type(self)(found.starts, classes, curvature, pull)

    def after(self, logs: Array, y: Array, fades: float) -> Self:
        """One round later, given logarithms of probabilities, (starts, classes, n), and labels.

        Args:
            logs: what was said of the round before training on it.
            y: its labels, as class numbers.
            fades: what earlier rounds count from now on.
        """
        curvature, gradient = np.zeros((self._size, self._size)), np.zeros(self._size)
        starts, classes, n = logs.shape
        exact = np.float64 if n * sqrt(classes) > ROUNDED else logs.dtype
        for rows in blocks(n, max(1, AT_ONCE // (starts * classes))):
            curved, down = self._slopes(np.ascontiguousarray(logs[:, :, rows], exact), y[rows])
            curvature += curved
            gradient += down
        pull = curvature @ self._values - gradient
        if self.curvature is not None and self.pull is not None:
            curvature, pull = curvature + fades * self.curvature, pull + fades * self.pull
        return type(self)(self.starts, self.classes, curvature, pull)

    def _slopes(self, logs: Array, y: Array) -> tuple[Array, Array]:
        """Curvature and gradient of the logarithmic loss of some rows."""
        starts, corrected = len(self.starts), self._size - len(self.starts)
        proba = self.scores(logs)
        proba -= proba.max(axis=0)
        np.exp(proba, out=proba)
        proba /= proba.sum(axis=0)
        given = np.zeros_like(proba)
        given[y, np.arange(len(y))] = 1.0
        proba += given
        proba /= 2.0
        flat, weighed = logs.reshape(starts, -1), logs * proba
        expected = np.concatenate([weighed.sum(axis=1), proba[:corrected]])
        each = np.ones(len(y), logs.dtype)
        total = expected @ each
        seen = np.concatenate([flat @ given.ravel(), given[:corrected] @ each])
        curvature = expected @ -expected.T
        curvature[:starts, :starts] += [flat @ one for one in weighed.reshape(starts, -1)]  # faster than one product
        if corrected:
            both = weighed @ each
            curvature[:starts, starts:] += both
            curvature[starts:, :starts] += both.T
            curvature.ravel()[starts * (self._size + 1) :: self._size + 1] += total[starts:]
        return curvature, 2.0 * (total - seen)


@dataclass(frozen=True)
class Regressed:
    """All starts, weighed and corrected by a fit; the instances of each are averaged."""

    groups: tuple[tuple[Span, ...], ...]
    fit: Fit
    name: str = "regression"

    @property
    def weights(self) -> Mapping[Span, float]:
        trust = self.fit.trust.tolist()
        return {span: one / len(spans) for spans, one in zip(self.groups, trust, strict=True) for span in spans}

    def scores(self, said: Scores) -> Array:
        logs = said.logs_of(self.groups)
        return self.fit.among(self.fit.starts, logs.shape[1]).scores(logs).T

    def proba(self, said: Scores) -> Array:
        return softmax(self.scores(said))
