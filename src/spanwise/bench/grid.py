"""What is to be run: streams x learners x seeds, and the schemes of each experiment.

All schemes of one stream, learner and seed are played side by side, so that they share the instances
they have in common; that is one play, and it makes one cell a scheme.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, log2
from typing import Any

from spanwise.bench.settings import NAMED, SETTINGS, known
from spanwise.bench.store import Key
from spanwise.bench.tables import RESOLUTION
from spanwise.core.awe import AWE, prequential_awe
from spanwise.core.scheme import Scheme
from spanwise.core.spans import MRI
from spanwise.core.split import leading
from spanwise.schemes.plain import PlainEnsemble
from spanwise.schemes.saol import SAOL
from spanwise.schemes.single_resolution import SingleResolution
from spanwise.schemes.spanwise import Spanwise, ensemble_size
from spanwise.schemes.vote import Vote

FRACTION = 0.9
"""Wild-Time's training fold."""

COPIES = 12
"""Plain learners in `Spanwise`, as many as it had when the first cells were measured. Up to round 16, which is all
that was measured, its other instances are the same too, so that the seeds of one row are alike."""

BASELINES = ("plain", "plain-same-fold")
"""Played beside whatever is asked for."""

RIVALS = ("plain-ensemble", "awe-literal", "awe", "awe-prequential", "saol", "saol-fallback", "vote")

EXPERIMENTS: Mapping[str, tuple[str, ...]] = {
    "table1": (*RIVALS, "plain-ensemble-large", "spanwise"),
    "wins": ("awe-literal", "awe", "saol", "saol-fallback", "vote"),
    "voting": ("awe-literal", "vote", "vote-merged"),
    "resolutions": ("awe", RESOLUTION),
    "figures": (*RIVALS, "plain-ensemble-large", "spanwise"),
    "controls": ("plain-ensemble", "awe", "awe-literal", "plain-ensemble-large", "spanwise"),
}
"""The schemes of each experiment; a resolution stands for all lengths that the stream has."""


@dataclass(frozen=True)
class Play:
    """One stream, learner and seed: what is run in one go."""

    stream: str
    learner: str
    seed: int
    iterations: int
    schemes: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.stream}, {self.learner}, seed {self.seed}, {self.iterations} iterations"

    def key(self, scheme: str) -> Key:
        return Key(self.stream, self.learner, scheme, self.seed, self.iterations)

    def without(self, done: Mapping[Key, Any]) -> "Play":
        """The same less the schemes whose cells are there."""
        left = tuple(scheme for scheme in self.schemes if self.key(scheme) not in done)
        return Play(self.stream, self.learner, self.seed, self.iterations, left)


@dataclass(frozen=True)
class Grid:
    """Streams x learners x seeds, with the schemes of an experiment.

    Args:
        experiment: a name in `EXPERIMENTS`.
        streams: names in `SETTINGS`.
        learners: names in `NAMED`: ft, si, ewc, irm, coral, and those with Wild-Time's quirks.
        seeds: how many, from 0.
        iterations: mini-batches a round; None for those of the stream's setting.
    """

    experiment: str
    streams: Sequence[str]
    learners: Sequence[str]
    seeds: int
    iterations: int | None = None

    def __post_init__(self) -> None:
        known("experiment", self.experiment, EXPERIMENTS)
        for stream in self.streams:
            known("stream", stream, SETTINGS)
        for learner in self.learners:
            known("learner", learner, NAMED)

    def plays(self, rounds: Mapping[str, int]) -> list[Play]:
        """By stream, then seed, then learner, so that a table has all learners before all is done.

        Args:
            rounds: of each stream.
        """
        return [
            Play(
                stream,
                learner,
                seed,
                self.iterations or SETTINGS[stream].steps(learner),
                tuple(schemes_of(self.experiment, rounds[stream])),
            )
            for stream in dict.fromkeys(self.streams)
            for seed in range(self.seeds)
            for learner in dict.fromkeys(self.learners)
        ]


def schemes_of(experiment: str, rounds: int) -> list[str]:
    """The schemes of an experiment on a stream of so many rounds.

    >>> schemes_of("resolutions", 16)
    ['awe', 'single-resolution-2', 'single-resolution-4', 'single-resolution-8', 'single-resolution-16']
    """
    names: list[str] = []
    for name in EXPERIMENTS[experiment]:
        if name == RESOLUTION:
            names += [f"{RESOLUTION}{2**level}" for level in range(1, ceil(log2(rounds)) + 1)]
        else:
            names.append(name)
    return names


def make_schemes(names: Sequence[str], stream: Any) -> dict[str, Callable[..., Scheme]]:
    """How each is made around a learner, on the folds of this stream."""
    rounds = len(stream)
    split = getattr(stream, "split", leading(FRACTION))
    folds: dict[str, Any] = {"train_fraction": FRACTION, "split": split}
    size = round(sum(len(MRI().starts(t)) for t in range(1, rounds)) / max(1, rounds - 1))
    table: dict[str, Callable[..., Scheme]] = {
        "awe": partial(AWE, **folds),
        "awe-literal": partial(AWE, horizon=rounds, literal=True, **folds),
        "awe-prequential": prequential_awe,
        "plain-ensemble": partial(PlainEnsemble, copies=max(2, size)),  # as many as AWE has instances
        "plain-ensemble-large": partial(PlainEnsemble, copies=ensemble_size(max(1, rounds - 1), COPIES)),  # as Spanwise
        "spanwise": partial(Spanwise, copies=COPIES),
        "saol": SAOL,
        "saol-fallback": partial(SAOL, fallback=True),
        "vote": partial(Vote, horizon=rounds, literal=True, **folds),
        "vote-merged": partial(Vote, **folds),
    }
    for name in names:
        if name.startswith(RESOLUTION):
            table[name] = partial(SingleResolution, length=int(name.removeprefix(RESOLUTION)), **folds)
    return {name: table[name] for name in names}
