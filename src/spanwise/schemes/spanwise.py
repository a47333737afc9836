"""The scheme we recommend: average the long span, and leave it only for what has been better.

Independent copies of the plain learner, averaged, are hard to beat where nothing shifts; that is the
fall-back. Younger instances stand by. Two ways to use them are tried on every round before it is learned:
their mixture, in the proportions that explain the last rounds best, and a regression of the labels on what
all of them say. One of the two plays only while its paired advantage over the fall-back is more than its
standard error.
"""

import logging
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from spanwise.core.awe import Algorithm
from spanwise.core.choice import Choice, Model, answers
from spanwise.core.evidence import Unjudged
from spanwise.core.pool import Pool, Scores
from spanwise.core.refine import Estimate
from spanwise.core.scheme import Scheme
from spanwise.core.spans import MRI, Cover, Span
from spanwise.errors import SettingError
from spanwise.learner import Array, Learner, adapt
from spanwise.schemes.covers import Thinned, WithCopies
from spanwise.schemes.guard import LEAST, Advantage
from spanwise.schemes.mixture import Mixed, Proportions
from spanwise.schemes.regression import Fit, Regressed

log = logging.getLogger("spanwise")

COPIES = "copies"
"""What several instances of one start go by."""

MIXTURE, REGRESSION = Mixed.name, Regressed.name

MANY = 18
"""Plain learners that are averaged."""

EVERY, AFTER = 4, 16
"""Beside several copies, only every fourth start is kept after the first 16: what it costs goes further in copies."""

LOOKED_AT = 3
"""Rounds that are predicted before copies are looked at for doubles, which had too few rows to differ before."""

LATELY = 8
"""Rounds whose average is that of a whole one: so many that a few small ones among large ones stay small, and so few
that a large delivery, or a history learned first, does not make small ones of all that come after."""


@dataclass(frozen=True)
class Averaged:
    """All instances of one start, their probabilities averaged; one alone goes by its span."""

    spans: tuple[Span, ...]

    @property
    def name(self) -> Span | str:
        return self.spans[0] if len(self.spans) == 1 else COPIES

    @property
    def weights(self) -> Mapping[Span, float]:
        return dict.fromkeys(self.spans, 1.0 / len(self.spans))

    def scores(self, said: Scores) -> Array:
        return self._mean(said) if len(self.spans) > 1 else said.of(self.spans)[0]

    def proba(self, said: Scores) -> Array:
        return self._mean(said) / sum(self.weights.values())  # which may be 1 but for a bit

    def _mean(self, said: Scores) -> Array:
        return np.asarray(said.means_of((self.spans,))[0].T)


@dataclass
class Guarded(Choice):
    """The fall-back, or what has been better than it by more than the standard error of that.

    A round that has fewer rows than the last ones on average counts as much less, and lets as much less be forgotten.

    Args:
        memory: what a round counts a round later, for the regression.
        margin: standard errors that an advantage must exceed.
        decay: what a round counts a round later, for advantages.
    """

    memory: float = 0.5
    margin: float = 1.0
    decay: float = 0.95
    proportions: Proportions = field(default=Proportions(), init=False, repr=False)
    fit: Fit = field(default=Fit((1,), 0), init=False, repr=False)
    sizes: tuple[int, ...] = field(default=(), init=False, repr=False)  # rows of the last rounds
    counted: float = field(default=1.0, init=False, repr=False)  # how much of a whole round the last one was
    offered: dict[str, Model] = field(default_factory=dict, init=False, repr=False)
    ahead: dict[str, Advantage] = field(default_factory=dict, init=False, repr=False)

    def observe(self, said: Scores, y: Array, played: Model, cover: Cover, round: int) -> None:
        groups = trained_by_start(said.pool)
        if not groups:
            return
        self.counted = self._counts(len(y))
        if len(self.sizes) == LOOKED_AT:
            tell_of_doubles(said.of(groups[1]))
        starts, spans = tuple(groups), tuple(groups.values())
        means = said.means_of(spans)
        plain = answers(Averaged(spans[0]), said) == y
        for name, model in self.offered.items():
            before = self.ahead.get(name, Advantage(self.decay))
            self.ahead[name] = before.after(answers(model, said) == y, plain, self.counted)
        self.proportions = self.proportions.after(means[:, y, np.arange(len(y))], self.counted)
        fit = self.fit.among(starts, means.shape[1])
        self.fit = fit.after(said.logs_of(spans), y, self.memory**self.counted)

    def _counts(self, n: int) -> float:
        """How much of a whole round so many rows are."""
        self.sizes = (*self.sizes, n)[-LATELY:]
        return min(1.0, n * len(self.sizes) / sum(self.sizes))

    def candidates(self, estimates: Mapping[Span, Estimate], pool: Pool, round: int) -> Sequence[Model]:
        groups = trained_by_start(pool)
        if not groups:
            return ()
        if next(iter(groups)) != 1:
            raise SettingError("what is guarded is start 1: use a cover that keeps it alive, such as MRI")
        starts, spans = tuple(groups), tuple(groups.values())
        self.proportions = self.proportions.among(starts, self.counted)
        self.fit = self.fit.among(starts, pool.classes)
        ways = Mixed(spans, self.proportions), Regressed(spans, self.fit)
        self.offered = {way.name: way for way in ways}
        return [*ways, Averaged(groups[1])]

    def pick(self, judged: Sequence[tuple[Model, Estimate | None]]) -> Model:
        best = max(self.offered, key=self._sure)  # whose advantage exceeds its standard error by most
        return self.offered[best] if self._sure(best) > 0 else judged[-1][0]

    def _sure(self, name: str) -> float:
        return self.ahead.get(name, Advantage()).sure(self.margin)

    def why(self, picked: Model, pool: Pool) -> str:
        copies = sum(span.start == 1 for span in pool.trained)
        fallback = "the plain learner" if copies == 1 else f"the average of {copies} plain learners"
        if not self.ahead:
            return f"{fallback} plays, as nothing else was tried yet"
        sure = picked.name in self.offered
        shown = str(picked.name) if sure else max(self.offered, key=lambda name: self.ahead[name].mean)
        ahead = self.ahead[shown]
        rounds = f"{ahead.rounds} rounds, newer ones counting more" if ahead.rounds > 1 else "1 round"
        told = f"{self._told(shown)} has been {ahead} than {fallback} over {rounds}"
        if not sure:
            doubt = "that is not sure enough" if ahead.weight > LEAST else "they count for less than three whole rounds"
            told += f"; {f'{doubt}, ' if ahead.mean > 0 else ''}so {fallback} plays"
        others = (f"{self._told(name)} has been {self.ahead[name]}" for name in self.offered if name != shown)
        return "; ".join([told, *others])

    def _told(self, name: str) -> str:
        if name != MIXTURE:
            return f"the {name}"
        start, share = self.proportions.largest
        return f"the {name} (now {share:.0%} start {start})"

    def copy(self) -> Self:
        twin = type(self).__new__(type(self))
        twin.__dict__ = {name: dict(value) if isinstance(value, dict) else value for name, value in vars(self).items()}
        return twin


