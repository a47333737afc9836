"""`spanwise bench ablation`: what each part of `Spanwise` is for, on the records of the development streams."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from spanwise.bench.folder import made_with
from spanwise.bench.processes import each
from spanwise.bench.suite.learners import LEARNERS, PEER, SEEDLESS
from spanwise.bench.suite.play import Task
from spanwise.bench.suite.recording import Recording
from spanwise.bench.suite.streams import STREAMS
from spanwise.bench.tables import markdown
from spanwise.core.awe import Algorithm
from spanwise.core.choice import Model
from spanwise.core.evidence import Unjudged
from spanwise.core.pool import Pool
from spanwise.core.refine import Estimate
from spanwise.core.scheme import Scheme
from spanwise.core.spans import MRI, Cover, Span
from spanwise.errors import DataError
from spanwise.evaluate import evaluate
from spanwise.evaluate.summary import PLAIN
from spanwise.schemes.covers import Copies, Thinned
from spanwise.schemes.plain import Plain, PlainEnsemble
from spanwise.schemes.spanwise import MANY, MIXTURE, REGRESSION, Guarded, cover_of, ensemble_size, mean_pool

HEADER = (
    "Spanwise",
    "mean gain",
    "worst cell",
    "mean gain, with randomness",
    "over an ensemble of its size",
    "worst against it",
    "over it, with randomness",
)


@dataclass
class Only(Guarded):
    """Guarded, with one of the two ways that it offers."""

    kept: str = MIXTURE

    def candidates(self, estimates: Mapping[Span, Estimate], pool: Pool, round: int) -> Sequence[Model]:
        found = super().candidates(estimates, pool, round)
        self.offered = {name: model for name, model in self.offered.items() if name == self.kept}
        return found


@dataclass
class Unguarded(Only):
    """Plays the one thing that it offers, come what may."""

    def pick(self, judged: Sequence[tuple[Model, Estimate | None]]) -> Model:
        return self.offered[self.kept]


@dataclass(frozen=True)
class Variant:
    """Spanwise with a part changed.

    Attributes:
        choice: made anew for every run.
        copies: of a learner with randomness.
        young: which others are alive; if None, those that `Spanwise` keeps beside so many copies.
    """

    choice: Callable[[], Guarded] = Guarded
    copies: int = MANY
    young: Cover | None = None

    def make(self, learner: Any, *, seed: int, classes: Sequence[Any], copies: int) -> Scheme:
        """Around a learner of which `Spanwise` averages so many copies."""
        algorithm = Algorithm(learner, cover=self.cover(copies), evidence=Unjudged(), choice=self.choice(), seed=seed)
        return Scheme(algorithm, classes=classes)

    def cover(self, copies: int) -> Cover:
        usual = cover_of(self.copies if copies > 1 else 1)
        return usual if self.young is None else replace(usual, cover=self.young)

    def size(self, rounds: int, copies: int) -> int:
        """Plain learners that cost as much, or as many as were recorded; one, where all would be the same."""
        return min(mean_pool(self.cover(copies), rounds), ensemble_size(rounds, copies)) if copies > 1 else 1


VARIANTS: dict[str, Variant] = {
    "as it is": Variant(),
    "the fall-back alone": Variant(partial(Guarded, margin=1e9)),
    "without the mixture": Variant(partial(Only, kept=REGRESSION)),
    "without the regression": Variant(partial(Only, kept=MIXTURE)),
    "no guard, the mixture plays": Variant(partial(Unguarded, kept=MIXTURE)),
    "no guard, the regression plays": Variant(partial(Unguarded, kept=REGRESSION)),
    "margin 0": Variant(partial(Guarded, margin=0.0)),
    "margin 2": Variant(partial(Guarded, margin=2.0)),
    "advantages decay by 0.8": Variant(partial(Guarded, decay=0.8)),
    "advantages never decay": Variant(partial(Guarded, decay=1.0)),
    "memory 0.8": Variant(partial(Guarded, memory=0.8)),
    "memory 0.2": Variant(partial(Guarded, memory=0.2)),
    "no younger starts, a regression on the copies alone": Variant(young=Copies()),
    "a start every round": Variant(young=MRI(2)),
    "a start every 2 rounds from the first on": Variant(young=Thinned(MRI(2), 2)),
    "a start every 4 rounds from the first on": Variant(young=Thinned(MRI(2), 4)),
    "a start every 8 rounds from the first on": Variant(young=Thinned(MRI(2), 8)),
    "a start every round, living twice as long": Variant(young=MRI(4)),
    "12 copies": Variant(copies=12),
    "12 copies, a start every round": Variant(copies=12, young=MRI(2)),
    "6 copies": Variant(copies=6),
    "1 copy": Variant(copies=1),
}


class Points(NamedTuple):
    """What a variant is ahead of the plain learner, and of an ensemble of as many as it has instances."""

    gain: float
    over_the_ensemble: float


def play(task: Task, work: Path) -> dict[str, Points]:
    """What came of each variant on one record."""
    recording = Recording(work / "records" / task.file)
    rounds, copies = len(recording.stream), MANY if (recording.instances[:, 1] > 0).any() else 1
    sizes = {name: variant.size(rounds, copies) for name, variant in VARIANTS.items()}
    makers: dict[str, Callable[..., Scheme]] = {
        PLAIN: Plain,
        **{f"ensemble of {size}": partial(PlainEnsemble, copies=size) for size in sizes.values()},
        **{name: partial(variant.make, copies=copies) for name, variant in VARIANTS.items()},
    }
    models = {
        name: made(recording.learner(), seed=recording.seed, classes=recording.classes) for name, made in makers.items()
    }
    lines = evaluate(models, recording.stream, seed=recording.seed).summary()
    gains = {line.scheme: line.gain or 0.0 for line in lines}
    return {name: Points(gains[name], gains[name] - gains[f"ensemble of {size}"]) for name, size in sizes.items()}


def recorded(work: Path) -> list[Task]:
    """Seed 0 of all that is there of the development streams, but of the learner that is reported apart."""
    streams = [stream for stream, source in STREAMS.items() if source.role == "development"]
    tasks = [Task(stream, learner, 0) for stream in streams for learner in LEARNERS if learner != PEER]
    found = [task for task in tasks if (work / "records" / task.file).exists()]
    if not found:
        raise DataError(f"{work} holds no record of a development stream: run `spanwise bench suite` with it first")
    return found


def run(work: Path, out: Path, workers: int) -> str:
    """Replay what is recorded; write ablation.json and ablation.md."""
    found = recorded(work)
    cells = dict(sorted(each(partial(play, work=work), found, workers), key=lambda pair: found.index(pair[0])))
    rows = [
        {"stream": task.stream, "learner": task.learner, "variant": name}
        | {what: round(value, 4) for what, value in points._asdict().items()}
        for task, variants in cells.items()
        for name, points in variants.items()
    ]
    table = markdown(HEADER, [line(name, cells) for name in VARIANTS])
    out.mkdir(parents=True, exist_ok=True)
    (out / "ablation.json").write_text(json.dumps({**made_with(), "rows": rows}, indent=1) + "\n", encoding="utf-8")
    (out / "ablation.md").write_text(table, encoding="utf-8")
    return table


def line(name: str, cells: Mapping[Task, Mapping[str, Points]]) -> tuple[str, ...]:
    """Of a variant's gain and its lead over the ensemble: mean, worst cell, mean of learners with randomness."""
    told = [name]
    for what in range(2):
        points = {task: found[name][what] for task, found in cells.items()}
        worst = min(points, key=lambda task: points[task])
        told += [f"{fmean(points.values()):+.2f}", f"{points[worst]:+.2f} ({worst.stream}, {worst.learner})"]
        random = [one for task, one in points.items() if task.learner not in SEEDLESS]
        told.append(f"{fmean(random):+.2f}" if random else "")
    return tuple(told)
