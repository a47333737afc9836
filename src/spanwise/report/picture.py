"""One picture of an evaluation: accuracy over time, chosen span over time, true shifts marked."""

import os
from collections.abc import Sequence
from typing import Any

from spanwise.errors import MissingExtraError
from spanwise.evaluate.summary import Evaluation
from spanwise.report.replay import trailing_mean
from spanwise.report.story import mean_span

try:
    from matplotlib.figure import Figure
except ImportError as error:
    raise MissingExtraError("matplotlib", "report") from error

COLOURS = {"plain": "0.2", "plain-ensemble": "0.5", "awe": "tab:blue", "spanwise": "tab:orange"}

SMOOTH = 9
"""Rounds that a point of the accuracy curve averages over."""


def draw(evaluation: Evaluation, path: str | os.PathLike[str], *, schemes: Sequence[str], spans_of: str) -> None:
    """Write the picture to `path`, as PNG or whatever its ending says.

    Args:
        evaluation: what to draw.
        path: where to.
        schemes: whose accuracy to draw.
        spans_of: whose chosen span to draw.
    """
    figure = Figure(figsize=(10, 6.2), layout="constrained")
    accuracy, spans = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for name in schemes:
        _draw_accuracy(accuracy, evaluation, name)
    _draw_spans(spans, evaluation, spans_of)
    for axes in (accuracy, spans):
        for shift in evaluation.shifts:
            axes.axvline(shift, color="0.6", linestyle="--", linewidth=1, zorder=0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, frameon=False, borderaxespad=0)
    accuracy.set_ylabel(f"accuracy, last {SMOOTH} rounds")
    spans.set_ylabel("rounds of history")
    spans.set_xlabel("round; dashed lines: the distribution shifts")
    figure.savefig(path, dpi=130)


def _draw_accuracy(axes: Any, evaluation: Evaluation, name: str) -> None:
    values = evaluation.accuracy_of(name)
    rounds = [row.round for row in evaluation.rows if row.scheme == name and row.accuracy is not None]
    style = {"color": COLOURS[name]} if name in COLOURS else {}
    dashes = ":" if name == "plain-ensemble" else "-"
    axes.plot(
        rounds,
        trailing_mean(values, SMOOTH),
        dashes,
        label=f"{name} ({100 * values.mean():.1f} %)",
        linewidth=1.6,
        **style,
    )


def _draw_spans(axes: Any, evaluation: Evaluation, name: str) -> None:
    rows = [row for row in evaluation.rows if row.scheme == name and row.chosen is not None]
    single = [(row.round + 1, row.span) for row in rows if row.span is not None]
    mixed = [(row.round + 1, mean_span(row)) for row in rows if row.span is None]
    for points, label, marker in ((single, "one instance", "o"), (mixed, "ensemble (weighted mean)", "x")):
        if points:
            colour = COLOURS.get(name, "tab:purple")
            axes.plot(*zip(*points, strict=True), marker, color=colour, markersize=3.5, label=f"{name}: {label}")
