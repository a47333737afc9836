"""The suite in one picture: every cell from the worst to the best, a line a scheme.

Above, what each scheme gains over the plain learner; below, what `Spanwise` is ahead of an ensemble of the same price,
learners with randomness apart. A column a role. Scales are linear near 0 and logarithmic beyond.
"""

import os
from collections.abc import Sequence
from typing import Any, get_args

from spanwise.bench.suite.bars import Cells, by_cell
from spanwise.bench.suite.learners import SEEDLESS
from spanwise.bench.suite.sources import Role
from spanwise.bench.suite.table import ENSEMBLE, FALL_BACK, OURS, Place
from spanwise.errors import MissingExtraError
from spanwise.evaluate.summary import PLAIN
from spanwise.report.palette import GRID, INK, colours

try:
    from matplotlib.figure import Figure
except ImportError as error:
    raise MissingExtraError("matplotlib", "report") from error

LEFT_OUT = frozenset({PLAIN, FALL_BACK})
"""The zero line, and a smaller ensemble."""

BAR = 0.3
"""Points: no cell shall be further below either line."""

LINEAR = 1.0
"""Points up to which scales are linear."""

TICKS = (-30, -10, -3, -1, -BAR, 0, 1, 3, 10, 30)


def draw(found: Sequence[Place], path: str | os.PathLike[str]) -> None:
    """Write the picture to `path`, or nothing where nothing can be compared.

    Args:
        found: places of any role; an adversary's are not drawn.
        path: where to.
    """
    by_role = {role: by_cell(one for one in found if one.role == role) for role in get_args(Role)}
    columns = {role: cells for role, cells in by_role.items() if cells and role != "adversary"}
    if not columns:
        return
    figure = Figure(figsize=(1.5 + 4 * len(columns), 7.5), layout="constrained")
    grid = figure.subplots(2, len(columns), sharey="row", squeeze=False, height_ratios=(3, 2))
    for (role, cells), above, below in zip(columns.items(), *grid, strict=True):
        above.set_title(f"{role}, {len(cells)} cells", fontsize=10)
        _gains(above, cells)
        _leads(below, cells)
        below.set_xlabel("cells, from the worst to the best", fontsize=9)
    grid[0][0].set_ylabel("points over the plain learner", fontsize=9)
    grid[1][0].set_ylabel("spanwise: points over an ensemble of its price", fontsize=9)
    for row in grid:
        shown = {label: handle for axes in row for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
        place = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0)}
        row[-1].legend(shown.values(), shown.keys(), frameon=False, fontsize=8, **place)
    figure.savefig(path, dpi=130)


def _gains(axes: Any, cells: Cells) -> None:
    """Schemes that were played in all cells."""
    common = set.intersection(*(set(schemes) for schemes in cells.values())) - LEFT_OUT
    names = sorted(common, key=lambda name: (name == OURS, name))  # ours last, above the others
    for name, colour in colours(names).items():
        gains = sorted(schemes[name].gain for schemes in cells.values())
        axes.plot(_places(gains), gains, color=colour, linewidth=2.4 if name == OURS else 1.1, label=name)
    _scale(axes)


def _leads(axes: Any, cells: Cells) -> None:
    leads = sorted(
        (schemes[OURS].gain - schemes[ENSEMBLE].gain, learner in SEEDLESS) for (_, learner), schemes in cells.items()
    )
    kinds = {
        False: ("learners with randomness", {"color": colours([OURS])[OURS]}),
        True: ("without: the ensemble\nis the plain learner", {"color": INK, "fillstyle": "none"}),
    }
    for seedless, (label, style) in kinds.items():
        mine = [(x, lead) for x, (lead, kind) in zip(_places(leads), leads, strict=True) if kind == seedless]
        if mine:
            axes.plot(*zip(*mine, strict=True), "o", markersize=4, label=label, **style)
    _scale(axes)


def _places(values: Sequence[object]) -> list[float]:
    """From 0 to 1."""
    return [i / max(1, len(values) - 1) for i in range(len(values))]


def _scale(axes: Any) -> None:
    axes.set_yscale("symlog", linthresh=LINEAR)
    axes.axhline(0, color=INK, linewidth=1, zorder=1)
    axes.axhline(-BAR, color=INK, linewidth=0.8, linestyle=":", zorder=1)
    least, most = axes.get_ylim()
    ticks = [tick for tick in TICKS if least <= tick <= most]
    axes.set_yticks(ticks, [f"{tick:+g}" if tick else "0" for tick in ticks])
    axes.set_ylim(least, most)
    axes.set_xticks([])
    axes.grid(axis="y", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
