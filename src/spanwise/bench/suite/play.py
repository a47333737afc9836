"""One play of the suite: the pool recorded once, prequential schemes replayed on the record, the others live."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from spanwise.bench.folder import where
from spanwise.bench.lock import locked
from spanwise.bench.suite.learners import PEER, make
from spanwise.bench.suite.logprobs import LogProbs
from spanwise.bench.suite.record import record
from spanwise.bench.suite.recording import Recording
from spanwise.bench.suite.scores import Score
from spanwise.bench.suite.streams import STREAMS
from spanwise.core.awe import AWE, prequential_awe
from spanwise.core.scheme import Scheme
from spanwise.core.spans import MRI, Cover
from spanwise.engines.shared import Shared
from spanwise.evaluate import evaluate
from spanwise.evaluate.summary import PLAIN
from spanwise.learner import Learner
from spanwise.schemes.cbce import CBCE
from spanwise.schemes.covers import Copies, Geometric
from spanwise.schemes.plain import Plain, PlainEnsemble
from spanwise.schemes.saol import SAOL
from spanwise.schemes.spanwise import Spanwise, copies_of, cover_of, ensemble_size
from spanwise.schemes.vote import Vote

Make = Callable[..., Scheme]


def covers(rounds: int, copies: int, learner: str) -> list[Cover]:
    """All instances that any replayed scheme may want that is played with a learner."""
    others = [] if learner == PEER else [MRI(), Geometric()]
    return [cover_of(copies), Copies(ensemble_size(rounds, copies)), *others]


def replayed(rounds: int, copies: int) -> dict[str, Make]:
    """Schemes that train on all rows.

    Args:
        rounds: of the stream.
        copies: of the plain learner in `Spanwise`.
    """
    return {
        PLAIN: Plain,
        "plain-ensemble": partial(PlainEnsemble, copies=ensemble_size(rounds, copies)),
        "fall-back": partial(PlainEnsemble, copies=copies),
        "spanwise": partial(Spanwise, copies=copies),
        "awe-prequential": prequential_awe,
        "saol": SAOL,
        "cbce": CBCE,
        "vote": Vote,
    }


def live(rounds: int) -> dict[str, Make]:
    """Schemes that hold rows back."""
    return {"awe": AWE, "awe-literal": partial(AWE, horizon=rounds, literal=True)}


REPLAYED, LIVE = tuple(replayed(2, 1)), tuple(live(2))
SCHEMES = (*REPLAYED, *LIVE)
OF_COPIES = frozenset({PLAIN, "plain-ensemble", "fall-back", "spanwise"})
"""The plain learner, and those in which copies of it play: all that is asked of a learner that adapts by itself."""


def schemes_for(learner: str) -> list[str]:
    """Those that are played with a learner."""
    return [name for name in SCHEMES if learner != PEER or name in OF_COPIES]


@dataclass(frozen=True)
class Task:
    """One stream, learner and seed, and the schemes that are to be played."""

    stream: str
    learner: str
    seed: int
    schemes: tuple[str, ...] = SCHEMES

    def __str__(self) -> str:
        return f"{self.stream}, {self.learner}, seed {self.seed}"

    def recorded(self, learner: Learner) -> "Task":
        """The task whose record will do: that of seed 0, where the seed makes no difference."""
        return replace(self, seed=0) if getattr(learner, "seedless", False) else self

    @property
    def file(self) -> str:
        return f"{self.stream}-{self.learner}-{self.seed}"


def play(task: Task, data: Path, work: Path) -> list[Score]:
    """A score for each of the task's schemes."""
    source = STREAMS[task.stream]
    stream = source.open(data)
    learner = make(task.learner, source.kind, len(stream.classes))
    shared = Shared(LogProbs(learner, len(stream.classes)))
    held = scores(task, live(len(stream)), shared, stream)
    found = [*heard(task, learner, stream, work), *held]
    plain = next((score.seconds for score in found if score.scheme == PLAIN), None)
    return [replace(score, plain_seconds=plain) for score in found]


def heard(task: Task, learner: Learner, stream: Any, work: Path) -> list[Score]:
    """Of those of the task's schemes that can be replayed, on a record that is made if it is not there."""
    if not set(REPLAYED) & set(task.schemes):
        return []
    recorded, copies = task.recorded(learner), copies_of(learner)
    path = work / "records" / recorded.file
    with locked(path.with_name(f".{path.name}.lock")):
        there = path.exists()
        if not there:
            record(learner, stream, covers(len(stream), copies, task.learner), recorded.seed, path)
    recording = Recording(path)
    if there:
        recording.check_is_of(stream)
    found = scores(recorded, replayed(len(stream), copies), recording.learner(), recording.stream)
    return [replace(score, seed=task.seed, where=recording.where or score.where) for score in found]


def scores(task: Task, makers: Mapping[str, Make], learner: Any, stream: Any) -> list[Score]:
    """Of each of the task's schemes that is among `makers`."""
    models = {
        name: made(learner, seed=task.seed, classes=stream.classes)
        for name, made in makers.items()
        if name in task.schemes
    }
    if not models:
        return []
    evaluation = evaluate(models, stream, seed=task.seed)
    return [
        Score(
            task.stream,
            task.learner,
            line.scheme,
            task.seed,
            tuple(round(float(accuracy), 6) for accuracy in evaluation.accuracy_of(line.scheme)),
            round(line.seconds, 3),
            where(),
        )
        for line in evaluation.summary()
    ]
