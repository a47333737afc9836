"""Algorithm 1 (AWE), top to bottom, with the paper's line numbers in the margin.

`Algorithm` leaves its four questions open: which starts are alive (cover), what is known of them
(evidence), how much of that tells how good they are now (window), who predicts next (choice).
`AWE` gives the paper's answers; the other schemes run the same lines with other answers.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from spanwise.core import rows
from spanwise.core.choice import Choice, Combine, Model, Single, Weighted, answers, check_combine
from spanwise.core.evidence import Evidence, HoldOut, Prequential, Record
from spanwise.core.pool import Pool, Scores
from spanwise.core.refine import Doubling, Estimate, Window
from spanwise.core.report import RoundReport, report_of
from spanwise.core.scheme import Scheme
from spanwise.core.spans import MRI, Cover, LiteralMRI, Span, power_of_two
from spanwise.core.split import Split, check_fraction
from spanwise.errors import SettingError
from spanwise.learner import Array, adapt


class Algorithm:
    """Algorithm 1 with its four questions open.

    Args:
        learner: the online learner to adapt.
        cover: which starts are alive.
        evidence: what is known of them.
        window: how much of that tells how good they are now.
        choice: who predicts next.
        seed: one seed makes the run repeatable.
        untrained: judge and combine instances that have not trained yet, as the paper's text does.
    """

    def __init__(
        self,
        learner: object,
        *,
        cover: Cover | None = None,
        evidence: Evidence | None = None,
        window: Window | None = None,
        choice: Choice | None = None,
        seed: int = 0,
        untrained: bool = False,
    ) -> None:
        for part in (cover, evidence, window, choice):
            if isinstance(part, type | str):
                raise SettingError(f"{part!r} is a {type(part).__name__}: pass an object, such as Prequential()")
        self.learner = adapt(learner)
        self.cover = cover or MRI()
        self.evidence = (evidence or HoldOut()).copy()
        self.window = window or Doubling()
        self.choice = (choice or EnsembleOrBest()).copy()
        self.untrained = untrained
        self.round = 1
        self.pool = Pool(self.learner, seed)
        self.pool.advance(self.cover.active(1))
        self.candidates: Sequence[Model] = ()
        self.current: Model = Single(self.pool.spans[0])

    def scores(self, X: Any) -> Scores:
        return self.pool.scores(X)

    def check_round(self) -> None:
        """Raise, before anything trains, if the cover does not reach to the round after this one."""
        self.cover.active(self.round + 1)

    def learn(self, X: Any, y: Array) -> RoundReport:
        """One round, lines 4 to 16; the lines without a number serve evidence and choices that the paper lacks."""
        said = self.scores(X)
        self.choice.observe(said, y, self.current, self.cover, self.round)  # first, as it may ask everybody at once
        played = self.accuracy_played(said, y)  # 4-8
        train, held = self.evidence.divide(len(y), self.rng)  # 9
        self.evidence.before(said, y, self.judged(), self.reference)
        self.pool.learn(rows.take(X, train), y[train])  # 10
        self.evidence.after(rows.take(X, held), y[held])
        self.round += 1
        self.pool.advance(self.cover.active(self.round))  # 11
        record = self.evidence.open(self.pool, self.reference)
        estimates = self.estimates(record)  # 12
        self.candidates = self.choice.candidates(estimates, self.pool, self.round)  # 13-15
        self.current = self.pick(record)  # 16
        why = self.choice.why(self.current, self.pool) if self.candidates else ""
        return report_of(self.round - 1, self.pool, estimates, self.candidates, self.current, played, why)

    def estimates(self, record: Record) -> dict[Span, Estimate]:
        """Line 12: the refined accuracy of each instance that there is evidence on."""
        spans = [span for span, rounds in self.pool.trained.items() if rounds or self.untrained]
        found = {span: self.estimate(Single(span), record) for span in spans}
        return {span: estimate for span, estimate in found.items() if estimate is not None}

    def estimate(self, model: Model, record: Record) -> Estimate | None:
        tally = record.tally(model)
        if not tally:
            return None
        reference = self.reference
        return self.window.estimate(tally, None if reference is None else record.tally(reference), self.round - 1)

    def pick(self, record: Record) -> Model:
        """Line 16: who predicts next; before anything is known, the first instance."""
        if not self.candidates:
            return Single(self.pool.spans[0])
        names = [model.name for model in self.candidates]
        if len(set(names)) < len(names):
            raise SettingError(f"the choice gave candidates of the same name, {names}: evidence is kept by name")
        return self.choice.pick([(model, self.estimate(model, record)) for model in self.candidates])

    def judged(self) -> list[Model]:
        """What is worth scoring before training: every trained instance, and what was combined of them."""
        singles: list[Model] = [Single(span) for span, rounds in self.pool.trained.items() if rounds]
        return singles + [model for model in self.candidates if isinstance(model.name, str)]

    @property
    def reference(self) -> Model | None:
        """Start 1, which others are compared with point by point, where the cover keeps it alive."""
        first = self.pool.spans[0]
        return Single(first) if first.start == 1 else None

    def rng(self) -> np.random.Generator:
        return np.random.default_rng((self.pool.seed, self.round, 0, 1))

    def accuracy_played(self, said: Scores, y: Array) -> float | None:
        if not any(self.pool.trained[span] for span in self.current.weights):
            return None
        return int(np.count_nonzero(answers(self.current, said) == y)) / len(y)

    def copy(self) -> Self:
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.evidence, twin.choice, twin.pool = self.evidence.copy(), self.choice.copy(), self.pool.copy()
        return twin

    def state(self) -> Mapping[str, Any]:
        """All but the pool and its learner, which a snapshot writes apart."""
        return {name: value for name, value in self.__dict__.items() if name not in ("learner", "pool")}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)


@dataclass(frozen=True)
class EnsembleOrBest(Choice):
    """Lines 13 to 16: accuracy-weighted logits or the best instance, whichever is judged better.

    Args:
        combine: raw logits, as printed; or their log-softmax or softmax, which an old and
            over-confident instance cannot dominate.
    """

    combine: Combine = "raw"

    def __post_init__(self) -> None:
        check_combine(self.combine)

    def candidates(self, estimates: Mapping[Span, Estimate], pool: Pool, round: int) -> Sequence[Model]:
        trained = [span for span in estimates if pool.trained[span]]
        if not trained:
            return ()
        weights = {span: estimate.accuracy for span, estimate in estimates.items()}  # 13
        ensemble = Weighted(weights, self.combine)  # 14
        best = max(trained, key=weights.__getitem__)  # 15; the earliest start among equals
        return Single(best), ensemble

    def pick(self, judged: Sequence[tuple[Model, Estimate | None]]) -> Model:
        (best, best_estimate), (ensemble, estimate) = judged
        wins = estimate is not None and best_estimate is not None and estimate.accuracy > best_estimate.accuracy
        return ensemble if wins else best  # 16


class AWE(Scheme):
    """Any online learner, made to choose its attention span (Baby et al., AISTATS 2025).

    >>> from spanwise.adapters.functions import majority_class
    >>> model = AWE(majority_class())
    >>> for round in range(3):
    ...     report = model.learn(np.zeros((20, 1)), ["rain"] * 15 + ["sun"] * 5)
    >>> model.predict(np.zeros((1, 1))).tolist(), report.chosen
    (['rain'], 1)

    Departures from the paper, each with its reason; `literal=True` with a `horizon` turns them off:

    - spans with the same start are one instance: they train on the same rounds, and no horizon is needed;
    - an instance that has not trained yet is neither judged nor in the ensemble: it can only add noise.

    Fixed where the paper is silent: logits are combined raw; ties go to the earliest start, to the best
    instance against the ensemble, and to the lowest class number; before any estimate exists, the
    instance of start 1 predicts.

    Args:
        learner: anything with fresh, learn and logits; a scikit-learn or River classifier.
        horizon: T in the noise level; if None, the smallest power of two that is at least the rounds so far.
        train_fraction: share of each round trained on, the paper's p; the rest is held out.
        delta: probability of failure allowed in Algorithm 2.
        seed: one seed makes the run repeatable.
        literal: the paper's unmerged pool for the given horizon.
        split: your own (n, rng) -> (training positions, hold-out positions).
        classes: all classes, where they are known; else they grow as they appear.
        evidence: `HoldOut(...)` with a cap, or `Prequential()`; then leave train_fraction and split alone.
        transactional: train copies, so that a failed round changes nothing. False saves the copies.
    """

    def __init__(
        self,
        learner: object,
        *,
        horizon: int | None = None,
        train_fraction: float = 0.9,
        delta: float = 0.1,
        seed: int = 0,
        literal: bool = False,
        split: Split | None = None,
        classes: Iterable[Hashable] | None = None,
        evidence: Evidence | None = None,
        transactional: bool = True,
    ) -> None:
        check_fraction(train_fraction)
        if evidence is not None and (train_fraction != 0.9 or split is not None):
            raise SettingError(
                "train_fraction and split are settings of HoldOut: give them there when passing evidence"
            )
        algorithm = Algorithm(
            learner,
            cover=cover_for(horizon, literal),
            evidence=evidence or HoldOut(1 - train_fraction, split=split),
            window=Doubling(delta, power_of_two(horizon) if literal and horizon else horizon),
            seed=seed,
            untrained=literal,
        )
        super().__init__(algorithm, classes=classes, transactional=transactional)


def cover_for(horizon: int | None, literal: bool) -> Cover:
    """The merged pool, or the paper's own for a horizon."""
    if not literal:
        return MRI()
    if horizon is None:
        raise SettingError("literal=True lays the paper's spans over a horizon: pass horizon=T, the rounds to come")
    return LiteralMRI(horizon)


def prequential_awe(learner: object, **settings: Any) -> AWE:
    """AWE judged on each batch just before training on it: what the name `awe-prequential` stands for."""
    return AWE(learner, evidence=Prequential(), **settings)


def literal_awe(learner: object, *, horizon: int | None = None, **settings: Any) -> AWE:
    """AWE as printed, for a known horizon: what the name `awe-literal` stands for."""
    return AWE(learner, horizon=horizon, literal=True, **settings)
