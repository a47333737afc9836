"""One play of the suite: the pool recorded once, prequential schemes replayed on the record, the others live."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from spanwise.bench.folder import made_with
from spanwise.bench.store import Cell, Key
from spanwise.bench.suite.learners import make
from spanwise.bench.suite.recording import LogProbs, Recording, record
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

    def key(self, scheme: str) -> Key:
        return Key(self.stream, self.learner, scheme, self.seed, 0)


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
    """Schemes that hold rows back; the plain learner is there to count rows against."""
    return {PLAIN: Plain, "awe": AWE, "awe-literal": partial(AWE, horizon=rounds, literal=True)}


def play(task: Task, data: Path, work: Path) -> list[Cell]:
    """A cell for each scheme."""
    source = STREAMS[task.stream]
    stream = source.open(data)
    learner = make(task.learner, source.kind, len(stream.classes))
    path = work / "records" / task.file
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        record(learner, stream, covers(len(stream)), task.seed, path)
    recording = Recording(path)
    found = rows(replayed(len(stream)), recording.learner(), recording.stream, recording.classes, task.seed)
    shared = Shared(LogProbs(learner, len(stream.classes)))
    held = rows(live(len(stream)), shared, stream, stream.classes, task.seed)
    made = made_with()
    return [Cell(task.key(name), tuple(kept), made) for name, kept in {**held, **found}.items()]


def rows(makers: Mapping[str, Make], learner: Any, stream: Any, classes: Any, seed: int) -> dict[str, list[Any]]:
    """By scheme, without what the suite has no use for."""
    models = {name: made(learner, seed=seed, classes=classes) for name, made in makers.items()}
    by_scheme: dict[str, list[Any]] = {name: [] for name in models}
    for row in evaluate(models, stream, seed=seed).rows:
        by_scheme[row.scheme].append(replace(row, by_class={}, starts=(), estimates={}, windows={}, weights={}))
    return by_scheme
