"""Whether `Spanwise` can always be switched on: what we ask of it on one role's streams, and what was measured."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np

from spanwise.bench.suite.learners import SEEDLESS
from spanwise.bench.suite.scores import Score
from spanwise.bench.suite.streams import DRAWN
from spanwise.bench.suite.table import DRAWS, ENSEMBLE, FALL_BACK, OURS, Place, chance, comparable, drawn_again
from spanwise.bench.tables import NOT_RUN, markdown
from spanwise.learner import Array

LITERAL = "awe-literal"
HEADER = ("stream", "learner", "seeds", "plain %", "spanwise [95 %]", FALL_BACK, ENSEMBLE, LITERAL)
STATIONARY = "stationary"
"""Part of the name of streams where nothing shifts."""

Cells = Mapping[tuple[str, str], Mapping[str, Place]]
"""By stream and learner, then by scheme."""


class Bar(NamedTuple):
    """One thing that is asked; `held` is None where it is only shown."""

    what: str
    asked: str
    measured: str
    held: bool | None


def by_cell(found: Iterable[Place]) -> dict[tuple[str, str], dict[str, Place]]:
    """Cells in which ours and the ensemble have been played, with the schemes that have the same seeds."""
    cells: dict[tuple[str, str], dict[str, Place]] = {}
    for one in comparable(found):
        cells.setdefault((one.stream, one.learner), {})[one.scheme] = one
    return {at: schemes for at, schemes in sorted(cells.items()) if {OURS, ENSEMBLE} <= schemes.keys()}


class Lead(NamedTuple):
    """What ours is ahead of the ensemble, in points, over some cells.

    Attributes:
        mean: over cells.
        chance: what its 95 % interval is when seeds and rounds of each cell are drawn again; the rounds of a stream
            alike for all of its learners.
        streams: and when streams are drawn again too.
    """

    mean: float
    chance: tuple[float, float]
    streams: tuple[float, float]

    def __str__(self) -> str:
        (low, high), (least, most) = self.chance, self.streams
        return (
            f"{self.mean:+.2f} [{low:+.2f}, {high:+.2f}] over seeds and rounds; with streams drawn again "
            f"[{least:+.2f}, {most:+.2f}]"
        )


def over_ensemble(scores: Iterable[Score], cells: Collection[tuple[str, str]]) -> Lead:
    """In these cells, of which there is one at least."""
    accuracies: dict[tuple[str, str], dict[str, dict[int, tuple[float, ...]]]] = {at: {} for at in cells}
    for one in scores:
        if (one.stream, one.learner) in accuracies:
            accuracies[one.stream, one.learner].setdefault(one.scheme, {})[one.seed] = one.accuracies
    streams = sorted({stream for stream, _ in cells})
    ahead = []
    sums, counts = np.zeros((len(streams), DRAWS)), np.zeros(len(streams))
    for (stream, _), schemes in accuracies.items():
        seeds = sorted(schemes[OURS].keys() & schemes[ENSEMBLE].keys())
        ours, theirs = (np.array([schemes[name][seed] for seed in seeds]) for name in (OURS, ENSEMBLE))
        number = streams.index(stream)
        ahead.append(100 * float((ours - theirs).mean()))
        sums[number] += drawn_again(100 * (ours - theirs), number)
        counts[number] += 1
    again = np.random.default_rng(0).integers(len(streams), size=(len(streams), DRAWS))
    drawn = np.take_along_axis(sums, again, axis=0).sum(axis=0) / counts[again].sum(axis=0)
    return Lead(fmean(ahead), _middle(sums.sum(axis=0) / counts.sum()), _middle(drawn))


def _middle(draws: Array) -> tuple[float, float]:
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)


def bars(cells: Cells, scores: Sequence[Score]) -> list[Bar]:
    """What must hold, in points of accuracy over the plain learner on all data, as far as it was played."""
    gain = fmean(schemes[OURS].gain for schemes in cells.values())
    worst = min(ahead_of_the_ensemble(cells).values())
    found = [
        Bar("mean gain", "at least 1.5", f"{gain:+.2f}", gain >= 1.5),
        real_and_drawn(cells),
        above_literal(cells),
        harmed(cells, 0.3, "none", 0.0),
        harmed(cells, 0.1, "at most 5 %", 0.05),
        where_nothing_shifts(cells),
        the_lead(cells, scores),
        of_these_with_randomness(cells, scores),
        Bar("the worst cell against them", "at least -0.3", f"{worst:+.2f}", worst >= -0.3),
    ]
    return [bar for bar in found if bar is not None]


def ahead_of_the_ensemble(cells: Cells) -> dict[tuple[str, str], float]:
    return {at: schemes[OURS].gain - schemes[ENSEMBLE].gain for at, schemes in cells.items()}


def real_and_drawn(cells: Cells) -> Bar | None:
    """Streams that are drawn shift more than most real ones do."""
    gains: dict[bool, list[float]] = {False: [], True: []}
    for (stream, _), schemes in cells.items():
        gains[stream in DRAWN].append(schemes[OURS].gain)
    if not all(gains.values()):
        return None
    real, drawn = (fmean(found) for found in gains.values())
    return Bar("of real data, and of data that is drawn", "", f"{real:+.2f} and {drawn:+.2f}", None)


def above_literal(cells: Cells) -> Bar | None:
    pairs = [(schemes[OURS].gain, schemes[LITERAL].gain) for schemes in cells.values() if LITERAL in schemes]
    if not pairs:
        return None
    above = fmean(ours > theirs for ours, theirs in pairs)
    return Bar("cells above awe-literal", "at least 80 %", f"{100 * above:.0f} % of {len(pairs)}", above >= 0.8)


def harmed(cells: Cells, bar: float, asked: str, most: float) -> Bar:
    share = fmean(schemes[OURS].harmed(bar) for schemes in cells.values())
    return Bar(f"cells harmed by more than {bar}", asked, f"{100 * share:.0f} %", share <= most)


def where_nothing_shifts(cells: Cells) -> Bar | None:
    gains = [schemes[OURS].gain for (stream, _), schemes in cells.items() if STATIONARY in stream]
    if not gains:
        return None
    return Bar("least gain where nothing shifts", "at least -0.1", f"{min(gains):+.2f}", min(gains) >= -0.1)


def the_lead(cells: Cells, scores: Sequence[Score]) -> Bar:
    """Held, if the interval over seeds and rounds of these streams lies above what is asked."""
    lead, p = over_ensemble(scores, cells.keys()), chance(ahead_of_the_ensemble(cells))
    return Bar(
        "over as many plain learners as it has instances",
        "at least 0.5, by a paired interval",
        f"{lead}, p of no lead {p:.2g}",
        lead.chance[0] >= 0.5,
    )


def of_these_with_randomness(cells: Cells, scores: Sequence[Score]) -> Bar | None:
    ahead = {at: points for at, points in ahead_of_the_ensemble(cells).items() if at[1] not in SEEDLESS}
    if not ahead:
        return None
    behind, lead = sum(points < 0 for points in ahead.values()), over_ensemble(scores, ahead)
    return Bar(
        "of these, learners with randomness alone, whose ensembles are more than one of them",
        "the same, at the same price",
        f"{lead}, p of no lead {chance(ahead):.2g}; behind in {behind} of {len(ahead)} cells",
        lead.chance[0] >= 0.5,
    )


def report(found: Sequence[Place], scores: Sequence[Score], role: str) -> str:
    """The bars, which are not for adversaries, as Markdown; nothing where nothing can be compared."""
    cells = by_cell(one for one in found if one.role == role)
    if not cells or role == "adversary":
        return ""
    held = {True: "yes", False: "**no**", None: ""}
    told = [(bar.what, bar.asked, bar.measured, held[bar.held]) for bar in bars(cells, scores)]
    return markdown(("spanwise", "asked", "measured", "held"), told)


def every_cell(found: Sequence[Place], role: str) -> str:
    """A line a cell, as Markdown."""
    cells = by_cell(one for one in found if one.role == role)
    return markdown(HEADER, [line(schemes) for schemes in cells.values()], words=2)


def wrapped(found: Iterable[Place]) -> str:
    """Of a learner that adapts by itself, every cell and whether it is better wrapped than alone, as Markdown."""
    cells = by_cell(found)
    if not cells:
        return ""
    ours = [schemes[OURS] for schemes in cells.values()]
    told = (
        f"Wrapped, it gains {fmean(one.gain for one in ours):+.2f} points on average, is as good as alone or better in "
        f"{sum(one.gain >= 0 for one in ours)} of {len(ours)} cells, and is harmed by more than 0.1 points in "
        f"{sum(one.harmed(0.1) for one in ours)}.\n"
    )
    table = markdown(HEADER[:-1], [line(schemes)[:-1] for schemes in cells.values()], words=2)  # without AWE as printed
    return table + "\n" + told


def line(schemes: Mapping[str, Place]) -> tuple[str, ...]:
    """One cell."""
    ours = schemes[OURS]
    return (
        ours.stream,
        ours.learner,
        str(len(ours.seeds)),
        f"{100 * ours.accuracy - ours.gain:.2f}",
        f"{ours.gain:+.2f} [{ours.low:+.2f}, {ours.high:+.2f}]",
        *(f"{schemes[name].gain:+.2f}" if name in schemes else NOT_RUN for name in (FALL_BACK, ENSEMBLE, LITERAL)),
    )
