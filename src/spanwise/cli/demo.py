"""`spanwise demo`: a learner that goes stale, and what each scheme does about it."""

import json
import os
import platform
import sys
from dataclasses import asdict
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from spanwise import catalog
from spanwise._version import __version__
from spanwise.cli.screen import print_table, rounds_bar
from spanwise.errors import MissingExtraError
from spanwise.evaluate import Evaluation, compare
from spanwise.report.story import stretches
from spanwise.report.table import HEADER, cells, markdown
from spanwise.schemes.plain import PlainEnsemble
from spanwise.schemes.spanwise import copies_of, ensemble_size

SCHEMES = ("spanwise", "awe", "vote", "saol", "cbce", "single-resolution", "awe-prequential")
TOLD = "spanwise"
LEARNER = click.Choice(list(catalog.LEARNERS))


@click.command()
@click.option("--out", default="demo", show_default=True, type=click.Path(file_okay=False), help="Folder to write to.")
@click.option("--learner", default="averaged-linear", show_default=True, type=LEARNER, help="What learns.")
@click.option("--rounds", default=200, show_default=True, type=click.IntRange(2), help="Rounds to play.")
@click.option("--seed", default=0, show_default=True, help="One seed makes the run repeatable.")
def demo(out: str, learner: str, rounds: int, seed: int) -> None:
    """Handwritten digits whose angle jumps now and then: a learner goes stale, schemes choose its span.

    Prints a table of schemes against the plain learner and an ensemble of plain learners, says which
    span was chosen when, and writes one picture, every round and the table to a folder.

    \b
    Example:  spanwise demo --rounds 120 --out demo
    """
    for module, package in (("sklearn", "scikit-learn"), ("matplotlib", "matplotlib")):
        if find_spec(module) is None:
            raise MissingExtraError(package, "sklearn,report")
    stream = catalog.find(catalog.STREAMS, "digits")(rounds=rounds, seed=seed)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rounds.jsonl").unlink(missing_ok=True)
    evaluation = play(learner, stream, seed, folder / "rounds.jsonl")
    console = Console()
    print_table(HEADER, cells(evaluation.summary()), console)
    console.print(f"\nWhich span {TOLD} chose when; the angle jumps at rounds {evaluation.shifts}:", highlight=False)
    for line in stretches(evaluation, TOLD):
        console.print(f"  {line}", highlight=False, soft_wrap=True)
    write(evaluation, folder, {"learner": learner, "rounds": rounds, "rows": stream.size, "seed": seed})
    console.print(f"\nA picture, the table and every round are in {folder}", highlight=False, soft_wrap=True)


def play(learner: str, stream: Any, seed: int, record: Path) -> Evaluation:
    """All schemes side by side, with a progress bar where somebody can see it."""
    made = catalog.learner(learner)
    ensemble = partial(PlainEnsemble, copies=ensemble_size(len(stream), copies_of(made)))
    with rounds_bar(len(stream)) as played:
        return compare(
            made,
            stream,
            {"plain-ensemble": ensemble, **{name: name for name in SCHEMES}},
            seed=seed,
            record=record,
            progress=played,
        )


def write(evaluation: Evaluation, folder: Path, settings: dict[str, Any]) -> None:
    """The table, what it was made with, and the picture."""
    summary = evaluation.summary()
    versions = {"spanwise": __version__, "python": platform.python_version()}
    loaded = {"numpy": "numpy", "sklearn": "scikit-learn", "torch": "torch"}
    versions |= {package: version(package) for module, package in loaded.items() if module in sys.modules}
    machine = {"cpus": os.cpu_count(), "processor": platform.machine(), "system": platform.system()}
    table = {"settings": settings, "machine": machine, "versions": versions, "rows": [asdict(row) for row in summary]}
    (folder / "table.json").write_text(json.dumps(table, indent=1) + "\n")
    (folder / "table.md").write_text(markdown(HEADER, cells(summary)))
    draw = import_module("spanwise.report.picture").draw  # not at the top, as matplotlib is optional and slow to load
    draw(evaluation, folder / "demo.png", schemes=["plain", "plain-ensemble", "awe", TOLD], spans_of=TOLD)
