"""`spanwise bench suite`: schemes x learners x streams x seeds, and what each scheme gains and harms."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import get_args

from spanwise.bench.folder import made_with
from spanwise.bench.processes import each
from spanwise.bench.suite.bars import every_cell, report, wrapped
from spanwise.bench.suite.learners import LEARNERS, PEER, RIVER, SEEDS, suits
from spanwise.bench.suite.play import SCHEMES, Task, play, schemes_for
from spanwise.bench.suite.scores import Score, add, read
from spanwise.bench.suite.sources import Role
from spanwise.bench.suite.streams import STREAMS
from spanwise.bench.suite.table import document, places, summary
from spanwise.errors import DataError, MissingExtraError

ROLES = {name: source.role for name, source in STREAMS.items()}


@dataclass(frozen=True, kw_only=True)
class Suite:
    """What is to be played, and where it goes.

    Args:
        data: folder of the streams' files.
        work: folder of records, which may grow to gigabytes; what is there is not made again.
        out: folder of results; what is scored there is not played again.
        streams: names; the development streams if empty, as the others are looked at once, and by name.
        learners: names; all if empty.
        schemes: names; all if empty. The learner that adapts by itself is played plain and wrapped alone.
        seeds: how many; what each learner needs if None.
    """

    data: Path
    work: Path
    out: Path
    streams: Sequence[str] = ()
    learners: Sequence[str] = ()
    schemes: Sequence[str] = ()
    seeds: int | None = None

    def tasks(self) -> list[Task]:
        """Seed by seed, so that a table can be made before all is done."""
        streams = self.streams or [name for name, role in ROLES.items() if role == "development"]
        wanted = set(self.schemes or SCHEMES)
        found = [
            Task(stream, learner, seed, tuple(name for name in schemes_for(learner) if name in wanted))
            for stream in streams
            for learner in self._suited(stream)
            for seed in range(self.seeds or SEEDS[learner])
        ]
        return sorted((task for task in found if task.schemes), key=lambda task: task.seed)

    def _suited(self, stream: str) -> list[str]:
        source, wanted = STREAMS[stream], self.learners or list(LEARNERS)
        if all(suits(name, source.kind, 0) == suits(name, source.kind, sys.maxsize) for name in wanted):
            return [name for name in wanted if suits(name, source.kind, 0)]
        sizes = [X.shape for X, _ in source.open(self.data)]  # arrays, as size matters for no other kind
        rows = sum(n for n, _ in sizes)
        return [name for name in wanted if suits(name, source.kind, rows, sizes[0][1])]

    @property
    def file(self) -> Path:
        return self.out / "suite_scores.jsonl"

    def left(self, tasks: Sequence[Task]) -> list[Task]:
        """Those tasks, with the schemes that have no score yet."""
        done = {(one.stream, one.learner, one.seed, one.scheme) for one in read(self.file)}
        left = []
        for task in tasks:
            missing = [name for name in task.schemes if (task.stream, task.learner, task.seed, name) not in done]
            if missing:
                left.append(replace(task, schemes=tuple(missing)))
        return left

    def run(self, workers: int) -> None:
        """Play what is not done, and keep each play as soon as it is over."""
        tasks, begin = self.tasks(), monotonic()
        left = self.left(tasks)
        say(f"{len(tasks)} play{'s' * (len(tasks) != 1)}, {len(left)} to be played")
        work = partial(play, data=self.data, work=self.work)
        for number, (task, scores) in enumerate(each(work, left, workers), start=1):
            add(self.file, scores)
            minutes = (monotonic() - begin) / 60
            say(f"{number} of {len(left)}: {task}; about {minutes * (len(left) - number) / number:.0f} minutes to go")
        if left:
            say(f"{len(left)} plays in {(monotonic() - begin) / 60:.1f} minutes")

    def forecast(self) -> list[str]:
        """What is left to play, and how long each play takes on one core at most: as if its schemes shared nothing."""
        known = {(one.stream, one.learner, one.scheme): one.seconds for one in read(self.file)}
        lines, minutes, unknown = [], 0.0, 0
        for task in self.left(self.tasks()):
            took = [known.get((task.stream, task.learner, scheme)) for scheme in task.schemes]
            seconds = [one for one in took if one is not None]
            whole = len(seconds) == len(took)
            minutes, unknown = minutes + sum(seconds) / 60, unknown + (not whole)
            lines.append(f"  {task}: {f'at most {sum(seconds) / 60:.1f} minutes' if whole else 'never played here'}")
        told = [f"at most {minutes:.0f} minutes on one core"] * (unknown < len(lines) or not lines)
        told += [f"{unknown} of them never played with this --out, so that nobody knows how long"] * (unknown > 0)
        return [*lines, f"{len(lines)} play{'s' * (len(lines) != 1)}; {' and '.join(told)}"]

    def _used(self, scores: Sequence[Score]) -> list[str]:
        return ["scikit-learn", "river"] if any(one.learner in RIVER for one in scores) else ["scikit-learn"]

    def write(self) -> str:
        """JSON, Markdown and, where matplotlib is installed, a picture; all tables, to be shown."""
        scores = read(self.file)
        if not scores:
            raise DataError(f"{self.file} holds no score: nothing of the suite was played with this --out yet")
        found = places(scores, ROLES)
        others = [place for place in found if place.learner != PEER]
        roles = [role for role in get_args(Role) if any(place.role == role for place in others)]
        parts = {title(role): f"{summary(others, role)}\n{report(others, scores, role)}".strip() for role in roles}
        if peer := wrapped(place for place in found if place.learner == PEER):
            parts["The adaptive random forest"] = peer
        text = json.dumps({**made_with(self._used(scores)), **document(found, scores, ROLES)}, indent=1)
        (self.out / "suite.json").write_text(text + "\n", encoding="utf-8")
        (self.out / "suite.md").write_text(sections(parts), encoding="utf-8")
        cells = sections({title(role): every_cell(others, role) for role in roles})
        (self.out / "suite_cells.md").write_text(cells, encoding="utf-8")
        try:
            import_module("spanwise.bench.suite.picture").draw(others, self.out / "suite.png")
        except MissingExtraError as error:
            say(f"no picture: {error}")
        return f"{cells}\n{sections(parts)}"


def title(role: Role) -> str:
    return f"{role.capitalize()} streams"


def sections(parts: Mapping[str, str]) -> str:
    """As Markdown."""
    return "\n\n".join(f"### {title}\n\n{part.strip()}" for title, part in parts.items()) + "\n"


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
