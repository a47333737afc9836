"""`spanwise bench`, and `python -m spanwise.bench` where nothing but numpy, torch and pyarrow is installed."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from spanwise.bench.estimate import duration, forecast, made_on, told
from spanwise.bench.grid import EXPERIMENTS, Grid, Play
from spanwise.bench.play import device_name, play_all, ready
from spanwise.bench.settings import LEARNERS, NAMED, SETTINGS, Places, known
from spanwise.bench.stop import stoppable
from spanwise.bench.store import Cell, Store
from spanwise.bench.write import write
from spanwise.deep.learner import DTYPES
from spanwise.errors import SettingError, SpanwiseError

EXAMPLE = """Example:  spanwise bench table1 --streams huffpost --learners ft si --seeds 3
                         --data data --encoder encoders/minilm --device cuda --out results"""

SEEDS = 3

OTHERS = ("regret", "suite", "ablation")
"""Experiments that are no grid of the paper's, each with a function of its own."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"Error: {message}; see {self.prog} --help\n")


def positive(text: str) -> int:
    """A number of things."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return int(text)


def parser() -> argparse.ArgumentParser:
    names = [*EXPERIMENTS, *OTHERS]
    made = Parser(
        prog="spanwise bench",
        description="The paper's tables and figures, measured. What is done is kept, and not run again.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("experiment", help=f"Table or figure of the paper: {', '.join(names)}.")
    made.add_argument("--streams", nargs="+", help=f"{', '.join(SETTINGS)}. Default: digits. The suite has its own.")
    made.add_argument("--learners", nargs="+", help=f"{', '.join(NAMED)}. Default: first five. The suite has its own.")
    made.add_argument(
        "--seeds", type=positive, help="How many, from 0. Default: 3; of the suite, 5, or 2 of the forest."
    )
    made.add_argument("--iterations", type=positive, help="Mini-batches a round. Default: what Wild-Time sets.")
    made.add_argument("--data", type=Path, default=Path("data"), help="Folder of the streams' files. Default: data.")
    made.add_argument("--encoder", type=Path, help="Folder of a pretrained encoder, for streams of texts.")
    made.add_argument("--device", help="cpu, cuda, ... Default: CUDA where there is one.")
    made.add_argument("--precision", default="float32", choices=list(DTYPES), help="Default: float32.")
    made.add_argument(
        "--workers", type=positive, default=1, help="Plays at a time, each in its own process. Default: 1."
    )
    made.add_argument("--out", type=Path, default=Path("results"), help="Folder of results. Default: results.")
    made.add_argument("--dry-run", action="store_true", help="Say what would run, and for how long.")
    made.add_argument("--work", type=Path, default=Path("suite"), help="Folder of the suite's records. Default: suite.")
    made.add_argument("--schemes", nargs="+", help="Of the suite alone. Default: all.")
    made.add_argument("--tables-only", action="store_true", help="Run nothing; write the tables of what is done.")
    return made


def main(arguments: Sequence[str] | None = None) -> None:
    given = parser().parse_args(arguments)
    name = known("experiment", given.experiment, [*EXPERIMENTS, *OTHERS])
    {"regret": regret, "suite": suite, "ablation": ablation}.get(name, table)(given)


def table(given: argparse.Namespace) -> None:
    """A table or figure of the paper."""
    places = Places(given.data, given.encoder, given.device, given.precision)
    grid = Grid(
        given.experiment,
        given.streams or ["digits"],
        given.learners or LEARNERS,
        given.seeds or SEEDS,
        given.iterations,
    )
    store = Store(given.out / "cells.jsonl")
    unread = given.tables_only and given.experiment != "resolutions"  # which has a scheme for every length
    tasks = grid.plays({name: 0 if unread else len(SETTINGS[name].stream(places.data)) for name in grid.streams})
    left = [task for task in (task.without(store.cells) for task in tasks) if task.schemes]
    alike = made_on(device_name(places), store.cells.values())
    introduce(tasks, store, places, forecast(left, alike, given.workers))
    if given.dry_run:
        for task in left:
            say(f"  {task}: {', '.join(task.schemes)}; {told(duration([task], alike))}")
        return
    if given.experiment == "figures":
        import_module("spanwise.bench.figures")  # what is missing is said now, not when all is played
    if not given.tables_only:
        play_left(left, places, given.workers, store)
    print(write(given.experiment, tasks, store, given.out))


def play_left(left: Sequence[Play], places: Places, workers: int, store: Store) -> None:
    """Play what is not done, and keep each play as soon as it is over."""
    ready(left, places)
    for number, (task, cells) in enumerate(play_all(left, places, workers), start=1):
        store.add(cells)
        say(f"{number} of {len(left)}: {task}, {sum(row.seconds for cell in cells for row in cell.rows):.0f} s")


def introduce(tasks: Sequence[Play], store: Store, places: Places, time: str) -> None:
    """Say how much there is to do and for how long, and where what is done was done otherwise than is asked for now."""
    asked = [task.key(scheme) for task in tasks for scheme in task.schemes]
    done = [store.cells[key] for key in asked if key in store.cells]
    say(f"{len(asked)} cells in {len(tasks)} plays, {len(done)} of them done; {time}")
    others = differing(done, places)
    if others:
        say(f"note: cells that are done were made with {', '.join(others)}; they are kept, and not run again")


def differing(done: Iterable[Cell], places: Places) -> list[str]:
    """Precisions and encoders that are not those of now."""
    now: dict[str, str] = {"precision": places.precision}
    if places.encoder is not None:
        now["encoder"] = places.encoder.resolve().name
    return sorted(
        {f"{what} {cell.made[what]}" for cell in done for what in now if cell.made.get(what, now[what]) != now[what]}
    )


def regret(given: argparse.Namespace) -> None:
    """On synthetic streams: it needs neither data nor learners, and keeps nothing from one run to the next."""
    seeds = given.seeds or SEEDS
    if given.dry_run:
        say(f"regret on synthetic streams, {seeds} seeds; about {0.8 * seeds:.1f} min on one core")
        return
    import_module("spanwise.bench.regret").main(seeds, given.out)


def suite(given: argparse.Namespace) -> None:
    """Schemes on streams and with learners of its own."""
    command = import_module("spanwise.bench.suite.command")  # not at the top, as it needs scikit-learn
    for what, names, there in (
        ("stream", given.streams, command.STREAMS),
        ("learner", given.learners, command.LEARNERS),
        ("scheme", given.schemes, command.SCHEMES),
    ):
        for name in names or ():
            known(what, name, list(there))
    wanted = command.Suite(
        data=given.data,
        work=given.work,
        out=given.out,
        streams=given.streams or (),
        learners=given.learners or (),
        schemes=given.schemes or (),
        seeds=given.seeds,
    )
    if given.dry_run:
        for line in wanted.forecast():
            say(line)
        return
    if not given.tables_only:
        wanted.run(given.workers)
    print(wanted.write())


def ablation(given: argparse.Namespace) -> None:
    """Of all that the suite has recorded."""
    for option in ("streams", "learners", "schemes", "seeds"):
        if getattr(given, option):
            raise SettingError(f"ablation replays what --work holds of the development streams: leave out --{option}")
    command = import_module("spanwise.bench.suite.ablation")  # not at the top, as it needs scikit-learn
    if given.dry_run:
        for task in command.recorded(given.work):
            say(f"  {task}, {len(command.VARIANTS)} variants")
        return
    print(command.run(given.work, given.out, given.workers))


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def run() -> None:
    """As a command: our own errors are one line."""
    try:
        with stoppable():
            main()
    except (SpanwiseError, OSError) as error:
        sys.exit(f"Error: {type(error).__name__}: {error}")


if __name__ == "__main__":
    run()
