"""What can predict: one instance, or several of them weighed together.

A model reads the logits of its members from `Scores` and turns them into one score a class; the
highest wins, the lowest class number among equals.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self, get_args

import numpy as np

from spanwise.core.pool import Pool, Scores
from spanwise.core.probabilities import likeliest, softmax, weigh
from spanwise.core.refine import Estimate
from spanwise.core.spans import Cover, Span
from spanwise.errors import SettingError
from spanwise.learner import Array

Combine = Literal["raw", "log-softmax", "softmax"]


class Model(Protocol):
    """Something that predicts with the instances of a pool."""

    @property
    def name(self) -> Span | str:
        """A span for one instance; a word for anything else."""
        ...

    @property
    def weights(self) -> Mapping[Span, float]:
        """Its members and what each counts."""
        ...

    def scores(self, said: Scores) -> Array:
        """(n, classes); the highest is the prediction."""
        ...

    def proba(self, said: Scores) -> Array:
        """(n, classes); rows sum to 1."""
        ...


class Choice(Protocol):
    """Who predicts next? Subclass it and write `candidates`."""

    def observe(self, said: Scores, y: Array, played: Model, cover: Cover, round: int) -> None:
        """What was said of a batch before anybody trained on it, now that its labels are known."""
        return

    def candidates(self, estimates: Mapping[Span, Estimate], pool: Pool, round: int) -> Sequence[Model]:
        """The models worth judging for `round`, given the estimates of the instances.

        None at all leaves the first instance to predict.
        """
        ...

    def pick(self, judged: Sequence[tuple[Model, Estimate | None]]) -> Model:
        """The one that predicts next; `judged` is not empty."""
        return judged[0][0]

    def why(self, picked: Model, pool: Pool) -> str:
        """In numbers that a person can check, for the report; nothing where the estimates say it."""
        return ""

    def copy(self) -> Self:
        """A twin that learns apart; the same object where nothing is learned."""
        return self


@dataclass(frozen=True)
class Single:
    """One instance."""

    span: Span

    @property
    def name(self) -> Span:
        return self.span

    @property
    def weights(self) -> Mapping[Span, float]:
        return {self.span: 1.0}

    def scores(self, said: Scores) -> Array:
        return said.of([self.span])[0]

    def proba(self, said: Scores) -> Array:
        return np.asarray(said.proba_of([self.span])[0].T)


@dataclass(frozen=True)
class Weighted:
    """Line 14: the class with the highest weighted sum of logits (or of their softmax)."""

    weights: Mapping[Span, float]
    combine: Combine = "raw"
    name: str = "ensemble"

    def scores(self, said: Scores) -> Array:
        spans = list(self.weights)
        if self.combine == "softmax":
            return weigh(list(self.weights.values()), said.proba_of(spans)).T
        parts = [TRANSFORMS[self.combine](logits) for logits in said.of(spans)]
        return np.asarray(sum(self.weights[span] * part for span, part in zip(spans, parts, strict=True)))

    def proba(self, said: Scores) -> Array:
        scores, mass = self.scores(said), sum(self.weights.values())
        if mass <= 0:
            return np.full(scores.shape, 1.0 / scores.shape[1])
        return scores / mass if self.combine == "softmax" else softmax(scores / mass)


def check_combine(combine: str) -> None:
    if combine not in get_args(Combine):
        raise SettingError(f"combine={combine!r}: choose from {', '.join(get_args(Combine))}")


def answers(model: Model, said: Scores) -> Array:
    """The class numbers that `model` predicts, worked out once however often it is asked."""
    _, known = said.answered.get(id(model), (model, None))
    if known is None:
        known = likeliest(model.scores(said).T)
        said.answered[id(model)] = model, known
    return known


def log_softmax(logits: Array) -> Array:
    """The logarithm of `softmax`, without its underflow."""
    below = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(below - np.log(np.exp(below).sum(axis=1, keepdims=True)))


TRANSFORMS: dict[str, Any] = {"raw": lambda logits: logits, "log-softmax": log_softmax}
