"""One picture of the rates: regret against interval length, hold-out size and phases, on logarithmic scales."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spanwise.bench.regret_slopes import claim
from spanwise.errors import MissingExtraError

try:
    from matplotlib.figure import Figure
except ImportError as error:
    raise MissingExtraError("matplotlib", "report") from error

COLOURS = {
    "awe": "tab:blue",
    "awe-hoeffding": "tab:orange",
    "saol": "tab:green",
    "saol-mixed": "tab:olive",
    "plain": "0.3",
}
PANELS = (
    ("scripted, first", "rounds"),
    ("scripted, first", "held"),
    ("scripted, shift", "rounds"),
    ("scripted, shift", "held"),
    ("learned, best instance", "held"),
    ("learned, best classifier", "rounds"),
    ("dynamic, scripted", "phases"),
    ("dynamic, best classifier", "phases"),
)
AXES = {"rounds": "rounds of the interval", "held": "points held out a round", "phases": "phases"}


def draw(rows: Sequence[Mapping[str, Any]], path: str | os.PathLike[str]) -> None:
    """Write the picture to `path`: a panel a setting and axis, dotted lines with the slope claimed.

    Args:
        rows: what `regret.run` gave.
        path: where to.
    """
    figure = Figure(figsize=(15, 7.5), layout="constrained")
    for axes, (setting, along) in zip(figure.subplots(2, 4).flat, PANELS, strict=True):
        found = [row for row in rows if row["kind"] == "cell" and row["setting"] == setting and not row["first"]]
        cells = [row for row in found if row["phases"] > (along == "phases")]
        for scheme in dict.fromkeys(row["scheme"] for row in cells):
            _draw_scheme(axes, [row for row in cells if row["scheme"] == scheme], along)
        axes.set(xscale="log", yscale="log", xlabel=AXES[along], ylabel="regret")
        ticks = sorted({row[along] for row in cells})
        axes.set_xticks(ticks, map(str, ticks))
        axes.minorticks_off()
        axes.set_title(f"{setting}{_held_fixed(cells, along)}", fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(fontsize=7, frameon=False)
    figure.savefig(path, dpi=120)


def _draw_scheme(axes: Any, cells: Sequence[Mapping[str, Any]], along: str) -> None:
    """A line through the middle of what the panel does not vary, its interval, and the claim from its first point."""
    fixed = _fixed(cells, along)
    line = sorted(
        (row for row in cells if all(row[name] == value for name, value in fixed.items()) and row["regret"] > 0),
        key=lambda row: row[along],
    )
    if not line:
        return
    scheme = line[0]["scheme"]
    x, y = (np.array([row[name] for row in line], dtype=float) for name in (along, "regret"))
    low, high = (np.array([max(row[name], 1e-6) for row in line]) for name in ("low", "high"))
    axes.plot(x, y, "o-", color=COLOURS[scheme], markersize=3, label=scheme)
    axes.fill_between(x, low, high, color=COLOURS[scheme], alpha=0.2, linewidth=0)
    slope = claim(scheme, along)
    if slope is not None:
        axes.plot(x, y[0] * (x / x[0]) ** slope, ":", color=COLOURS[scheme], linewidth=1)


def _fixed(cells: Sequence[Mapping[str, Any]], along: str) -> dict[str, int]:
    """The middle of the other axes among the cells."""
    others = [name for name in ("rounds", "held") if name != along] if along != "phases" else ["rounds"]
    values = {name: sorted({row[name] for row in cells}) for name in others}
    return {name: found[len(found) // 2] for name, found in values.items() if found}


def _held_fixed(cells: Sequence[Mapping[str, Any]], along: str) -> str:
    names = {"rounds": "rounds", "held": "held out"}
    return "".join(f", {value} {names[name]}" for name, value in _fixed(cells, along).items())
