"""`spanwise run`: would choosing its span have helped your learner, on your data?"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from spanwise import catalog
from spanwise.bench.own import SCHEMES, Data, How, Run, played
from spanwise.cli.screen import print_table, rounds_bar
from spanwise.evaluate.seeds import across
from spanwise.report.table import HEADER_ACROSS, cells_across

SCHEME = click.Choice(list(catalog.SCHEMES))
DEFAULT = ", ".join(SCHEMES)


@click.command()
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option("--label", help="Column to predict.")
@click.option("--time", help="Column that orders the rows: dates, times or years.")
@click.option("--time-format", help='Form of times that are not ISO: "%d/%m/%Y", or s, ms, us, ns since 1970.')
@click.option(
    "--every",
    default="month",
    show_default=True,
    help="A round: year, quarter, month, week, day, hour, or so many rows.",
)
@click.option("--text", help="Column of texts to learn from.")
@click.option("--image", help="Column of paths of images to learn from.")
@click.option(
    "--feature",
    "features",
    multiple=True,
    help="Column to learn from; several allowed. Default: the rest, beside text none.",
)
@click.option("--drop", multiple=True, help="Column not to learn from; several allowed.")
@click.option("--learner", help="A learner's name (spanwise.catalog), or module:name. Default: by the kind of data.")
@click.option("--scheme", "schemes", multiple=True, type=SCHEME, help=f"Several allowed. Default: {DEFAULT}.")
@click.option("--encoder", type=click.Path(exists=True, file_okay=False), help="Folder of a pretrained text encoder.")
@click.option("--device", help="Where networks on images or an encoder run. Default: CUDA where there is one.")
@click.option("--seeds", default=1, show_default=True, type=click.IntRange(1), help="How often, from seed 0.")
@click.option("--out", default="run", show_default=True, type=click.Path(file_okay=False), help="Folder to write to.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line a round and scheme, not the table.")
def run(
    seeds: int,
    out: str,
    as_json: bool,
    learner: str | None,
    schemes: tuple[str, ...],
    encoder: str | None,
    device: str | None,
    **columns: Any,
) -> None:
    """Would choosing its span have helped your learner? Replays FILE round by round, in the order of time.

    Compares the plain learner, an ensemble of plain learners and schemes; prints a table and a verdict, and
    writes report.html, the tables and every round to a folder. Without FILE it plays digits that turn. A run
    that was interrupted goes on when it is started again.

    \b
    Example:  spanwise run news.parquet --label category --time date --every month --text headline
    """
    data = Data(**columns)
    how = How(learner=learner, schemes=schemes or SCHEMES, encoder=encoder, device=device, seeds=seeds)
    for module in ("spanwise.streams.files", "spanwise.report.page"):
        import_module(module)  # what is missing is said now, not when the run is over
    job, stream = Run(data, how, Path(out)), data.open()
    made = job.learner(stream)
    job.begin()  # last of all, so that what is refused leaves nothing behind
    console, total = Console(stderr=as_json), len(stream) * seeds
    tell_what_is_there(out, sum(played(job.record).values()), total)
    with stoppable(out), rounds_bar(total) as over:
        evaluations = job.play(made, stream, lambda seed, t: over(len(stream) * seed + t))
    verdict = job.write(evaluations, stream)
    if as_json:
        click.echo((job.folder / "rounds.jsonl").read_text(encoding="utf-8"), nl=False)
    else:
        print_table(HEADER_ACROSS, cells_across(across(evaluations)), console)
    notes = [f"{name.capitalize()}: {value}" for name, value in job.told(stream).items() if isinstance(value, str)]
    notes += [f"Note: {note}" for note in getattr(stream, "notes", ())]
    said = ["", verdict.headline, *(f"  {sentence}" for sentence in verdict.sentences)]
    for line in (*notes, *said, "", f"The report is {job.folder / 'report.html'}"):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def tell_what_is_there(out: str, done: int, total: int) -> None:
    """That a folder holds rounds of this very run, so that nobody takes old figures for new ones."""
    if done >= total:
        click.echo(f"{out} holds this run, and all of its rounds: it is shown again.", err=True)
    elif done:
        click.echo(
            f"{out} holds this run, with {done} of {total} rounds: it goes on from its last checkpoint.", err=True
        )


@contextmanager
def stoppable(out: str) -> Iterator[None]:
    """Ctrl-C ends the run and says how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"Stopped. What was played is in {out}; the same command goes on from there.", err=True)
        raise SystemExit(130) from None
