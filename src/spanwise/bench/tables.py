"""The paper's tables from cells that were stored, beside what the paper prints.

A board lays the cells out: by place, which is a stream, a learner and a number of iterations, and by scheme. What was
asked for and is not there is shown as not run. Tables do not depend on the order in which cells were done.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from spanwise.bench.paper import Printed, misprints, printed
from spanwise.bench.store import Cell, Key, evaluations
from spanwise.evaluate import Evaluation
from spanwise.evaluate.seeds import AcrossSeeds, across
from spanwise.evaluate.statistics import aligned, deviation, standing
from spanwise.evaluate.summary import PLAIN, SAME_FOLD
from spanwise.learner import Array

NOT_RUN, UNKNOWN = "not run", "unknown"
RESOLUTION = "single-resolution-"
FIGURES = ("accuracy", "gain", "gain_same_fold", "wins", "draws", "losses", "seconds")
HEADER = (
    *("learner", "iterations", "scheme", "seeds", "plain %", "accuracy %", "gain ± sd over seeds [95 % over rows]"),
    *("gain, same fold", "win/draw/lose", "seconds", "paper: gain", "paper: win/draw/lose"),
)


class Place(NamedTuple):
    """What schemes are compared on."""

    stream: str
    learner: str
    iterations: int


class Board:
    """Cells by place and scheme, with what was asked for.

    Args:
        cells: that are done.
        expected: that were asked for; streams, learners and schemes come in the order they first have here.

    Attributes:
        schemes: by place, asked for or found.
        runs: by place, one evaluation a seed.
        lines: by place, scheme -> what came of it over seeds.
    """

    def __init__(self, cells: Iterable[Cell], expected: Iterable[Key] = ()) -> None:
        self.cells = sorted(cells, key=lambda cell: cell.key)
        keys = [*expected, *(cell.key for cell in self.cells)]
        streams = list(dict.fromkeys(key.stream for key in keys))
        learners = list(dict.fromkeys(key.learner for key in keys))
        schemes = list(dict.fromkeys(key.scheme for key in keys))

        def order(key: Key) -> tuple[int, ...]:
            return streams.index(key.stream), learners.index(key.learner), key.iterations, schemes.index(key.scheme)

        keys.sort(key=order)
        self.schemes: dict[Place, list[str]] = {}
        self._seeds: dict[tuple[Place, str], set[int]] = {}
        at: dict[Place, list[Cell]] = {}
        for key in keys:
            place = Place(key.stream, key.learner, key.iterations)
            names = self.schemes.setdefault(place, [])
            if key.scheme not in names:
                names.append(key.scheme)
            self._seeds.setdefault((place, key.scheme), set()).add(key.seed)
            at.setdefault(place, [])
        for cell in self.cells:
            at[Place(cell.key.stream, cell.key.learner, cell.key.iterations)].append(cell)
        self.runs = {place: evaluations(found) for place, found in at.items()}
        self.lines = {place: {line.scheme: line for line in across(runs)} for place, runs in self.runs.items()}

    def seeds(self, place: Place, scheme: str) -> str:
        """How many were run, and of how many where some are missing."""
        line = self.lines[place].get(scheme)
        found, asked = line.seeds if line else 0, len(self._seeds.get((place, scheme), ()))
        return str(found) if found == asked else f"{found} of {asked}"

    def among(self, wanted: Callable[[str], bool] = lambda name: True) -> list[str]:
        """The schemes of all places, each once."""
        return [
            name for name in dict.fromkeys(name for names in self.schemes.values() for name in names) if wanted(name)
        ]


def document(board: Board) -> dict[str, Any]:
    """One row a cell, and what they were made with: one of each, or a list where they differ."""
    made = {what: _different(cell.made.get(what) for cell in board.cells) for what in ("machine", "versions")}
    found = {
        Key(place.stream, place.learner, line.scheme, run.rows[0].seed, place.iterations): line
        for place, runs in board.runs.items()
        for run in runs
        for line in run.summary()
    }
    rows = [{**key._asdict(), **{name: getattr(found[key], name) for name in FIGURES}} for key in sorted(found)]
    return {**made, "rows": rows}


def differences(runs: Sequence[Evaluation], ours: str, theirs: str = PLAIN) -> tuple[Array, Array] | None:
    """Rounds, and points by seed and round that one scheme is ahead of another; None where no seed has both."""
    both = [run for run in runs if ours in run.schemes and theirs in run.schemes]
    if not both or not aligned(both, ours)[0]:
        return None
    found = [run.differences(ours, theirs) for run in both]
    return np.array(list(found[0])), 100 * np.array([list(one.values()) for one in found])


def table1(board: Board) -> str:
    """A table a stream: what every scheme gains, how sure that is, and the paper's figure."""
    parts = []
    for stream in dict.fromkeys(place.stream for place in board.schemes):
        places = [place for place in board.schemes if place.stream == stream]
        lines = [line for place in places for line in _lines(board, place)]
        rounds = sorted({line.rounds for place in places for line in board.lines[place].values()})
        told = f", {' or '.join(map(str, rounds))} rounds scored" if rounds else ""
        parts.append(f"### {stream}{told}\n\n{markdown(HEADER, lines, words=3)}")
    return "\n".join(parts) + _notes(board, board.among(_usual))


