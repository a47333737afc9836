"""What commands show: a table on standard output, a progress bar on standard error where somebody can see it."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], console: Console) -> None:
    """The first column is a name, the others are figures; none is cut short, however narrow the screen."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=0)  # so that it fits a terminal of 80 columns
    for i, name in enumerate(header):
        widest = max((len(row[i]) for row in rows), default=0)
        shown = name if len(name) <= widest else name.replace(" ", "\n")
        table.add_column(shown, justify="right" if i else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console.width = max(console.width, Measurement.get(console, console.options.update(width=1000), table).maximum)
    console.print(table)


@contextmanager
def rounds_bar(total: int) -> Iterator[Callable[[int], None]]:
    """A bar; call what it gives with the rounds that are over."""
    columns = (TextColumn("rounds"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("rounds", total=total)
        yield lambda t: bar.update(task, completed=t)
