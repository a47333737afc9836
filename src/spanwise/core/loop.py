"""How instances are run: the Engine that the pool asks for, and the plain one that any learner can have.

`Loop` runs one instance after another, or a few at a time in threads. A learner that knows a better
way (a stack of networks on a GPU, actors on other machines) offers its own through `engine()`.
"""

import pickle
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from typing import Any, Protocol, Self, TypeVar, cast

import numpy as np

from spanwise import snapshot
from spanwise.core.spans import Span
from spanwise.errors import LearnerError, SettingError, SnapshotError, SpanwiseError
from spanwise.learner import Array, Learner, Stateful, adapt

T = TypeVar("T")


class Engine(Protocol):
    """Holds the learners of a pool and runs them. Same results from each, up to floating-point order."""

    def start(self, span: Span, seed: int) -> None:
        """A fresh instance for `span`."""
        ...

    def retire(self, span: Span) -> None:
        """Let go of it."""
        ...

    def learn(self, spans: Sequence[Span], X: Any, y: Array) -> None:
        """Train each of them on one fold."""
        ...

    def logits(self, spans: Sequence[Span], X: Any) -> list[Array]:
        """What each of them says, in the order of `spans`."""
        ...

    def copy(self) -> Self:
        """A twin that can be trained without this one noticing."""
        ...

    def state(self, span: Span, *, pickle: bool) -> Mapping[str, Any]:
        """What one instance has learned, for a snapshot."""
        ...

    def restore(self, span: Span, seed: int, state: Mapping[str, Any], *, pickle: bool) -> None:
        """Put back an instance whose `state` this was."""
        ...


class Loop:
    """One instance after another; with `threads`, that many at a time.

    Attributes:
        together: how many at a time are cheaper than one by one.
    """

    together: int = 1

    def __init__(self, learner: Learner, threads: int | None = None) -> None:
        self.learner = learner
        self.threads = threads
        self.instances: dict[Span, Learner] = {}

    def start(self, span: Span, seed: int) -> None:
        made: object = _named(span, "starting", lambda learner: learner.fresh(seed), self.learner)
        kinds = type(self.learner), Learner  # the first is the faster to tell
        if made is self.learner or not isinstance(made, kinds):
            what = "itself" if made is self.learner else f"a {type(made).__name__}"
            name = type(self.learner).__name__
            raise LearnerError(f"fresh(seed) of {name} returned {what}: it must make a new, untrained learner")
        self.instances[span] = made

    def retire(self, span: Span) -> None:
        del self.instances[span]

    def learn(self, spans: Sequence[Span], X: Any, y: Array) -> None:
        self._each("learning", lambda instance: instance.learn(X, y), spans)

    def logits(self, spans: Sequence[Span], X: Any) -> list[Array]:
        return self._each("answering", lambda instance: np.asarray(instance.logits(X)), spans)

    def copy(self) -> Self:
        twin = type(self)(self.learner, self.threads)
        twin.instances = {span: copy_learner(instance) for span, instance in self.instances.items()}
        return twin

    def state(self, span: Span, *, pickle: bool) -> Mapping[str, Any]:
        return dump_learner(self.instances[span], allow_pickle=pickle)

    def restore(self, span: Span, seed: int, state: Mapping[str, Any], *, pickle: bool) -> None:
        self.instances[span] = load_learner(self.learner, seed, state, allow_pickle=pickle)

    def _each(self, doing: str, work: Callable[[Learner], T], spans: Sequence[Span]) -> list[T]:
        if self.threads is None or len(spans) < 2:
            return [_named(span, doing, work, self.instances[span]) for span in spans]
        with ThreadPoolExecutor(self.threads) as threads:
            return list(threads.map(lambda span: _named(span, doing, work, self.instances[span]), spans))


class Within(Loop):
    """Instances that hold a learner within, as `instance.learner`, and are run by the loop of that one."""

    @property
    def together(self) -> int:  # type: ignore[override]
        return self.within(()).together

    def within(self, spans: Sequence[Span]) -> Loop:
        """The loop of the learners within."""
        loop = engine_for(self.learner.learner)  # type: ignore[attr-defined]
        loop.instances = {span: self.instances[span].learner for span in spans}  # type: ignore[attr-defined]
        return cast(Loop, loop)


