"""Models put aside now and then, so that an evaluation that was interrupted goes on from there.

A checkpoint is a folder for each model and, written last, one that says which round they are of. Two
generations take turns, so that there is a whole one at any moment.
"""

import logging
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from time import monotonic

from spanwise import snapshot
from spanwise.core.scheme import Scheme
from spanwise.errors import SnapshotError

log = logging.getLogger("spanwise")


class Checkpoint:
    """Where the models of one evaluation are put aside; without a folder, nothing is.

    Args:
        folder: made when it is first needed, and removed when the evaluation is over.
        every: seconds between two checkpoints; more where they take long, so that they add a tenth at most.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, every: float = 30.0) -> None:
        self.folder = None if folder is None else Path(folder)
        self.every = every
        self.due = monotonic() + every

    def resume(self, models: Mapping[str, Scheme]) -> tuple[dict[str, Scheme], int]:
        """The models as they were put aside, and the round that was over then; as given, and 0, if none were."""
        if self.folder is None:
            return dict(models), 0
        for generation in sorted(self.folder.glob("round-*"), reverse=True):
            try:
                if snapshot.read(generation / "whole") == list(models):
                    return {name: _load(generation / name, model) for name, model in models.items()}, round_of(
                        generation
                    )
            except (SnapshotError, OSError) as error:
                log.warning("passing over a checkpoint that cannot be read: %s", error)
        return dict(models), 0

    def after(self, t: int, models: Mapping[str, Scheme]) -> None:
        """Put the models aside if it is time to."""
        begin = monotonic()
        if self.folder is None or begin < self.due:
            return
        generation = self.folder / f"round-{t:09d}"
        try:
            for name, model in models.items():
                generation.mkdir(parents=True, exist_ok=True)
                model.save(generation / name)
            snapshot.write(generation / "whole", list(models))
        except SnapshotError as error:
            log.warning("no checkpoints, so an interrupted run would begin again: %s", error)
            self.remove()
            self.folder = None
            return
        for old in sorted(self.folder.glob("round-*")):
            if old != generation:
                shutil.rmtree(old)
        now = monotonic()
        self.due = now + max(self.every, 10 * (now - begin) if self.every else 0.0)

    def remove(self) -> None:
        """The evaluation is over."""
        if self.folder is not None and self.folder.exists():
            shutil.rmtree(self.folder)


def round_of(generation: Path) -> int:
    return int(generation.name.removeprefix("round-"))


def _load(folder: Path, model: Scheme) -> Scheme:
    return type(model).load(folder, model.method.learner, split=model.method.evidence.split)
