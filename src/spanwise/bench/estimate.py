"""How long will it take? What the nearest cells that are done took."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from spanwise.bench.grid import BASELINES, Play
from spanwise.bench.store import Cell


def duration(tasks: Sequence[Play], done: Iterable[Cell]) -> float | None:
    """Seconds that the tasks will take if they go as those before them; None where one is of a stream never run.

    A scheme takes what it took on the same stream with the same learner, else with any learner; one that was never
    run takes what the costliest did. Iterations count in proportion. The plain learners are played beside whatever is
    missing. Schemes share instances, so that this is more than the clock will say.
    """
    cells = list(done)
    total = 0.0
    for task in tasks:
        took = _took(task, [cell for cell in cells if cell.key.stream == task.stream])
        if took is None:
            return None
        total += took
    return total


def made_on(device: str, cells: Iterable[Cell]) -> list[Cell]:
    """Those of that device, as seconds on another tell nothing."""
    return [cell for cell in cells if cell.made.get("machine", {}).get("device") == device]


def forecast(tasks: Sequence[Play], done: Iterable[Cell], workers: int = 1) -> str:
    """The same in words, for as many tasks as something is known of, so many at a time."""
    cells = list(done)
    known = [seconds for task in tasks if (seconds := duration([task], cells)) is not None]
    if not tasks:
        return "nothing is left to run"
    if not known:
        return told(None)
    unknown = len(tasks) - len(known)
    return told(max(sum(known) / workers, *known)) + (
        f", without {unknown} plays of streams that were not run on this device yet" if unknown else ""
    )


def told(seconds: float | None) -> str:
    """In words.

    >>> told(None), told(42), told(7300)
    ('how long is not known, as nothing like it was run on this device yet', 'about 42 s', 'about 2.0 h')
    """
    if seconds is None:
        return "how long is not known, as nothing like it was run on this device yet"
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"about {seconds / size:.1f} {unit}"
    return f"about {seconds:.0f} s"


def _took(task: Play, cells: Sequence[Cell]) -> float | None:
    """What a task takes by the cells of its stream."""
    seconds = {
        cell.key: sum(row.seconds for row in cell.rows) * task.iterations / cell.key.iterations for cell in cells
    }
    if not seconds:
        return None
    total = 0.0
    for scheme in (*BASELINES, *task.schemes):
        alike = {key: took for key, took in seconds.items() if key.scheme == scheme}
        same = {key: took for key, took in alike.items() if key.learner == task.learner} or alike
        if same:
            total += fmean(same.values())
        elif scheme not in BASELINES:
            total += max(seconds.values())
    return total
