"""The charts of a report, each with the sentences that say how to read it."""

from typing import Any

from spanwise.evaluate.summary import PLAIN, SAME_FOLD
from spanwise.report.canvas import Chart, blank, canvas, mark_shifts, named, rounded, safe, shortened, smoothed
from spanwise.report.gains import ENSEMBLE
from spanwise.report.palette import GRID, colours, translucent
from spanwise.report.pool_charts import span, weights
from spanwise.report.replay import Replay

MOST_CLASSES = 20
LEAST_WIDTH = 10
"""Points of accuracy that the chart of classes shows at least: less would make much of nothing."""


def charts(replay: Replay) -> list[Chart]:
    """All that there are figures for."""
    drawn = [draw(replay) for draw in (accuracy, gain, span, weights, classes, cost)]
    return [chart for chart in drawn if chart is not None]


def accuracy(replay: Replay) -> Chart | None:
    """Accuracy over time, one curve a scheme."""
    if not replay.accuracy(replay.told):
        return None
    figure = canvas(replay, "accuracy, %")
    for name in in_front_last(replay):
        shown = "legendonly" if name == SAME_FOLD else True
        add_curve(figure, replay, name, replay.accuracy(name), visible=shown, form=".1f", unit=" %")
    cut = cut_off(figure, replay)
    mark_shifts(figure, replay)
    over = f"Each point is the mean of {replay.width} rounds up to it. " if replay.width > 1 else ""
    reading = (
        f"Higher is better: the share of rows that were predicted right before their labels were seen. {over}"
        f"Click a name in the legend to hide or show its curve; drag to zoom, double-click to go back.{cut}"
    )
    return Chart("accuracy", "Accuracy over time", reading, figure)


def gain(replay: Replay) -> Chart | None:
    """What schemes gain over the plain learner, over time, with a band for the one told about."""
    if PLAIN not in replay.schemes or not replay.gain(replay.told):
        return None
    figure = canvas(replay, "gain over plain, points")
    shades = colours(replay.schemes)
    figure.add_hline(y=0, line={"color": shades[PLAIN], "width": 1.5})
    add_band(figure, replay, shades[replay.told])
    for name in in_front_last(replay):
        if name != PLAIN:
            shown = True if name in (ENSEMBLE, replay.told) else "legendonly"
            add_curve(figure, replay, name, replay.gain(name), visible=shown, form="+.2f", unit=" points")
    mark_shifts(figure, replay)
    over = f" (mean of {replay.width} rounds up to each point)" if replay.width > 1 else ""
    reading = (
        f"Above 0, {safe(replay.told)} was right more often than the plain learner on the same rows{over}. Where the "
        "95 % band does not touch 0, chance is an unlikely reason. Click a name in the legend to show its curve."
    )
    return Chart("gain", "Gain over the plain learner", reading, figure)


def add_curve(
    figure: Any, replay: Replay, name: str, values: dict[int, float], *, visible: object, form: str, unit: str
) -> None:
    """One scheme, smoothed; the figure of the round itself is in the hover text."""
    rank = {replay.told: 1, PLAIN: 2, ENSEMBLE: 3}.get(name, 4)
    style: dict[str, dict[str, object]] = {
        replay.told: {"width": 3},
        PLAIN: {"width": 2},
        ENSEMBLE: {"width": 2, "dash": "dot"},
    }
    figure.add_scatter(
        x=named(replay, values),
        y=smoothed(replay, values),
        customdata=rounded(values.values()),
        name=safe(name),
        mode="lines+markers" if len(values) <= 12 else "lines",
        line={"width": 1.3, **style.get(name, {}), "color": colours(replay.schemes)[name]},
        opacity=0.7 if rank == 4 else 1.0,
        visible=visible,
        legendrank=rank,
        hovertemplate=f"%{{y:{form}}}{unit}" + (f" (this round %{{customdata:{form}}})" if replay.width > 1 else ""),
    )


def add_band(figure: Any, replay: Replay, colour: str) -> None:
    """The 95 % band around the gain of the scheme told about."""
    for edge, fill in zip(replay.band(), (None, "tonexty"), strict=True):
        if edge:
            figure.add_scatter(
                x=named(replay, edge),
                y=rounded(edge.values()),
                mode="lines",
                line={"width": 0, "color": colour},
                fill=fill,
                fillcolor=translucent(colour, 0.22),
                name="95 % band",
                legendgroup="band",
                legendrank=1,
                showlegend=fill is not None,
                hoverinfo="skip",
            )


