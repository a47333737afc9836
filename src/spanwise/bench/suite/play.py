"""One play of the suite: the pool recorded once, prequential schemes replayed on the record, the others live."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from spanwise.bench.suite.learners import make
from spanwise.bench.suite.recording import LogProbs, Recording, record
from spanwise.bench.suite.scores import Score
from spanwise.bench.suite.streams import STREAMS
from spanwise.core.awe import AWE, prequential_awe
from spanwise.core.scheme import Scheme
from spanwise.core.spans import MRI, Cover
from spanwise.engines.shared import Shared
from spanwise.evaluate import evaluate
from spanwise.evaluate.summary import PLAIN
from spanwise.schemes.cbce import CBCE
from spanwise.schemes.covers import Copies, Geometric, WithCopies
from spanwise.schemes.plain import Plain, PlainEnsemble
from spanwise.schemes.saol import SAOL
from spanwise.schemes.spanwise import Spanwise
from spanwise.schemes.vote import Vote

COPIES = 8
"""Of the plain learner in `Spanwise`."""

Make = Callable[..., Scheme]


@dataclass(frozen=True)
class Task:
    """One stream, learner and seed."""

    stream: str
    learner: str
    seed: int

    def __str__(self) -> str:
        return f"{self.stream}, {self.learner}, seed {self.seed}"

    @property
    def file(self) -> str:
        return f"{self.stream}-{self.learner}-{self.seed}"


def size(rounds: int) -> int:
    """Members of the plain ensemble: as many as `Spanwise` has instances on average."""
    pool = WithCopies(MRI(2), COPIES)
    return round(sum(len(pool.active(t)) for t in range(1, rounds + 1)) / rounds)


def covers(rounds: int) -> list[Cover]:
    """All instances that a replayed scheme may want."""
    return [MRI(), WithCopies(MRI(2), COPIES), Geometric(), Copies(size(rounds))]


def replayed(rounds: int) -> dict[str, Make]:
    return {
        PLAIN: Plain,
        "plain-ensemble": partial(PlainEnsemble, copies=size(rounds)),
        "spanwise": partial(Spanwise, copies=COPIES),
        "awe-prequential": prequential_awe,
        "saol": SAOL,
        "cbce": CBCE,
        "vote": Vote,
    }


def live(rounds: int) -> dict[str, Make]:
    """Schemes that hold rows back, and the plain learner first, which must be what it is on the record."""
    return {PLAIN: Plain, "awe": AWE, "awe-literal": partial(AWE, horizon=rounds, literal=True)}


def play(task: Task, data: Path, work: Path) -> list[Score]:
    """A score for each scheme."""
    source = STREAMS[task.stream]
    stream = source.open(data)
    learner = make(task.learner, source.kind, len(stream.classes))
    path = work / "records" / task.file
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        record(learner, stream, covers(len(stream)), task.seed, path)
    recording = Recording(path)
    shared = Shared(LogProbs(learner, len(stream.classes)))
    held = scores(task, live(len(stream)), shared, stream)
    return [*scores(task, replayed(len(stream)), recording.learner(), recording.stream), *held[1:]]


def scores(task: Task, makers: Mapping[str, Make], learner: Any, stream: Any) -> list[Score]:
    """Of each scheme, in the order of `makers`."""
    models = {name: made(learner, seed=task.seed, classes=stream.classes) for name, made in makers.items()}
    evaluation = evaluate(models, stream, seed=task.seed)
    return [
        Score(
            task.stream,
            task.learner,
            line.scheme,
            task.seed,
            tuple(round(float(accuracy), 6) for accuracy in evaluation.accuracy_of(line.scheme)),
            round(line.seconds, 3),
        )
        for line in evaluation.summary()
    ]
