"""Schemes side by side share what they train.

An instance is determined by its seed and the folds it has seen; by the folds alone, where the learner says that it is
`seedless`. So when several schemes play the same stream with the same seed, the instance that one of them has trained
and asked is the one that the others want: it is trained once, and asked once, whoever comes first.

Where a pool is cheaper together, as a stack of networks is, an instance waits with its training until somebody asks
it, and is trained together with all that wait for the same rows, of whichever scheme.
"""

import pickle
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from time import perf_counter
from typing import Any, NamedTuple, Self, cast
from weakref import WeakValueDictionary

from spanwise.core.loop import Around, Loop, copy_learner, engine_for
from spanwise.core.spans import Span
from spanwise.errors import SettingError
from spanwise.learner import Array, Learner


@dataclass(eq=False)
class Stage:
    """An instance after some folds; it is never trained again, only copies of it are.

    Attributes:
        key: tells its seed and its folds.
        learner: what was learned; None while that waits.
        waiting: for what, while it does.
        seconds: what its last fold took, its share where instances were trained together.
        said: by the digest of the rows it was asked about: logits, and the seconds they took.
        then: by the digest of the next fold, what came of it; so that it is there for a scheme that comes later,
            even where the first has retired it already.
    """

    key: bytes
    learner: Learner | None
    waiting: "Waiting | None" = None
    seconds: float = 0.0
    said: dict[bytes, tuple[Array, float]] = field(default_factory=dict)
    then: dict[bytes, "Stage"] = field(default_factory=dict)


class Waiting(NamedTuple):
    """A stage that is to be trained: from which one, on what; the span is for errors."""

    before: Stage
    span: Span
    fold: bytes
    X: Any
    y: Array


class Shared(Around):
    """Any learner, for several schemes that are made around this one object and play the same stream.

    >>> from spanwise.adapters.functions import majority_class
    >>> from spanwise.core.awe import AWE
    >>> from spanwise.schemes.plain import Plain
    >>> shared = Shared(majority_class())
    >>> same_fold, awe = Plain(shared, train_fraction=0.9), AWE(shared)
    >>> for scheme in (same_fold, awe):
    ...     _ = scheme.learn([[0.0]] * 20, ["rain"] * 15 + ["sun"] * 5)
    >>> a, b = (scheme.method.pool.engine.instances[scheme.method.pool.spans[0]] for scheme in (same_fold, awe))
    >>> a is b
    True

    Results are those of schemes that share nothing. Instances are known by what they hold, so rows that are
    equal count as the same rows; a stage is let go of once no scheme holds it. Schemes take turns: nothing here is made
    for several threads. Where training waits, so does its failure: it is told to whoever asks next, again and again
    until it succeeds, and meanwhile all that wait for the same rows wait on.

    Args:
        learner: any learner, or a scikit-learn or River classifier, or a torch module.
    """

    def __init__(self, learner: object) -> None:
        super().__init__(learner)
        self.stages: WeakValueDictionary[bytes, Stage] = WeakValueDictionary()
        self.together = int(getattr(engine_for(self.learner), "together", 1))
        self.saved = 0.0

    def fresh(self, seed: int) -> Self:
        return type(self)(self.learner.fresh(seed))

    def engine(self) -> "SharedEngine":
        return SharedEngine(self)

    def clock(self) -> float:
        """Seconds, as they would have passed had nothing been shared."""
        return perf_counter() + self.saved

    def keep(self, stage: Stage) -> Stage:
        """Make it known; for as long as somebody holds it."""
        self.stages[stage.key] = stage
        return stage

    def settle(self, stages: Iterable[Stage]) -> None:
        """Train these, and all that wait for the same rows. It is on nobody's clock: each scheme pays for its own."""
        begin = perf_counter()
        try:
            for stage in stages:
                while (first := stage.waiting) is not None:
                    while first.before.waiting is not None:
                        first = first.before.waiting
                    self._train(first)
        finally:
            self.saved -= perf_counter() - begin

    def _train(self, first: Waiting) -> None:
        """All that wait for the same rows as `first`, or as many as are best trained at a time.

        Each gets a span of its own, as two schemes may have equal ones. What was before is let go of with every call:
        hundreds of networks would not fit into a GPU both as they were and as they will be.
        """
        found: dict[Span, Stage] = {}
        learners: dict[Span, Learner] = {}
        begin = perf_counter()
        for stage in list(self.stages.values()):
            one = stage.waiting
            if one and one.fold == first.fold and one.before.learner is not None and len(found) < self.together:
                span = one.span._replace(copy=len(found))
                found[span], learners[span] = stage, copy_learner(one.before.learner)
        loop = self.loop(learners)
        loop.learn(list(found), first.X, first.y)
        each = (perf_counter() - begin) / len(found)
        for span, stage in found.items():
            stage.learner, stage.waiting, stage.seconds = loop.instances[span], None, each

    def loop(self, instances: Mapping[Span, Learner]) -> Loop:
        """The learner's own way to run several instances, holding these."""
        engine = engine_for(self.learner)
        if not isinstance(engine, Loop):
            raise SettingError(f"instances that a {type(engine).__name__} keeps elsewhere cannot be shared")
        engine.instances = dict(instances)
        return engine


