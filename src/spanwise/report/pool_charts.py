"""What a scheme did with its pool: how far back it looked, and how much each instance counted."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from spanwise.evaluate.record import Row
from spanwise.report.canvas import Chart, add_posts, canvas, mark_shifts, named, rounded, safe
from spanwise.report.palette import HEAT, INK, PAPER, SCHEMES, colours
from spanwise.report.replay import Replay, Weights, bins
from spanwise.report.story import mean_span

MOST_CELLS = 200
"""Columns and lines of a heat map; with more rounds than that, neighbours are drawn together."""

MOST_NAMES = 6
"""Rounds that a sentence names."""

LINE = 80
"""Letters of a line of what is said of a point."""

SCALE = {"title": {"text": "weight, %"}, "outlinewidth": 0, "thickness": 14, "len": 0.8, "y": 0, "yanchor": "bottom"}
"""The bar that tells what colours of the heat map mean."""


def span(replay: Replay) -> Chart | None:
    """How far back the scheme looked, over time, and where that collapsed."""
    if not chosen(replay):
        return None
    figure = canvas(replay, "rounds of history")
    longest = range(2, replay.last + 1)
    figure.add_scatter(
        x=named(replay, longest),
        y=[t - 1 for t in longest],
        mode="lines",
        name="all the past",
        line={"color": SCHEMES["plain-ensemble"], "width": 1, "dash": "dot"},
        hoverinfo="skip",
    )
    add_spans(figure, replay, mixed=False)
    add_spans(figure, replay, mixed=True)
    words = {
        change.round: f"{change.after:.0f} rounds of history, not {change.before:.0f}: the data likely changed before"
        for change in replay.changes()
    }
    add_posts(figure, replay, words, name="likely change", line={"color": SCHEMES["saol"], "width": 2})
    mark_shifts(figure, replay)
    seeds = (
        "All seeds are drawn; a change is marked where most of them show it. " if len(replay.evaluations) > 1 else ""
    )
    marked = (
        f"A red line marks where the span fell to less than half and stayed short ({listed(named(replay, words))}), a "
        "sign (no proof) that the data changed not long before."
        if words
        else "It never fell to less than half and stayed short, so no likely change is marked."
    )
    reading = (
        f"How many rounds {safe(replay.told)} looked back on to predict each round. Points that rise keep what they "
        f"have; points that fall have thrown the past away; on the dotted line, nothing is. {marked} {seeds}"
    )
    return Chart("span", "The span that was chosen", reading, figure)


def add_spans(figure: Any, replay: Replay, *, mixed: bool) -> None:
    """The rounds that one instance predicted, or those that several did."""
    points = [(row, value) for row, value in chosen(replay) if (row.span is None) == mixed]
    if not points:
        return
    colour = colours(replay.schemes)[replay.told]
    figure.add_scatter(
        x=named(replay, [row.round + 1 for row, _ in points]),
        y=rounded(value for _, value in points),
        customdata=[whose(replay, row) for row, _ in points],
        mode="markers",
        name="ensemble (mean)" if mixed else "one instance",
        marker={
            "symbol": "x-thin" if mixed else "circle",
            "size": 6,
            "color": colour,
            "line": {"color": colour, "width": 1.5 if mixed else 0},
        },
        opacity=max(0.4, 1 / len(replay.evaluations)),
        hovertemplate="%{y:.0f} rounds: %{customdata}",
    )


def chosen(replay: Replay) -> list[tuple[Row, float]]:
    """The rows that chose who predicts a round of the stream, each with the span of what was chosen."""
    rows = [row for rows in replay.rows(replay.told) for row in rows if row.round < replay.last]
    return [(row, value) for row in rows if row.chosen is not None and (value := mean_span(row)) is not None]


def listed(names: Sequence[str]) -> str:
    """A few names in a row.

    >>> listed(["2013", "2015"]), listed([str(year) for year in range(2001, 2020)])
    ('2013, 2015', '2001, 2002, 2003, 2004, 2005, 2006 and 13 more')
    """
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def whose(replay: Replay, row: Row) -> str:
    """Who predicts the round after this row, in words, and why, where the scheme says it."""
    if isinstance(row.chosen, int):
        who = f"one instance, started at {safe(replay.names[row.chosen - 1])}"
    elif len(row.weights) == 1:
        who = f"copies started at {safe(replay.names[min(row.weights) - 1])}, averaged"
    else:
        who = f"{len(row.weights)} starts, weighed together"
    return "<br>".join([who, *map(safe, wrap(row.why, LINE))])


def weights(replay: Replay) -> Chart | None:
    """Weight of each start in each round, as a heat map."""
    shares = replay.weights()
    if not shares:
        return None
    across, up, cells = grid(shares, replay.last)
    together = len(across) < len({t for t, _ in shares})
    figure = canvas(replay, "history begins at")
    figure.add_heatmap(
        x=named(replay, across),
        y=named(replay, up),
        z=[[round(cells[t, start], 2) if (t, start) in cells else None for t in across] for start in up],
        colorscale=HEAT,
        zmin=0,
        zmax=max(cells.values()),
        hoverongaps=False,
        colorbar=SCALE,
        hovertemplate="predicting %{x}<br>history from %{y} on<br>weight %{z:.1f} %<extra></extra>",
    )
    if together:
        figure.update_xaxes(categoryarray=named(replay, across), range=[-0.5, len(across) - 0.5])
    else:
        add_chosen(figure, replay)
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=named(replay, up), nticks=12, showgrid=False
    )
    figure.update_layout(hovermode="closest", height=480)
    reading = (
        "Each line is a start: the instances that have learned from that round on. The stronger its colour, the more "
        f"it counts in what {safe(replay.told)} predicts a round with. {alone_in_words(replay, together=together)}"
        "Strong at the bottom: the whole past is trusted. Strong along the diagonal: only what is new."
    )
    if len({start for _, start in shares}) == 1:
        reading += " Here all of it lay on one start, in every round."
    return Chart("weights", "Who counts: the weights of the pool", reading, figure)


def grid(shares: Weights, last: int) -> tuple[list[int], list[int], Weights]:
    """Columns, lines and cells of a heat map, in per cent of a round's weight.

    Every start has a line, also one that never had weight: time then runs as fast upwards as to the right.
    """
    columns = bins(sorted({t for t, _ in shares}), MOST_CELLS)
    lines = bins(range(1, last + 1), MOST_CELLS)
    wide = Counter(columns.values())
    cells: Weights = defaultdict(float)
    for (t, start), share in shares.items():
        cells[columns[t], lines[start]] += 100 * share / wide[columns[t]]
    return list(wide), list(dict.fromkeys(lines.values())), cells


def alone_in_words(replay: Replay, *, together: bool) -> str:
    """How to see rounds that one instance predicted alone; some schemes show the ensemble that they passed over."""
    alone = [row for row, _ in chosen(replay) if isinstance(row.chosen, int)]
    said = ""
    if together:
        said += "Neighbouring rounds and starts are drawn together. "
    elif alone:
        said += "A dot marks an instance that predicted alone. "
    if any(len(row.weights) > 1 for row in alone):
        said += "Where one instance predicted alone, the colours are of the ensemble that was passed over. "
    return said


def add_chosen(figure: Any, replay: Replay) -> None:
    """A dot where one instance alone predicted."""
    alone = [(row.round + 1, row.chosen) for row, _ in chosen(replay) if isinstance(row.chosen, int)]
    if alone:
        figure.add_scatter(
            x=named(replay, [t for t, _ in alone]),
            y=named(replay, [start for _, start in alone]),
            mode="markers",
            name="alone predicts",
            marker={"color": PAPER, "size": 6 if replay.last <= 100 else 4, "line": {"color": INK, "width": 1.5}},
            showlegend=True,
            hovertemplate="%{x}: the instance started at %{y} alone predicts<extra></extra>",
        )
