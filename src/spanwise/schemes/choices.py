"""Other answers to: who predicts next? Those without a memory; SAOL's and CBCE's weights have files of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from spanwise.core.choice import Choice, Combine, Model, Single, Weighted, check_combine
from spanwise.core.pool import Pool, Scores
from spanwise.core.refine import Estimate
from spanwise.core.spans import Span
from spanwise.learner import Array


@dataclass(frozen=True)
class First(Choice):
    """The first instance, always: the plain learner."""

    def candidates(self, estimates: Mapping[Span, Estimate], pool: Pool, round: int) -> Sequence[Model]:
        return ()


@dataclass(frozen=True)
class Best(Choice):
    """The instance with the highest estimate, the earliest start among equals."""

    def candidates(self, estimates: Mapping[Span, Estimate], pool: Pool, round: int) -> Sequence[Model]:
        trained = [span for span in estimates if pool.trained[span]]
        return [Single(max(trained, key=lambda span: estimates[span].accuracy))] if trained else ()


@dataclass(frozen=True)
class Uniform(Choice):
    """All trained instances, each counting the same."""

    combine: Combine = "softmax"

    def __post_init__(self) -> None:
        check_combine(self.combine)

    def candidates(self, estimates: Mapping[Span, Estimate], pool: Pool, round: int) -> Sequence[Model]:
        trained = [span for span, rounds in pool.trained.items() if rounds]
        return [Weighted({span: 1.0 / len(trained) for span in trained}, self.combine)] if trained else ()


@dataclass(frozen=True)
class Majority(Choice):
    """One instance, one vote.

    Args:
        untrained: instances that have not trained yet vote too, as in the paper's comparison.
    """

    untrained: bool = False

    def candidates(self, estimates: Mapping[Span, Estimate], pool: Pool, round: int) -> Sequence[Model]:
        voters = [span for span, rounds in pool.trained.items() if rounds or self.untrained]
        return [Votes(dict.fromkeys(voters, 1.0))] if voters else ()


@dataclass(frozen=True)
class Votes:
    """The class that most members predict; the lowest class number among equals."""

    weights: Mapping[Span, float]
    name: str = "vote"

    def scores(self, said: Scores) -> Array:
        predictions = [logits.argmax(axis=1) for logits in said.of(list(self.weights))]
        votes = np.zeros((said.n, said.pool.classes))
        for prediction in predictions:
            votes[np.arange(said.n), prediction] += 1.0
        return votes

    def proba(self, said: Scores) -> Array:
        return self.scores(said) / len(self.weights)
