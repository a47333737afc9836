"""Streams that River's generators draw: those that work on drifting data has compared on for decades."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import Any

import numpy as np

from spanwise.errors import MissingExtraError, SettingError
from spanwise.streams.batch import Batch


@dataclass(frozen=True)
class Generated:
    """Rounds of arrays from a generator of `river.datasets.synth`, set anew when a phase begins.

    >>> stream = Generated("SEA", [{"variant": 0}, {"variant": 3}], rounds=4, size=5)
    >>> [(batch.X.shape, batch.shift) for batch in stream]
    [((5, 3), False), ((5, 3), False), ((5, 3), True), ((5, 3), False)]

    Args:
        generator: its name.
        phases: its settings, a phase after the other, of as many rounds each; one for a generator that moves by itself.
        labels: how many classes.
        rounds, size: how many, and rows of each.
        seeds: settings that take a seed; it is the number of the phase.
    """

    generator: str
    phases: Sequence[Mapping[str, Any]] = ({},)
    labels: int = 2
    rounds: int = 100
    size: int = 300
    seeds: Sequence[str] = ("seed",)

    def __post_init__(self) -> None:
        if self.rounds % len(self.phases):
            raise SettingError(f"{self.rounds} rounds cannot be divided into {len(self.phases)} phases alike")

    @property
    def classes(self) -> list[int]:
        return list(range(self.labels))

    def __len__(self) -> int:
        return self.rounds

    def __iter__(self) -> Iterator[Batch]:
        try:
            make = getattr(import_module("river.datasets.synth"), self.generator)
        except ImportError as error:
            raise MissingExtraError("river", "river") from error
        length = self.rounds // len(self.phases)
        for t in range(self.rounds):
            phase, since = divmod(t, length)
            if since == 0:
                rows = iter(make(**dict.fromkeys(self.seeds, phase), **self.phases[phase]))
            some = list(islice(rows, self.size))
            X, y = np.array([list(x.values()) for x, _ in some], dtype=float), np.array([int(y) for _, y in some])
            yield Batch(X, y, shift=since == 0 and phase > 0)