class SharedEngine:
    """The stages of one scheme's instances; those of all schemes around one learner come from one place."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.instances: dict[Span, Stage] = {}
        self.owed: list[Stage] = []  # whose training this scheme has not paid for yet

    def start(self, span: Span, seed: int) -> None:
        key = digest(None if self.shared.seedless else seed)
        stage = self.shared.stages.get(key)
        if stage is None:
            loop = self.shared.loop({})
            loop.start(span, seed)
            stage = self.shared.keep(Stage(key, loop.instances[span]))
        self.instances[span] = stage

    def retire(self, span: Span) -> None:
        del self.instances[span]

    def learn(self, spans: Sequence[Span], X: Any, y: Array) -> None:
        fold = digest(X, y)
        before = {span: self.instances[span] for span in spans}
        for span, stage in before.items():
            if fold not in stage.then:
                waiting = Waiting(stage, span, fold, X, y)
                stage.then[fold] = self.shared.keep(Stage(digest(stage.key, fold), None, waiting))
        after = {span: stage.then[fold] for span, stage in before.items()}
        if self.shared.together == 1:
            try:
                self.shared.settle(after.values())
            except BaseException:
                for stage in before.values():
                    if fold in stage.then and stage.then[fold].waiting:
                        del stage.then[fold]
                raise
        self.instances.update(after)
        self.owed += after.values()
        self._pay()

    def _pay(self) -> None:
        """As if nothing was shared: what everything this scheme holds took, once it is known."""
        self.shared.saved += sum(stage.seconds for stage in self.owed if not stage.waiting)
        self.owed = [stage for stage in self.owed if stage.waiting]

    def logits(self, spans: Sequence[Span], X: Any) -> list[Array]:
        rows = digest(X)
        stages = {span: self.instances[span] for span in spans}
        self.shared.settle(stages.values())
        self._pay()
        missing = {stage.key: span for span, stage in stages.items() if rows not in stage.said}
        asked = {span: stages[span] for span in missing.values()}
        if asked:
            begin = perf_counter()
            answers = self._loop(asked).logits(list(asked), X)
            each = (perf_counter() - begin) / len(asked)
            for stage, answer in zip(asked.values(), answers, strict=True):
                stage.said[rows] = answer, each
        self.shared.saved += sum(stage.said[rows][1] for span, stage in stages.items() if span not in asked)
        return [stages[span].said[rows][0] for span in spans]

    def copy(self) -> Self:
        twin = type(self)(self.shared)
        twin.instances, twin.owed = dict(self.instances), list(self.owed)
        return twin

    def state(self, span: Span, *, pickle: bool) -> Mapping[str, Any]:
        stage = self.instances[span]
        self.shared.settle([stage])
        return {"key": stage.key, "learner": self._loop({span: stage}).state(span, pickle=pickle)}

    def restore(self, span: Span, seed: int, state: Mapping[str, Any], *, pickle: bool) -> None:
        key = state["key"]
        stage = self.shared.stages.get(key)
        if stage is None:
            loop = self.shared.loop({})
            loop.restore(span, seed, state["learner"], pickle=pickle)
            stage = self.shared.keep(Stage(key, loop.instances[span]))
        self.instances[span] = stage

    def _loop(self, stages: Mapping[Span, Stage]) -> Loop:
        """Of stages that are trained."""
        return self.shared.loop({span: cast(Learner, stage.learner) for span, stage in stages.items()})


def digest(*things: Any) -> bytes:
    """A short name for what `things` hold; equal things that are stored differently may get two."""
    buffers: list[pickle.PickleBuffer] = []
    total = blake2b(pickle.dumps(things, protocol=5, buffer_callback=buffers.append), digest_size=16)
    for buffer in buffers:
        total.update(buffer.raw())
    return total.digest()
