"""The face that all schemes share: predict, learn, save, load.

A round is learned on a copy that takes the model's place only when all has gone well. So a failed
round changes nothing, and predicting in one thread while another learns is safe: whoever predicts
holds on to the model as it was before the round.
"""

import os
from collections.abc import Hashable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from threading import RLock
from time import perf_counter
from typing import Any, Protocol, Self

import numpy as np

from spanwise import snapshot
from spanwise.core import rows
from spanwise.core.choice import Model, answers
from spanwise.core.evidence import Evidence
from spanwise.core.labels import Labels, flatten
from spanwise.core.pool import Pool, Scores
from spanwise.core.report import RoundReport
from spanwise.core.split import YOUR_OWN, Split
from spanwise.errors import BrokenModelError, DataError, SnapshotError
from spanwise.learner import Array, Learner, adapt


class Method(Protocol):
    """What a scheme does with clean input: `core.awe.Algorithm`."""

    learner: Learner
    pool: Pool
    evidence: Evidence
    current: Model
    round: int

    def scores(self, X: Any) -> Scores: ...

    def learn(self, X: Any, y: Array) -> RoundReport: ...

    def check_round(self) -> None: ...

    def rng(self) -> np.random.Generator: ...

    def copy(self) -> Self: ...


SAVED = {"scheme", "transactional", "classes", "classes_fixed", "layout", "seed", "pool", "method"}
"""What a snapshot of a scheme holds."""


@dataclass(frozen=True)
class Live:
    """Everything a prediction needs, swapped in one go."""

    method: Method
    labels: Labels
    layout: rows.Layout | None


class Scheme:
    """A method behind checks. `Scheme(Algorithm(learner, window=...))` is a scheme of your own making.

    Predicting is safe while another thread learns, and does not wait for it; two threads that learn
    take turns. With `transactional=False`, predicting waits for a round to end.

    Args:
        method: what to do with clean input.
        classes: all classes, where they are known; else they grow as they appear.
        transactional: train copies, so that a failed round changes nothing. False saves the copies;
            a failure then marks the model broken until it is loaded again.
    """

    def __init__(
        self, method: Method, *, classes: Iterable[Hashable] | None = None, transactional: bool = True
    ) -> None:
        self.transactional = transactional
        labels = Labels(classes)
        method.pool.classes = len(labels)
        self._start(Live(method, labels, None))

    def _start(self, live: Live) -> None:
        self._live = live
        self._lock = RLock()
        self._broken: str | None = None

    def __getstate__(self) -> dict[str, Any]:
        """For copy and pickle: all but the lock, which cannot travel."""
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=RLock())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} around {type(self.method.learner).__name__}, at round {self.round}>"

    @property
    def method(self) -> Method:
        """What is behind the face, as it is now; to look at, not to change."""
        return self._live.method

    @property
    def round(self) -> int:
        """The round to come, 1 before anything was learned."""
        return self._live.method.round

    @property
    def classes(self) -> list[Hashable]:
        """The classes known, in the order of their numbers."""
        return list(self._live.labels.classes)

    def predict(self, X: Any) -> Array:
        """A label for every row; None for all of them while no class is known."""
        with self._steady():
            live = self._whole()
            n = self._check(X, live, learning=False)
            if not len(live.labels):
                return np.full(n, None)
            return live.labels.names(answers(live.method.current, live.method.scores(X)))

    def predict_proba(self, X: Any) -> Array:
        """A probability for every row and class, columns in the order of `classes`."""
        with self._steady():
            live = self._whole()
            n = self._check(X, live, learning=False)
            if not len(live.labels):
                return np.zeros((n, 0))
            return live.method.current.proba(live.method.scores(X))

    def learn(self, X: Any, y: Any) -> RoundReport:
        """One round: the labels of a batch have come. Rows whose label is None or NaN are left out."""
        with self._lock:
            begin = perf_counter()
            live = self._whole()
            n = self._check(X, live, learning=True)
            labels, layout = live.labels.copy(), rows.layout(X)
            y = flatten(y)
            if len(y) != n:
                raise DataError(f"{n} rows of features but {len(y)} labels: they must be as many")
            labelled, numbers = labels.number(y)
            live.method.check_round()
            method = live.method.copy() if self.transactional else live.method
            method.pool.begin_round(len(labels))
            try:
                report = method.learn(X if len(labelled) == n else rows.take(X, labelled), numbers)
            except BaseException as error:
                if not self.transactional:
                    self._broken = f"{type(error).__name__}: {error}"
                raise
            self._live = Live(method, labels, layout)
            return replace(report, seconds={**report.seconds, "total": perf_counter() - begin})

    def save(self, folder: str | os.PathLike[str], *, pickle: bool = False) -> None:
        """Write the model to `folder`, which may hold an older snapshot; all of it or nothing.

        Args:
            folder: made if it is not there.
            pickle: allow pickle for learners that cannot be written otherwise.
        """
        with self._lock:
            live = self._whole()
            snapshot.write(
                folder,
                {
                    "scheme": type(self).__name__,
                    "transactional": self.transactional,
                    "classes": live.labels.classes,
                    "classes_fixed": live.labels.fixed,
                    "layout": live.layout,
                    "seed": live.method.pool.seed,
                    "pool": live.method.pool.state(pickle=pickle),
                    "method": live.method,
                },
            )

    @classmethod
    def load(
        cls, folder: str | os.PathLike[str], learner: object, *, split: Split | None = None, pickle: bool = False
    ) -> Self:
        """The model that was saved in `folder`; it goes on exactly as that one would have.

        Args:
            folder: where `save` wrote it.
            learner: the learner it was made with; new instances are made from this one.
            split: your own split again, if the model had one: a folder holds no code.
            pickle: allow pickles in the folder; only for folders you trust.
        """
        saved = snapshot.read(folder)
        if not isinstance(saved, dict) or not set(saved) >= SAVED:
            raise SnapshotError(f"{folder} holds a snapshot, but not of a scheme")
        if cls.__name__ not in (saved["scheme"], "Scheme"):
            raise SnapshotError(f"{folder} holds a {saved['scheme']}: load it with {saved['scheme']}.load")
        method: Method = saved["method"]
        if str(method.evidence.split) == YOUR_OWN:
            if split is None:
                raise SnapshotError(f"{folder} was saved with a split of your own: pass split= again")
            method.evidence.split = split  # type: ignore[misc]
        labels = Labels(saved["classes"], fixed=saved["classes_fixed"])
        method.learner = adapt(learner)
        method.pool = Pool(method.learner, saved["seed"])
        method.pool.classes = len(labels)
        method.pool.restore(saved["pool"], pickle=pickle)
        scheme = cls.__new__(cls)
        scheme.transactional = saved["transactional"]
        scheme._start(Live(method, labels, saved["layout"]))
        return scheme

    def _check(self, X: Any, live: Live, *, learning: bool) -> int:
        n = rows.count(X)
        if n == 0:
            raise DataError("the batch is empty: a round needs at least one row")
        if live.layout is not None:
            rows.check_layout(live.layout, rows.layout(X), learning=learning)
        if not getattr(live.method.learner, "accepts_nan", False):
            rows.check_finite(X)
        return n

    def _steady(self) -> AbstractContextManager[Any]:
        """Learners that are trained in place must not be asked meanwhile."""
        return nullcontext() if self.transactional else self._lock

    def _whole(self) -> Live:
        if self._broken is not None:
            raise BrokenModelError(
                f"a round failed half-way ({self._broken}) and transactional=False kept no copy to go back to: "
                "load the model from its last snapshot"
            )
        return self._live
