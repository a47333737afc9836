r"""The rates that the paper proves, measured on streams whose truth is known (its section 5 and appendices B and C.2).

It claims that on an interval I of one distribution, with m points held out a round, AWE's average regret is
$O(1/\sqrt{m |I|})$ where SAOL's is $O(1/\sqrt{|I|})$; and that over T rounds of M phases, the regret adds up to
$O(\sqrt{M T / m})$ beyond what the pool itself lacks. A rate is the slope of a line on logarithmic scales.
`regret_scripted` looks at selection alone, `regret_learned` at whole schemes, `regret_slopes` fits the lines.

Every regret is told twice. The first round after a shift is predicted before a single point of the new distribution
is there; the theorems say nothing of it, but it happens. So there is the regret of the rounds after it, and of all.
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

import numpy as np

from spanwise.bench.regret_learned import SCHEMES, regrets
from spanwise.bench.regret_scripted import GAPS, THRESHOLDS, Script, best_judged, printed, saol_shares
from spanwise.bench.regret_slopes import Cell, Row, markdown, slopes
from spanwise.core.spans import power_of_two
from spanwise.errors import MissingExtraError, SettingError
from spanwise.learner import Array

HELD = (4, 32, 256, 2_048, 16_384)
"""Points held out a round where nothing is learned; the last are there to reach where the printed test works."""

HELD_LEARNED = (5, 15, 45, 135)
HELD_DYNAMIC = 64
BATCH = 10
"""Points a round for each held out: SAOL is judged on the whole batch, of which AWE holds out a tenth."""

DRAWS, STREAMS = 100, 2
"""For each seed: repetitions of a script, and streams that are learned."""

IN_REACH = "scripted, shift, in reach"
SETTINGS = {
    "scripted, first": "two instances of fixed accuracy, the interval begins with the stream",
    "scripted, shift": "the same two; for as many rounds before the interval, each was as good as the other is in it",
    IN_REACH: "of those, intervals so long that the printed test can stop half-way through them",
    "learned, best instance": "class means learned; the interval begins with a shift; against the best instance alive",
    "learned, best classifier": "the same, against the best classifier there is",
    "dynamic, scripted": "two instances of fixed accuracy that change places with every phase; sum over all rounds",
    "dynamic, best instance": "class means learned; a shift with every phase; against the best instance alive",
    "dynamic, best classifier": "the same, against the best classifier there is",
}


def run(seeds: int = 3, rounds: int = 256, progress: Callable[[str], None] | None = None) -> list[Row]:
    """All of it: a row for each cell, then a row for each slope.

    Args:
        seeds: how many; each stands for `DRAWS` repetitions of a script and `STREAMS` streams.
        rounds: of the longest interval, a power of two; what is learned is shorter, as it takes longer.
        progress: called with a line whenever something is done.
    """
    if seeds < 1 or rounds < 128 or rounds != power_of_two(rounds):
        raise SettingError(
            f"seeds={seeds}, rounds={rounds}: to fit a slope, pass at least 1 seed, and a power of two from 128 on"
        )
    cells = []
    for cell in _all_cells(seeds, rounds):
        cells.append(cell)
        if progress is not None and cell.first:
            progress(f"{cell.setting}: {cell.scheme}, {cell.held} held out, {cell.rounds} rounds, {cell.phases} phases")
    in_reach = [cell._replace(setting=IN_REACH) for cell in cells if _in_reach(cell)]
    found = slopes([*cells, *in_reach])
    return [*(cell.row() for cell in cells), *sorted(found, key=lambda row: list(SETTINGS).index(row["setting"]))]


def _all_cells(seeds: int, rounds: int) -> Iterator[Cell]:
    lengths = [rounds >> k for k in range(4, -1, -1)]
    for held in HELD:
        for length in lengths:
            yield from scripted_interval(held, length, DRAWS * seeds)
    for phases in _powers(rounds // 8):
        yield from scripted_dynamic(phases, rounds, DRAWS * seeds)
    for held in HELD_LEARNED:
        yield from learned_intervals(held, [length // 4 for length in lengths], STREAMS * seeds)
    for phases in _powers(rounds // 16):
        yield from learned_dynamic(phases, rounds // 2, STREAMS * seeds)


def _powers(most: int) -> list[int]:
    return [1 << k for k in range(most.bit_length())]


def scripted_interval(held: int, length: int, draws: int) -> Iterator[Cell]:
    """Two instances on an interval that begins with the stream, and on one that follows a shift."""
    first, shift = Script(1, length, held, draws), Script(2, length, held, draws)
    batch = Script(1, length, BATCH * held, draws)
    right, right_shift, right_batch = first.right(), shift.right(), batch.right()
    for scheme, threshold in THRESHOLDS.items():
        chosen = best_judged(right, held, threshold)
        yield from _interval_cells("scripted, first", scheme, held, first.regret(chosen))
        chosen = best_judged(right_shift, held, threshold, since=length)
        yield from _interval_cells("scripted, shift", scheme, held, shift.regret(chosen)[..., length:])
    for scheme, mixed in (("saol", False), ("saol-mixed", True)):
        shares = saol_shares(right_batch, batch.points, mixed=mixed)
        yield from _interval_cells("scripted, first", scheme, held, batch.regret(shares))


def scripted_dynamic(phases: int, rounds: int, draws: int) -> Iterator[Cell]:
    """Two instances that change places; SAOL is left out, as its instances do not live so long."""
    script = Script(phases, rounds // phases, HELD_DYNAMIC, draws)
    right = script.right()
    for scheme, threshold in THRESHOLDS.items():
        by_round = script.regret(best_judged(right, HELD_DYNAMIC, threshold))
        yield from _dynamic_cells("dynamic, scripted", scheme, by_round, phases)


def learned_intervals(held: int, lengths: Sequence[int], streams: int) -> Iterator[Cell]:
    """Class means, after a shift that comes half as many rounds into the stream as the longest interval has."""
    past = max(lengths) // 2
    for scheme in SCHEMES:
        found = np.stack([regrets(scheme, held, past + max(lengths), [past + 1], seed) for seed in range(streams)])
        for against, name in _rivals(scheme):
            for length in lengths:
                by_round = found[None, :, against, past : past + length]
                yield from _interval_cells(f"learned, {name}", scheme, held, by_round)


def learned_dynamic(phases: int, rounds: int, streams: int) -> Iterator[Cell]:
    """Class means, with a shift at the beginning of every phase but the first."""
    shifts = range(1 + rounds // phases, rounds + 1, rounds // phases)
    for scheme in SCHEMES:
        found = np.stack([regrets(scheme, HELD_DYNAMIC, rounds, shifts, seed) for seed in range(streams)])
        for against, name in _rivals(scheme):
            yield from _dynamic_cells(f"dynamic, {name}", scheme, found[None, :, against], phases)


def _rivals(scheme: str) -> list[tuple[int, str]]:
    """What regret is against; the plain learner has only itself for an instance."""
    return [(1, "best classifier")] if scheme == "plain" else [(0, "best instance"), (1, "best classifier")]


def _interval_cells(setting: str, scheme: str, held: int, by_round: Array) -> Iterator[Cell]:
    """The mean over the rounds of an interval, from regrets (gaps, draws, rounds)."""
    length = by_round.shape[-1]
    yield Cell(setting, False, scheme, held, length, 1, by_round[..., 1:].mean(axis=-1))
    yield Cell(setting, True, scheme, held, length, 1, by_round.mean(axis=-1))


def _dynamic_cells(setting: str, scheme: str, by_round: Array, phases: int) -> Iterator[Cell]:
    """The sum over the rounds of a stream."""
    rounds = by_round.shape[-1]
    later = np.arange(rounds) % (rounds // phases) > 0
    yield Cell(setting, False, scheme, HELD_DYNAMIC, rounds, phases, by_round[..., later].sum(axis=-1))
    yield Cell(setting, True, scheme, HELD_DYNAMIC, rounds, phases, by_round.sum(axis=-1))


def _in_reach(cell: Cell) -> bool:
    """Whether the printed test can stop half-way at the widest gap: windows part by half of it at most."""
    half, horizon = cell.rounds // 2, power_of_two(2 * cell.rounds)
    return cell.setting == "scripted, shift" and 2 * printed(cell.held * half, horizon) < GAPS[0]


def main(seeds: int, out: Path) -> None:
    """Write regret.json and regret.md into `out`, and regret.png where matplotlib is installed."""
    rows = run(seeds, progress=_say)
    out.mkdir(parents=True, exist_ok=True)
    made = {"seeds": seeds, "draws": DRAWS * seeds, "streams": STREAMS * seeds, "settings": SETTINGS, "rows": rows}
    (out / "regret.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    (out / "regret.md").write_text(markdown(rows), encoding="utf-8")
    try:
        import_module("spanwise.bench.regret_picture").draw(rows, out / "regret.png")
    except MissingExtraError as error:
        _say(f"no picture: {error}")
    sys.stdout.write(markdown(rows))


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
