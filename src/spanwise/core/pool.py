"""The instances alive now: start, train, ask, retire."""

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any, Self

import numpy as np

from spanwise.core import rows
from spanwise.core.loop import engine_for
from spanwise.core.probabilities import averages, logarithms
from spanwise.core.spans import Span
from spanwise.errors import LearnerError, SettingError
from spanwise.learner import Array, Learner

Groups = tuple[tuple[Span, ...], ...]
"""Instances that are averaged before anything else is done with them."""


def seed_of(run: int, span: Span) -> int:
    """The seed of an instance: from the run's seed and its start (and copy), so that merging changes nothing.

    The paper's unmerged spans are trained apart, so there kind and resolution count too.
    """
    if span.kind in ("R", "B"):
        key = (run, 1 + ("R", "B").index(span.kind), span.resolution, span.start)
    else:
        key = (run, span.start, span.copy, 0)
    return int(np.random.SeedSequence(key).generate_state(1)[0])


class Pool:
    """Instances by span, in the order of the cover, run by the learner's engine or a loop."""

    def __init__(self, learner: Learner, seed: int) -> None:
        if not isinstance(seed, int | np.integer) or seed < 0:
            raise SettingError(f"seed={seed}: a seed is a whole number that is not negative")
        self.engine = engine_for(learner)
        self.seed = int(seed)
        self.classes = 0
        self.trained: dict[Span, int] = {}  # rounds trained, of every instance alive
        self.seconds = {"learn": 0.0, "score": 0.0}

    @property
    def spans(self) -> list[Span]:
        return list(self.trained)

    def begin_round(self, classes: int) -> None:
        """From now on so many classes are known, and time is counted anew."""
        self.classes = classes
        self.seconds = {"learn": 0.0, "score": 0.0}

    def advance(self, active: Sequence[Span]) -> None:
        """Retire who is not `active` any more and start who is new."""
        for span in set(self.trained) - set(active):
            self.engine.retire(span)
        for span in active:
            if span not in self.trained:
                self.engine.start(span, seed_of(self.seed, span))
        self.trained = {span: self.trained.get(span, 0) for span in active}

    def learn(self, X: Any, y: Array) -> None:
        """Train every instance on one fold."""
        begin = perf_counter()
        self.engine.learn(self.spans, X, y)
        self.trained = {span: rounds + 1 for span, rounds in self.trained.items()}
        self.seconds["learn"] += perf_counter() - begin

    def scores(self, X: Any) -> "Scores":
        """What the instances say of these points, with the weights they have now."""
        return Scores(self, X)

    def copy(self) -> Self:
        twin = type(self).__new__(type(self))
        twin.engine, twin.seed, twin.classes = self.engine.copy(), self.seed, self.classes
        twin.trained, twin.seconds = self.trained, dict(self.seconds)
        return twin

    def state(self, *, pickle: bool) -> list[Mapping[str, Any]]:
        return [
            {"span": span, "trained": rounds, "learner": self.engine.state(span, pickle=pickle)}
            for span, rounds in self.trained.items()
        ]

    def restore(self, state: Sequence[Mapping[str, Any]], *, pickle: bool) -> None:
        for span in self.trained:
            self.engine.retire(span)
        for one in state:
            span = one["span"]
            self.engine.restore(span, seed_of(self.seed, span), one["learner"], pickle=pickle)
        self.trained = {one["span"]: one["trained"] for one in state}


class Scores:
    """Logits of instances on some points, each asked for once, checked, and as wide as the classes known."""

    def __init__(self, pool: Pool, X: Any) -> None:
        self.pool = pool
        self.X = X
        self.n = rows.count(X)
        self.answered: dict[int, tuple[object, Array]] = {}  # by the identity of a model, and that model
        self._known: dict[Span, Array] = {}
        self._means: dict[Groups, Array] = {}
        self._logs: dict[Groups, Array] = {}

    def of(self, spans: Sequence[Span]) -> list[Array]:
        """The logits of each of `spans`, (n, classes)."""
        new = [span for span in spans if span not in self._known]
        if new:
            begin = perf_counter()
            answers = self.pool.engine.logits(new, self.X)
            self.pool.seconds["score"] += perf_counter() - begin
            for span, logits in zip(new, answers, strict=True):
                self._known[span] = complete(logits, self.n, self.pool.classes, span)
        return [self._known[span] for span in spans]

    def proba_of(self, spans: Sequence[Span]) -> Array:
        """The probabilities of each of `spans`, (spans, classes, n)."""
        return self.means_of(tuple((span,) for span in spans))

    def means_of(self, groups: Groups) -> Array:
        """The probabilities of each group, averaged over its members, (groups, classes, n); worked out once."""
        if groups not in self._means:
            logits = iter(self.of([span for spans in groups for span in spans]))
            means = averages([[next(logits) for _ in spans] for spans in groups])
            self._means |= {(spans,): means[i : i + 1] for i, spans in enumerate(groups)}
            self._means[groups] = means
        return self._means[groups]

    def logs_of(self, groups: Groups) -> Array:
        """The logarithms of `means_of`; worked out once."""
        if groups not in self._logs:
            self._logs[groups] = logarithms(self.means_of(groups))
        return self._logs[groups]


def complete(logits: Array, n: int, classes: int, span: Span) -> Array:
    """Logits checked, and as wide as the classes known: one below the row's least for those left out."""
    if logits.ndim != 2 or len(logits) != n:
        raise LearnerError(
            f"the instance started at round {span.start} answered logits of shape {logits.shape}; expected "
            f"({n}, k), a row for every point and a column for every class"
        )
    logits = logits[:, :classes]
    if logits.dtype.kind not in "fiub":
        raise LearnerError(
            f"the instance started at round {span.start} answered logits of dtype {logits.dtype}: numbers are needed"
        )
    if not np.isfinite(logits).all():
        row, column = np.argwhere(~np.isfinite(logits))[0]
        raise LearnerError(
            f"the instance started at round {span.start} answered {logits[row, column]} for row {row}, "
            f"class {column}: logits must be finite"
        )
    if logits.dtype.kind != "f":
        logits = logits.astype(float)
    elif logits.dtype.itemsize < 4:  # probabilities of that precision would not sum to 1
        logits = logits.astype(np.float32)
    missing = classes - logits.shape[1]
    if not missing:
        return logits
    least = logits.min(axis=1, keepdims=True) - 1.0 if logits.shape[1] else np.zeros((n, 1))
    return np.hstack([logits, np.repeat(least, missing, axis=1)])
