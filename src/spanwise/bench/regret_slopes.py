"""From regrets to rates: a line through the logarithms, with a bootstrap over draws.

A slope says how regret moves, not how much there is: what is hopeless everywhere is flat. So the table shows beside
each slope the regret at the largest cell: the longest interval with the most held out, or the most phases.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from spanwise.bench.regret_scripted import GAPS
from spanwise.learner import Array

RESAMPLES = 1_000
NEAR = 0.1
"""A slope is as claimed when it is no farther from the claim than this."""

CLAIMED = {"rounds": -0.5, "held": -0.5, "phases": 0.5}
"""Slopes that the paper claims for AWE; for SAOL, 0 in what is held out."""

HEADER = ("setting", "scheme", "slope in", "claimed", "after the first round", "every round", "points a round")

Row = dict[str, Any]


class Cell(NamedTuple):
    """One scheme in one setting.

    Attributes:
        setting: a row of `regret.SETTINGS`.
        first: whether the first round after a shift counts.
        scheme: whose regret.
        held: points held out a round.
        rounds: of the interval, or of the whole stream where it has several phases.
        phases: of the stream whose regret is summed; 1 for an interval.
        costs: regret, (gaps, draws); one line where no gap was set.
    """

    setting: str
    first: bool
    scheme: str
    held: int
    rounds: int
    phases: int
    costs: Array

    def regret(self, weights: Array | None = None) -> Any:
        """The mean over draws at the worst gap; with `weights` (draws, resamples), of each resample."""
        return (self.costs.mean(axis=1) if weights is None else self.costs @ weights).max(axis=0)

    def row(self) -> Row:
        """As plain values, with the middle 95 % of resamples."""
        low, high = np.quantile(self.regret(_resamples(self.costs.shape[1])), [0.025, 0.975])
        gap = float(GAPS[self.costs.mean(axis=1).argmax()]) if len(self.costs) > 1 else None
        kept = {name: value for name, value in self._asdict().items() if name != "costs"}
        figures = {"regret": float(self.regret()), "low": float(low), "high": float(high)}
        return {"kind": "cell", **kept, "draws": self.costs.shape[1], "gap": gap, **figures}


def slopes(cells: Iterable[Cell]) -> list[Row]:
    """A row for each slope that its cells can tell, by setting, first round counted or not, and scheme."""
    groups: dict[tuple[str, bool, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell[:3], []).append(cell)
    return [row for group in groups.values() for row in _fit(group)]


def _fit(cells: Sequence[Cell]) -> Iterator[Row]:
    """Least squares of log regret on the logarithms of what varies among the cells.

    Cells without a shift have no place on an axis of shifts, and a regret that is not clearly above 0 has no
    logarithm: both are left out.
    """
    dynamic = cells[0].setting.startswith("dynamic")
    axes = ["phases"] if dynamic else ["rounds", "held"]
    weights = _resamples(cells[0].costs.shape[1])
    kept = [cell for cell in cells if cell.phases > dynamic and min(cell.regret(), cell.regret(weights).min()) > 0]
    places = np.log([[getattr(cell, axis) for axis in axes] for cell in kept]).reshape(-1, len(axes))
    design = np.hstack([np.ones((len(kept), 1)), places])
    if len(kept) < 3 or np.linalg.matrix_rank(design) < design.shape[1]:
        return
    found = np.linalg.lstsq(design, np.log([[cell.regret(), *cell.regret(weights)] for cell in kept]), rcond=None)[0]
    for axis, (slope, *resampled) in zip(axes, found[1:], strict=True):
        yield _slope_row(cells, axis, float(slope), resampled) | {"cells": len(kept)}


def _slope_row(cells: Sequence[Cell], axis: str, slope: float, resampled: Sequence[float]) -> Row:
    setting, first, scheme = cells[0][:3]
    low, high = np.quantile(resampled, [0.025, 0.975])
    last = max(cells, key=lambda cell: (cell.phases, cell.rounds, cell.held))
    claimed = claim(scheme, axis)
    return {
        "kind": "slope",
        "setting": setting,
        "first": first,
        "scheme": scheme,
        "in": axis,
        "slope": slope,
        "low": float(low),
        "high": float(high),
        "claimed": claimed,
        "verdict": verdict(slope, claimed),
        "regret_a_round": float(last.regret()) / (last.rounds if axis == "phases" else 1),
    }


@cache
def _resamples(draws: int) -> Array:
    """(draws, resamples): how often each draw is taken, as a share."""
    rng = np.random.default_rng(draws)
    return rng.multinomial(draws, np.full(draws, 1 / draws), size=RESAMPLES).T / draws


def claim(scheme: str, axis: str) -> float | None:
    """The slope that the paper claims; none for the plain learner."""
    if scheme == "plain":
        return None
    return 0.0 if scheme.startswith("saol") and axis == "held" else CLAIMED[axis]


def verdict(slope: float, claimed: float | None) -> str:
    """A slope against the claim, in words.

    >>> verdict(-0.46, -0.5), verdict(-0.98, -0.5), verdict(0.02, -0.5), verdict(0.8, 0.5)
    ('as claimed', 'steeper', 'flatter', 'steeper')
    """
    if claimed is None:
        return ""
    if abs(slope - claimed) <= NEAR:
        return "as claimed"
    return "steeper" if not claimed or slope / claimed > 1 else "flatter"


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """The slopes as a table: without the first round after a shift, and with it."""
    found: dict[tuple[str, str, str], dict[bool, Mapping[str, Any]]] = {}
    for row in rows:
        if row["kind"] == "slope":
            found.setdefault((row["setting"], row["scheme"], row["in"]), {})[row["first"]] = row
    lines = [(*key, *_figures(by_first)) for key, by_first in found.items()]
    table = [HEADER, ("---",) * 3 + ("---:",) * 4, *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in table) + "\n"


def _figures(by_first: Mapping[bool, Mapping[str, Any]]) -> tuple[str, ...]:
    some = next(iter(by_first.values()))
    claimed = "" if some["claimed"] is None else f"{some['claimed']:g}"
    later, every = by_first.get(False), by_first.get(True)
    regret = "" if later is None else f"{100 * later['regret_a_round']:.2g}"
    return claimed, _told(later), _told(every), regret


def _told(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "no fit"
    return f"{row['slope']:+.2f} [{row['low']:+.2f}, {row['high']:+.2f}] {row['verdict']}".rstrip()