def cut_off(figure: Any, replay: Replay) -> str:
    """Keep a scheme far below from squeezing the others together; the sentence that says so, where it is done."""
    curves = {trace.name: trace.y for trace in figure.data if trace.visible is True}
    front = [y for name in (PLAIN, ENSEMBLE, replay.told) for y in curves.get(safe(name), ())]
    every = [y for curve in curves.values() for y in curve]
    floor = min(front) - 0.5 * (max(front) - min(front))
    if min(every) >= floor:
        return ""
    figure.update_yaxes(range=[floor, max(every) + 0.05 * (max(every) - floor)])
    return " Curves far below the others are cut off: double-click to see all of them."


def in_front_last(replay: Replay) -> list[str]:
    """The schemes in the order to draw them: what matters most lies on top."""
    rank = {PLAIN: 1, ENSEMBLE: 2, replay.told: 3}
    return sorted(replay.schemes, key=lambda name: rank.get(name, 0))


def classes(replay: Replay) -> Chart | None:
    """Accuracy by class, the scheme against the plain learner."""
    ours, theirs = replay.by_class(replay.told), replay.by_class(PLAIN)
    labels = [label for label in ours if label in theirs][:MOST_CLASSES]
    if not labels:
        return None
    figure = blank(height=130 + 26 * len(labels))
    figure.add_scatter(
        x=rounded(x for label in labels for x in (theirs[label][1], ours[label][1], float("nan"))),
        y=[place for place in range(len(labels)) for _ in range(3)],
        mode="lines",
        line={"color": GRID, "width": 4},
        showlegend=False,
        hoverinfo="skip",
    )
    ring, dot = {"symbol": "circle-open", "size": 13, "line": {"width": 2}}, {"symbol": "circle", "size": 9}
    for name, found, marker in ((PLAIN, theirs, ring), (replay.told, ours, dot)):
        figure.add_scatter(
            x=rounded(found[label][1] for label in labels),
            y=list(range(len(labels))),
            mode="markers",
            name=safe(name),
            marker={"color": colours(replay.schemes)[name], **marker},
            customdata=[f"{found[label][0]:,} rows of {safe(label)}" for label in labels],
            hovertemplate="right on %{x:.1f} % of %{customdata}",
        )
    ticks = {"tickvals": list(range(len(labels))), "ticktext": [f"{shortened(label)} " for label in labels]}
    figure.update_yaxes(**ticks, range=[len(labels) - 0.4, -0.6], showgrid=False)
    figure.update_xaxes(title_text="accuracy on rows of the class, %", range=wide_enough(figure))
    figure.update_layout(hovermode="closest")
    which = f"the {len(labels)} largest of {len(ours)} classes" if len(labels) < len(ours) else "largest class first"
    reading = (
        f"A dot to the right of its ring: {safe(replay.told)} was right more often about that class than the plain "
        f"learner. All rounds together, {which}."
    )
    return Chart("classes", "Which classes gain, which lose", reading, figure)


def wide_enough(figure: Any) -> list[float]:
    """Limits of an axis in per cent around the marks of a figure."""
    marks = [x for trace in figure.data if trace.mode == "markers" for x in trace.x]
    middle, half = (min(marks) + max(marks)) / 2, max(LEAST_WIDTH, 1.1 * (max(marks) - min(marks))) / 2
    return [max(-1.0, middle - half), min(101.0, middle + half)]


def cost(replay: Replay) -> Chart:
    """Seconds of each scheme."""
    spent = {name: sum(replay.by_round(name, lambda row: row.seconds).values()) for name in replay.schemes}
    base = spent.get(PLAIN, 0.0)
    figure = blank(height=110 + 32 * len(spent))
    figure.add_bar(
        y=[f"{shortened(name)} " for name in spent],
        x=rounded(spent.values()),
        orientation="h",
        marker={"color": [colours(replay.schemes)[name] for name in spent]},
        text=[f"{value:,.1f} s" + (f" ({value / base:.1f}x)" if base else "") for value in spent.values()],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: %{text}<extra></extra>",
    )
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    figure.update_xaxes(title_text="seconds of predicting and learning", rangemode="tozero")
    figure.update_layout(hovermode="closest", showlegend=False, bargap=0.35, margin_r=110)
    reading = (
        "What each scheme takes on this machine over the whole stream, predicting and learning, and how many times the "
        "plain learner's time that is. Schemes that run side by side share instances; these are the seconds that each "
        "would have taken alone, so their sum may be more than you waited."
    )
    return Chart("cost", "What it costs", reading, figure)
