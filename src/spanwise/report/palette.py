"""One colour a scheme, the same in every chart, on light paper and on dark."""

from collections.abc import Sequence

INK, GRID, PAPER = "#24292f", "#d9dee3", "#ffffff"

SCHEMES = {
    "plain": "#333333",
    "plain-ensemble": "#808080",
    "plain-same-fold": "#b3a58c",
    "awe": "#1f77b4",
    "awe-literal": "#17becf",
    "awe-prequential": "#9467bd",
    "spanwise": "#ff7f0e",
    "vote": "#2ca02c",
    "saol": "#d62728",
    "cbce": "#8c564b",
    "single-resolution": "#e377c2",
}

SPARE = ("#bcbd22", "#6b8e9f", "#c49c00", "#5254a3", "#7b4173")
"""For schemes of other names, in the order in which they come."""

HEAT = [[0.0, "#eef4fb"], [0.15, "#9ecae1"], [0.4, "#3182bd"], [1.0, "#08306b"]]
"""Light to dark, fastest where the weights of a large pool lie."""

DARK = {
    INK: "#d5dbe1",
    GRID: "#3a424b",
    PAPER: "#1b2129",
    "#333333": "#f0f0f0",
    "#808080": "#a0a0a0",
    "#1f77b4": "#4ea3e0",
    "#9467bd": "#b48ad9",
    "#8c564b": "#b98377",
    "#d62728": "#f0605f",
    "#5254a3": "#8a8cd6",
    "#7b4173": "#b877ae",
    "#eef4fb": "#232c37",
    "#9ecae1": "#28557d",
    "#3182bd": "#5aa6e0",
    "#08306b": "#d6ebff",
}
"""What a colour becomes on dark paper; one that is not here is as good on either."""


def colours(schemes: Sequence[str]) -> dict[str, str]:
    """A colour for each scheme.

    >>> colours(["plain", "mine"])
    {'plain': '#333333', 'mine': '#bcbd22'}
    """
    others = [name for name in schemes if name not in SCHEMES]
    return {name: SCHEMES.get(name) or SPARE[others.index(name) % len(SPARE)] for name in schemes}


def translucent(colour: str, opacity: float) -> str:
    """A colour that lets through what is behind it.

    >>> translucent("#1f77b4", 0.2)
    'rgba(31, 119, 180, 0.2)'
    """
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"
