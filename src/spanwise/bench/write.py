"""What an experiment leaves in its folder: a table as Markdown, its rows as JSON, and pictures."""

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from spanwise.bench.grid import Play
from spanwise.bench.store import Store
from spanwise.bench.tables import TABLES, Board, document


def write(experiment: str, tasks: Sequence[Play], store: Store, out: Path) -> str:
    """Write the files of an experiment, and return its table; cells asked for and not there are shown as not run."""
    board = Board(store.cells.values(), [task.key(scheme) for task in tasks for scheme in task.schemes])
    if experiment == "figures":
        figures = import_module("spanwise.bench.figures")  # not at the top, as it needs matplotlib and scipy
        drawn = figures.draw_all(board, out / "figures")
        (out / "ranks.md").write_text(ranks := figures.ranks(board), encoding="utf-8")
        return f"{ranks}\n{len(drawn)} pictures are in {out / 'figures'}"
    table = TABLES[experiment](board)
    (out / f"{experiment}.md").write_text(table, encoding="utf-8")
    (out / f"{experiment}.json").write_text(json.dumps(document(board), indent=1) + "\n", encoding="utf-8")
    return table