class Spanwise(Scheme):
    """Any online learner, made to choose its attention span where that has helped.

    >>> from spanwise.adapters.functions import majority_class
    >>> model = Spanwise(majority_class(), copies=2)
    >>> for label in ["rain"] * 6 + ["sun"] * 4:
    ...     report = model.learn(np.zeros((20, 1)), [label] * 20)
    >>> model.predict(np.zeros((1, 1))).tolist(), report.chosen
    (['sun'], 'mixture')

    No data is held back and no horizon is needed. It is the average of `copies` independent plain learners, bit for
    bit, until something else has been better than that by more than its standard error.

    Args:
        learner: anything with fresh, learn and logits; a scikit-learn or River classifier, a torch module.
        copies: plain learners that are averaged; if None, 18, or 1 of a learner that says it is `seedless`. With one,
            another starts every round; with several, after round 16, every fourth.
        seed: one seed makes the run repeatable.
        classes: all classes, where they are known; else they grow as they appear.
        transactional: train copies, so that a failed round changes nothing. False saves the copies.
    """

    def __init__(
        self,
        learner: object,
        *,
        copies: int | None = None,
        seed: int = 0,
        classes: Iterable[Hashable] | None = None,
        transactional: bool = True,
    ) -> None:
        learner = adapt(learner)
        if copies is not None and (isinstance(copies, bool) or not isinstance(copies, int | np.integer) or copies < 1):
            raise SettingError(f"copies={copies!r}: a whole number of plain learners, at least one")
        cover = cover_of(copies_of(learner) if copies is None else int(copies))
        algorithm = Algorithm(learner, cover=cover, evidence=Unjudged(), choice=Guarded(), seed=seed)
        super().__init__(algorithm, classes=classes, transactional=transactional)


def tell_of_doubles(said: Sequence[Array]) -> None:
    """A learner without randomness that does not say so costs many times what it is worth."""
    if len(said) > 1 and all(np.array_equal(said[0], other) for other in said[1:]):
        log.warning(
            "all %d copies of the learner answer the same: if nothing is random in it, give it the attribute "
            "seedless = True, and one of them will do",
            len(said),
        )


def copies_of(learner: Learner) -> int:
    """How many plain learners are worth averaging: one, where all would be the same."""
    return 1 if getattr(learner, "seedless", False) else MANY


def cover_of(copies: int) -> WithCopies:
    """So many copies, and who is alive beside them.

    >>> cover_of(1).starts(30), cover_of(18).starts(30)
    ([1, 17, 25, 27, 29, 30], [1, 17, 25, 29])
    """
    return WithCopies(Thinned(MRI(2), EVERY, AFTER) if copies > 1 else MRI(2), copies)


def mean_pool(cover: Cover, rounds: int) -> int:
    """Instances that are active on average over so many rounds."""
    return round(sum(len(cover.active(t)) for t in range(1, rounds + 1)) / rounds)


def ensemble_size(rounds: int, copies: int) -> int:
    """Plain learners that cost as much as `Spanwise`; one, where all would be the same.

    >>> ensemble_size(100, copies=18)
    22
    """
    return mean_pool(cover_of(copies), rounds) if copies > 1 else 1


def trained_by_start(pool: Pool) -> dict[int, tuple[Span, ...]]:
    """The instances that have trained, by start."""
    groups: dict[int, tuple[Span, ...]] = {}
    for span, rounds in pool.trained.items():
        if rounds:
            groups[span.start] = (*groups.get(span.start, ()), span)
    return groups
