"""One play: all schemes of a stream, learner and seed side by side; and several of them at a time."""

import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import monotonic
from typing import Any

import torch

from spanwise._version import __version__
from spanwise.bench.grid import BASELINES, Play, make_schemes
from spanwise.bench.processes import each
from spanwise.bench.settings import SETTINGS, Places, encoder
from spanwise.bench.store import Cell
from spanwise.evaluate import compare

PAUSE = 2.0
"""Seconds between two lines of progress, at least."""


def play(task: Play, places: Places) -> list[Cell]:
    """A cell for each of the task's schemes, and for the plain learners beside them."""
    setting = SETTINGS[task.stream]
    stream = setting.stream(places.data)
    learner = setting.learner(task.learner, task.iterations, places)
    schemes = make_schemes(task.schemes, stream)
    progress = shown(task, len(stream)) if sys.stderr.isatty() else None
    evaluation = compare(learner, stream, schemes, seed=task.seed, learn_last=False, progress=progress)
    made = made_with(task, places)
    rows = {name: tuple(row for row in evaluation.rows if row.scheme == name) for name in evaluation.schemes}
    return [Cell(task.key(name), rows[name], made) for name in (*BASELINES, *task.schemes) if name in rows]


def play_all(tasks: Sequence[Play], places: Places, workers: int) -> Iterator[tuple[Play, list[Cell]]]:
    """Plays as they are done, so many at a time, each in a process of its own."""
    return each(partial(play, places=places), tasks, workers)


def ready(tasks: Sequence[Play], places: Places) -> None:
    """Make a learner of each stream, so that a missing encoder or device is told before anything runs."""
    for stream, task in {task.stream: task for task in tasks}.items():
        SETTINGS[stream].learner(task.learner, task.iterations, places)


def shown(task: Play, rounds: int) -> Callable[[int], None]:
    """Tells on standard error which round is over, now and then."""
    last = monotonic()

    def tell(t: int) -> None:
        nonlocal last
        if monotonic() - last >= PAUSE:
            last = monotonic()
            sys.stderr.write(f"  {task}: round {t} of {rounds}\n")
            sys.stderr.flush()

    return tell


def made_with(task: Play, places: Places) -> dict[str, Any]:
    """Machine, versions, precision, and the encoder of texts by the name of its folder."""
    versions = {"spanwise": __version__, "python": platform.python_version(), "torch": torch.__version__}
    loaded = {name: sys.modules[name] for name in ("numpy", "transformers") if sys.modules.get(name)}
    versions |= {name: module.__version__ for name, module in loaded.items()}
    made: dict[str, Any] = {
        "machine": {"device": device_name(places), "system": platform.system()},
        "versions": versions,
        "precision": places.precision,
    }
    if SETTINGS[task.stream].network is encoder and places.encoder is not None:
        made["encoder"] = places.encoder.resolve().name
    return made


def device_name(places: Places) -> str:
    """A GPU by its name, a CPU by its architecture, and one that is not here by what it was asked for as."""
    asked = places.device or ("cuda" if torch.cuda.is_available() else "cpu")
    if asked.startswith("cuda") and torch.cuda.is_available():
        return torch.cuda.get_device_name()
    return platform.machine() if asked.startswith("cpu") else asked
