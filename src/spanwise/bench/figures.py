"""The paper's figures from cells that were stored: differences by round, and who ranks where over all of them.

A figure a stream: a column of panels a learner, and a row a family of schemes with its own scale, as what SAOL
loses would flatten what AWE gains. Schemes are ranked over streams, each with the mean of its places (learner and
iterations), as those are no independent witnesses.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spanwise.bench.tables import RESOLUTION, Board, Place, differences, markdown
from spanwise.errors import MissingExtraError
from spanwise.evaluate.ranks import Ranking, by_stream, ranking, wilcoxon
from spanwise.evaluate.statistics import standing
from spanwise.evaluate.summary import PLAIN
from spanwise.report.palette import GRID, INK, colours

try:
    from matplotlib import colormaps
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator
except ImportError as error:
    raise MissingExtraError("matplotlib", "report") from error

VARIANTS = {"saol-fallback": "saol", "vote-merged": "vote"}
"""Drawn in the colour of what they vary."""

DASHED = ("plain-", "awe-prequential", "vote-merged")
"""How names begin whose lines are dashed, above the others and without a band."""

FAMILIES: Mapping[str, Callable[[str], bool]] = {
    "AWE, Spanwise,\nplain learners": lambda name: name.startswith(("awe", "plain-", "spanwise")),
    "other schemes": lambda name: not name.startswith(("awe", "plain", "spanwise", RESOLUTION)) and name != "saol",
    "SAOL\nas published": lambda name: name == "saol",
    "AWE with\none resolution": lambda name: name.startswith(RESOLUTION),
}
"""A row of panels each."""

MARKED = 40
"""Rounds up to which each is marked on its line."""


def draw_all(board: Board, folder: str | os.PathLike[str]) -> list[Path]:
    """A PNG a stream that was run, and one of the ranks where three schemes or more were run on several streams."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for stream in dict.fromkeys(place.stream for place, found in board.lines.items() if found.keys() > {PLAIN}):
        paths.append(folder / f"{stream}.png")
        draw_stream(board, stream, paths[-1])
    found = scores(board)
    if can_be_ranked(found):
        paths.append(folder / "ranks.png")
        draw_ranks(ranking(found), paths[-1])
    return paths


def draw_stream(board: Board, stream: str, path: str | os.PathLike[str]) -> None:
    """Accuracy minus the plain learner's by round: the mean over seeds, of some with a band of one deviation."""
    places = [place for place in board.runs if place.stream == stream and PLAIN in board.lines[place]]
    found = {name for place in places for name in board.lines[place]}
    rows = {title: [name for name in board.among(wanted) if name in found] for title, wanted in FAMILIES.items()}
    rows = {title: sorted(names, key=_order) for title, names in rows.items() if names}
    width = max(2.7, 6 / len(places))
    figure = Figure(figsize=(2.4 + width * len(places), 0.8 + 2.3 * len(rows)), layout="constrained")
    grid = figure.subplots(len(rows), len(places), sharex="col", sharey="row", squeeze=False)
    for (title, names), panels in zip(rows.items(), grid, strict=True):
        styles = _styles(names)
        for place, axes in zip(places, panels, strict=True):
            _panel(axes, board, place, styles)
        panels[0].set_ylabel(title)
        handles = [Line2D([], [], label=name, **style) for name, style in styles.items()]
        panels[-1].legend(handles=handles, loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False, fontsize=8)
    for place, top, bottom in zip(places, grid[0], grid[-1], strict=True):
        seeds = len(board.runs[place])
        told = f"{place.iterations:,} iterations, {seeds} seed{'s' if seeds > 1 else ''}"
        top.set_title(f"{place.learner}\n{told}", fontsize=9)
        bottom.set_xlabel("round")
    figure.suptitle(f"{stream} (bands: one sd over seeds)" if any(len(board.runs[p]) > 1 for p in places) else stream)
    figure.supylabel("points of accuracy over the plain learner", fontsize=10)
    figure.savefig(path, dpi=130)


