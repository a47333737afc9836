"""What the charts of a report share: an empty figure in our manner, its axis of rounds, and text made safe.

A chart is drawn for light paper; `palette.DARK` tells the page what to swap on dark paper. Whatever text
comes from outside is escaped, as plotly reads markup in names and labels.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from spanwise.errors import MissingExtraError
from spanwise.report.palette import GRID, INK, PAPER, SCHEMES
from spanwise.report.replay import Replay, trailing_mean

try:
    import plotly.graph_objects as go
except ImportError as error:
    raise MissingExtraError("plotly", "report") from error

LONGEST_LABEL = 32
MOST_TICKS = 12
WIDTH = 64
"""Letters that stand side by side under a chart, with room between its labels."""

CLEAR = "rgba(0,0,0,0)"


@dataclass(frozen=True)
class Chart:
    """A figure, the id and title it has on the page, and how to read it."""

    id: str
    title: str
    reading: str
    figure: Any


def blank(height: int = 420) -> Any:
    """An empty figure."""
    axis = {"gridcolor": GRID, "zeroline": False, "linecolor": GRID, "automargin": True, "title": {"standoff": 12}}
    return go.Figure(
        layout={
            "template": "none",
            "height": height,
            "paper_bgcolor": CLEAR,
            "plot_bgcolor": CLEAR,
            "font": {"color": INK, "family": "system-ui, sans-serif", "size": 13},
            "margin": {"l": 70, "r": 190, "t": 34, "b": 56},
            "xaxis": axis,
            "yaxis": axis,
            "legend": {"font": {"size": 12}},
            "hovermode": "x unified",
            "hoverlabel": {"bgcolor": PAPER, "bordercolor": GRID, "font": {"color": INK}},
            "modebar": {"bgcolor": CLEAR, "color": GRID, "activecolor": INK},
        }
    )


def canvas(replay: Replay, title: str) -> Any:
    """A figure whose horizontal axis is the rounds, the same in every chart."""
    figure = blank()
    names = named(replay, range(1, replay.last + 1))
    figure.update_xaxes(
        type="category",
        categoryorder="array",
        categoryarray=names,
        range=[-0.5, replay.last - 0.5],
        nticks=ticks(names),
        showgrid=False,
        title_text="period" if replay.dated else "round",
    )
    figure.update_yaxes(title_text=title)
    return figure


def ticks(names: Sequence[str]) -> int:
    """Labels that fit under a chart without running into each other.

    >>> ticks(["2013", "2014"]), ticks(["2013-W05", "2013-W06"])
    (12, 7)
    """
    return max(2, min(MOST_TICKS, WIDTH // (1 + max(map(len, names)))))


def mark_shifts(figure: Any, replay: Replay) -> None:
    """Lines where the stream itself says that it shifted."""
    words = dict.fromkeys(replay.shifts, "the stream shifted here")
    add_posts(
        figure, replay, words, name="true shift", line={"color": SCHEMES["plain-ensemble"], "dash": "dash", "width": 1}
    )


def add_posts(figure: Any, replay: Replay, words: Mapping[int, str], *, name: str, line: Mapping[str, object]) -> None:
    """A line from bottom to top at each of these rounds that tells why it is there."""
    if not words:
        return
    figure.add_scatter(
        x=[x for one in named(replay, words) for x in (one, one, None)],
        y=[0, 1, None] * len(words),
        yaxis="y2",
        mode="lines",
        name=name,
        line=line,
        customdata=[safe(text) for text in words.values() for _ in range(3)],
        hovertemplate="%{customdata}",
    )
    figure.update_layout(yaxis2={"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True})


def named(replay: Replay, rounds: Iterable[int]) -> list[str]:
    """The names of rounds, as they stand on the axis."""
    return [safe(replay.names[t - 1]) for t in rounds]


def smoothed(replay: Replay, values: Mapping[int, float]) -> Sequence[float]:
    return rounded(trailing_mean(np.array(list(values.values())), replay.width))


def rounded(values: Iterable[float]) -> Sequence[float]:
    """Digits that nobody sees make a page large."""
    return [round(float(value), 3) for value in values]


def safe(text: str) -> str:
    """Text that neither a browser nor plotly takes for markup."""
    return escape(str(text))


def shortened(text: str) -> str:
    """A label that fits beside a chart.

    >>> shortened("a" * 40)
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…'
    """
    return safe(text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…")