def wins(board: Board) -> str:
    """Rounds won, drawn and lost against the plain learner, of accuracy averaged over seeds."""
    return wide(board, board.among(_usual), lambda _, line: _standing(line), _standing)


def voting(board: Board) -> str:
    """What a majority vote of the pool gains, beside AWE on the same pool."""

    def gain(_: Place, line: AcrossSeeds) -> str:
        return f"{_gain(line)}, {_standing(line)}"

    names = board.among(lambda name: name in ("awe-literal", "awe", "vote", "vote-merged"))
    return wide(board, names, gain, lambda paper: f"{paper}, {_standing(paper)}") + _notes(board, names)


def resolutions(board: Board) -> str:
    """Points that AWE is ahead of AWE with one resolution only, and rounds it wins, draws and loses against it."""

    def ahead(place: Place, line: AcrossSeeds) -> str:
        found = differences(board.runs[place], "awe", line.scheme)
        if found is None:
            return f"awe {NOT_RUN}"
        by_seed = found[1].mean(axis=1).tolist()
        won, drawn, lost = standing(found[1].mean(axis=0))
        return f"{_spread(float(np.mean(by_seed)), deviation(by_seed))}, {won}/{drawn}/{lost}"

    names = board.among(lambda name: name.startswith(RESOLUTION))
    return wide(board, sorted(names, key=lambda name: int(name.removeprefix(RESOLUTION))), ahead)


def controls(board: Board) -> str:
    """Is a gain more than that of averaging? Over the plain learner on all data / on the rows the scheme trains on."""

    def both(_: Place, line: AcrossSeeds) -> str:
        return f"{_spread(line.gain, line.gain_sd)} / {_points(line.gain_same_fold)}"

    found = board.among()
    kept = (SAME_FOLD, "plain-ensemble", "awe", "awe-literal", "saol-fallback", "plain-ensemble-large", "spanwise")
    return wide(board, [name for name in kept if name in found], both)


TABLES: Mapping[str, Callable[[Board], str]] = {
    "table1": table1,
    "wins": wins,
    "voting": voting,
    "resolutions": resolutions,
    "controls": controls,
}
"""Experiment -> its table, in Markdown."""