class Around:
    """A learner that holds another, and does what that one does but for what a subclass says."""

    def __init__(self, learner: object) -> None:
        self.learner = adapt(learner)
        self.accepts_nan = bool(getattr(self.learner, "accepts_nan", False))
        self.seedless = bool(getattr(self.learner, "seedless", False))

    def learn(self, X: Any, y: Array) -> None:
        self.learner.learn(X, y)

    def logits(self, X: Any) -> Array:
        return self.learner.logits(X)

    def state(self) -> Mapping[str, Any]:
        return dump_learner(self.learner, allow_pickle=False)

    def restore(self, state: Mapping[str, Any]) -> None:
        self.learner = load_learner(self.learner, 0, state, allow_pickle=False)


class Threaded(Around):
    """Any learner, its instances run several at a time in threads.

    It pays where a learner lets go of Python's lock while it works, as those of scikit-learn do on
    large batches. Results are the same as without.

    Args:
        learner: any learner, or a scikit-learn or River classifier.
        threads: how many at a time.
    """

    def __init__(self, learner: object, threads: int) -> None:
        if threads < 1:
            raise SettingError(f"threads={threads}: at least one is needed to get anything done")
        super().__init__(learner)
        self.threads = threads

    def engine(self) -> Loop:
        return Loop(self.learner, self.threads)

    def fresh(self, seed: int) -> Self:
        return type(self)(self.learner.fresh(seed), self.threads)


def engine_for(learner: Learner) -> Engine:
    """The engine that the learner offers, else the loop."""
    offer: Callable[[], Engine | None] | None = getattr(learner, "engine", None)
    return (offer() if offer is not None else None) or Loop(learner)


def dump_learner(learner: Learner, *, allow_pickle: bool) -> Mapping[str, Any]:
    """What `learner` has learned: its own `state()`, or its pickle if that was asked for by name."""
    try:
        if isinstance(learner, Stateful):
            state = learner.state()
            snapshot.check_writable(state)
            return {"state": state}
        reason = "it has no state() and restore()"
    except SnapshotError as error:
        reason = str(error)
    name = type(learner).__name__
    if not allow_pickle:
        raise SnapshotError(f"{name} cannot be saved without pickle: {reason}. Pass pickle=True.")
    try:
        return {"pickle": pickle.dumps(learner)}
    except Exception as error:
        raise SnapshotError(f"{name} cannot be saved, not even with pickle: {error}") from error


def load_learner(template: Learner, seed: int, dumped: Mapping[str, Any], *, allow_pickle: bool) -> Learner:
    """The learner that `dump_learner` wrote down."""
    if "state" in dumped:
        learner = template.fresh(seed)
        if not isinstance(learner, Stateful):
            raise SnapshotError(f"{type(learner).__name__} has no restore(): pass the learner it was saved with")
        try:
            learner.restore(dumped["state"])
        except (KeyError, TypeError, AttributeError) as error:
            raise SnapshotError(
                f"what was saved does not fit {type(learner).__name__} ({type(error).__name__}: {error}): "
                "pass the learner it was saved with"
            ) from error
        return learner
    if not allow_pickle:
        raise SnapshotError(
            "this folder holds pickles, which run code when loaded. If you trust where it comes from, pass pickle=True."
        )
    learner = pickle.loads(dumped["pickle"])
    if type(learner) is not type(template):
        raise SnapshotError(
            f"the folder holds a {type(learner).__name__}, but a {type(template).__name__} was passed: "
            "pass the learner it was saved with"
        )
    return learner


def copy_learner(learner: Learner) -> Learner:
    """A twin to train: the learner's own `copy()`, else a deep copy."""
    own: Callable[[], Learner] | None = getattr(learner, "copy", None)
    return own() if own is not None else deepcopy(learner)


def _named(span: Span, doing: str, work: Callable[[Learner], T], learner: Learner) -> T:
    """Errors of a wrapped learner say which instance it was and what it was doing."""
    try:
        return work(learner)
    except SpanwiseError:
        raise
    except Exception as error:
        raise LearnerError(
            f"the instance started at round {span.start} failed while {doing}: {type(error).__name__}: {error}"
        ) from error