def _panel(axes: Any, board: Board, place: Place, styles: Mapping[str, Mapping[str, Any]]) -> None:
    drawn = {name: differences(board.runs[place], name) for name in styles}
    for name, found in drawn.items():
        if found is None:
            continue
        rounds, points = found
        mean = points.mean(axis=0)
        axes.plot(rounds, mean, marker="o" if len(rounds) <= MARKED else "", markersize=2.5, **styles[name])
        if len(points) > 1 and not name.startswith(DASHED):
            sd = points.std(axis=0, ddof=1)
            axes.fill_between(rounds, mean - sd, mean + sd, color=styles[name]["color"], alpha=0.13, linewidth=0)
    if not any(drawn.values()):
        axes.text(0.5, 0.5, "not run", transform=axes.transAxes, ha="center", va="center", color=INK)
    axes.axhline(0, color=INK, linewidth=1, zorder=1)
    axes.grid(axis="y", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    axes.spines[["top", "right"]].set_visible(False)


def _styles(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Lines of one family: colours of the report, and from dark to light for resolutions."""
    if names[0].startswith(RESOLUTION):
        shades = colormaps["viridis"](np.linspace(0, 0.85, len(names)))
        return {name: {"color": shade, "linewidth": 1.2} for name, shade in zip(names, shades, strict=True)}
    chosen = colours([VARIANTS.get(name, name) for name in names])
    return {
        name: {
            "color": chosen[VARIANTS.get(name, name)],
            "linewidth": 1.2,
            "linestyle": "--" if name.startswith(DASHED) else "-",
        }
        for name in names
    }


def _order(name: str) -> tuple[int, str]:
    return (int(name.removeprefix(RESOLUTION)), "") if name.startswith(RESOLUTION) else (name.startswith(DASHED), name)


def scores(board: Board) -> dict[str, list[float]]:
    """What ranks are made of: the mean gain on each stream, of every scheme that all places have, `plain` among them.

    Gains rank as accuracies do, but compare seed by seed where a scheme has fewer seeds than the plain learner.
    """
    lines = {place: found for place, found in board.lines.items() if found}
    known = {}
    for name in board.among():
        told = {place: found[name].gain for place, found in lines.items() if name in found}
        gains = {place: gain for place, gain in told.items() if gain is not None}
        if lines and gains.keys() == lines.keys():
            known[name] = by_stream(gains)
    return known


def can_be_ranked(found: Mapping[str, Sequence[float]]) -> bool:
    return len(found) >= 3 and min(map(len, found.values())) >= 2


def ranks(board: Board) -> str:
    """Wilcoxon's signed ranks of every scheme against the plain learner over streams, and the mean ranks of all."""
    found = scores(board)
    if PLAIN not in found or len(found) < 2:
        return "No scheme was run at every place beside the plain learner, so none is ranked.\n"
    order = ranking(found) if can_be_ranked(found) else None
    mean_rank = dict(zip(order.schemes, order.ranks, strict=True)) if order else {}
    lines = []
    for name in sorted(found, key=lambda name: (mean_rank.get(name, 0.0), name)):
        test, (ahead, equal, behind) = wilcoxon(found[name], found[PLAIN]), standing(found[name])
        rank = f"{mean_rank[name]:.2f}" if order else ""
        against = ("", "") if name == PLAIN else (f"{ahead}/{equal}/{behind}", f"{test.p_value:.3g}")
        lines.append((name, rank, f"{np.mean(found[name]):+.2f}", *against))
    header = ("scheme", "mean rank", "mean gain", "streams ahead/equal/behind", "Wilcoxon p against plain")
    streams = len(found[PLAIN])
    told = f"\nOver {streams} stream{'s' if streams > 1 else ''}, each with the mean of its learners."
    told += " With five or fewer no p-value can be below 0.05." if streams <= 5 else ""
    if order:
        told += f" Friedman's p = {order.p_value:.3g}; ranks {order.critical_difference:.2f} or more apart differ"
        told += f" (Nemenyi, alpha {order.alpha})."
    return markdown(header, lines) + told + " p-values are not corrected for the number of schemes.\n"


def draw_ranks(found: Ranking, path: str | os.PathLike[str]) -> None:
    """A critical-difference diagram: schemes at their mean rank, and bars below those it cannot tell apart."""
    many = len(found.schemes)
    half = (many + 1) // 2
    figure = Figure(figsize=(8, 1.5 + 0.27 * (half + len(found.cliques))), layout="constrained")
    axes = figure.subplots()
    lowest = -0.6 - 0.35 * len(found.cliques)
    right = max(many, 1 + found.critical_difference)
    axes.set(xlim=(0.8, right + 0.2), ylim=(lowest - 0.6 * (half - 1) - 0.3, 1.8))
    axes.set_title(f"mean rank over {found.streams} streams; bars join what the test cannot tell apart", fontsize=9)
    axes.axis("off")
    axes.plot([1, many], [0, 0], color=INK, linewidth=1)
    for tick in range(1, many + 1):
        axes.plot([tick, tick], [0, 0.15], color=INK, linewidth=1)
        axes.text(tick, 0.25, str(tick), ha="center", va="bottom")
    axes.plot([1, 1 + found.critical_difference], [1.1, 1.1], color=INK, linewidth=2, marker="|")
    axes.text(1 + found.critical_difference / 2, 1.2, f"CD = {found.critical_difference:.2f}", ha="center", va="bottom")
    rank = dict(zip(found.schemes, found.ranks, strict=True))
    for place, (name, at) in enumerate(rank.items()):
        left = place < half
        y, edge = lowest - 0.6 * (place if left else many - 1 - place), 0.9 if left else many + 0.1
        axes.plot([at, at, edge], [0, y, y], color=INK, linewidth=1)
        axes.text(edge, y, f" {name} ({at:.2f}) ", ha="right" if left else "left", va="center")
    for level, clique in enumerate(found.cliques):
        y = -0.3 - 0.35 * level
        axes.plot([rank[clique[0]] - 0.04, rank[clique[-1]] + 0.04], [y, y], color=INK, linewidth=4)
    figure.savefig(path, dpi=130)