def wide(
    board: Board,
    schemes: Sequence[str],
    ours: Callable[[Place, AcrossSeeds], str],
    theirs: Callable[[Printed], str] | None = None,
) -> str:
    """A line a place and a column a scheme, with what is told of each and, in brackets, of the paper's."""

    def entry(place: Place, scheme: str) -> str:
        line, paper = board.lines[place].get(scheme), printed(place.stream, place.learner, scheme)
        told = ours(place, line) if line else NOT_RUN
        if line and "of" in (seeds := board.seeds(place, scheme)):
            told += f" ({seeds} seeds)"
        return f"{told} (paper {theirs(paper)})" if theirs and paper else told

    lines = [
        (*_named(place), _percent(board.lines[place].get(PLAIN)), *(entry(place, scheme) for scheme in schemes))
        for place in board.schemes
    ]
    return markdown(("stream", "learner", "iterations", "plain %", *schemes), lines, words=2)


def markdown(header: Sequence[str], lines: Iterable[Sequence[str]], words: int = 1) -> str:
    """A Markdown table whose first columns are words and whose others are figures."""
    rule = ["---"] * words + ["---:"] * (len(header) - words)
    return "".join(f"| {' | '.join(line)} |\n" for line in (header, rule, *lines))


def _lines(board: Board, place: Place) -> list[tuple[str, ...]]:
    """A line a scheme, or one for all of them where none was run."""
    names = [name for name in board.schemes[place] if _usual(name)]
    if len(names) > 1 and board.lines[place].keys().isdisjoint(names):
        papers = {name: printed(place.stream, place.learner, name) for name in ("awe", "saol", "vote") if name in names}
        said = [(f"{name} {paper}", f"{name} {_standing(paper)}") for name, paper in papers.items() if paper]
        theirs = (", ".join(each) for each in zip(*said, strict=True)) if said else ("", "")
        begin = (*_named(place)[1:], f"all {len(names)}", board.seeds(place, names[0]))
        return [(*begin, "", "", NOT_RUN, "", "", "", *theirs)]
    return [_line(board, place, name) for name in names]


def _line(board: Board, place: Place, scheme: str) -> tuple[str, ...]:
    line, paper = board.lines[place].get(scheme), printed(place.stream, place.learner, scheme)
    begin = (*_named(place)[1:], scheme, board.seeds(place, scheme))
    end = (str(paper), _standing(paper)) if paper else ("", "")
    if line is None:
        return (*begin, "", "", NOT_RUN, "", "", "", *end)
    accuracy, gain = line.accuracy, line.gain
    plain = UNKNOWN if accuracy is None or gain is None else f"{100 * accuracy - gain:.2f}"
    same_fold, seconds = _points(line.gain_same_fold), f"{line.seconds:,.0f}"
    return (*begin, plain, _percent(line), _gain(line), same_fold, _standing(line), seconds, *end)


def _notes(board: Board, schemes: Sequence[str]) -> str:
    return misprints((place.stream, place.learner, name) for place in board.schemes for name in schemes)


def _usual(name: str) -> bool:
    """Has a place in the paper's tables, or might have."""
    return name not in (PLAIN, SAME_FOLD) and not name.startswith(RESOLUTION)


def _named(place: Place) -> tuple[str, str, str]:
    return place.stream, place.learner, f"{place.iterations:,}"


def _percent(line: AcrossSeeds | None) -> str:
    if line is None:
        return NOT_RUN
    return UNKNOWN if line.accuracy is None else f"{100 * line.accuracy:.2f}"


def _points(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:+.2f}"


def _spread(value: float | None, sd: float | None) -> str:
    return _points(value) if sd is None else f"{_points(value)} ± {sd:.2f}"


def _gain(line: AcrossSeeds) -> str:
    band = "" if line.gain_low is None else f" [{_points(line.gain_low)}, {_points(line.gain_high)}]"
    return _spread(line.gain, line.gain_sd) + band


def _standing(line: AcrossSeeds | Printed) -> str:
    return UNKNOWN if line.wins is None else f"{line.wins}/{line.draws}/{line.losses}"


def _different(values: Iterable[Any]) -> Any:
    """The one value that all are, or the list of those that differ."""
    found = {json.dumps(value, sort_keys=True): value for value in values}
    return next(iter(found.values()), None) if len(found) < 2 else [found[text] for text in sorted(found)]
