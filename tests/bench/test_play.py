"""Plays: which cells come of one, several at a time, and what is told meanwhile."""

import io
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from spanwise.bench import play as playing
from spanwise.bench.estimate import duration, forecast, made_on
from spanwise.bench.grid import Play
from spanwise.bench.play import device_name, play, ready
from spanwise.bench.settings import SETTINGS, Places
from spanwise.bench.store import Cell, Key
from spanwise.errors import MissingExtraError, SettingError
from spanwise.evaluate import Row
from spanwise.streams import Abrupt

HERE = Places(Path("data"), device="cpu")
TASK = Play("digits", "ft", 0, 2, ("awe", "saol"))


@pytest.fixture
def small(monkeypatch):
    """A stream of 3 rounds that needs no file, by the name of digits."""
    setting = replace(SETTINGS["digits"], stream=lambda folder: Abrupt(rounds=3, size=40))
    monkeypatch.setitem(SETTINGS, "digits", setting)


def same(cells):
    """All but seconds."""
    return {cell.key: [replace(row, seconds=0.0) for row in cell.rows] for cell in cells}


@pytest.mark.usefixtures("small")
def test_a_play_makes_a_cell_a_scheme_and_the_plain_learners_beside_them():
    cells = play(TASK, HERE)
    assert [cell.key for cell in cells] == [TASK.key(name) for name in ("plain", "plain-same-fold", "awe", "saol")], (
        "baselines first"
    )
    for cell in cells:
        assert [(row.round, row.scheme, row.seed) for row in cell.rows] == [(t, cell.key.scheme, 0) for t in (1, 2, 3)]
        assert cell.made["precision"] == "float32"
        assert {"spanwise", "python", "torch", "numpy"} <= cell.made["versions"].keys()
        assert "encoder" not in cell.made


@pytest.mark.usefixtures("small")
def test_a_play_repeats_itself_and_another_seed_is_another_play():
    first, again, other = (same(play(replace(TASK, seed=seed), HERE)) for seed in (0, 0, 1))
    assert first == again
    assert list(first.values()) != list(other.values())


@pytest.mark.usefixtures("small")
def test_no_plain_learner_on_the_same_fold_where_nobody_holds_back():
    assert [cell.key.scheme for cell in play(replace(TASK, schemes=("saol",)), HERE)] == ["plain", "saol"]


WORKERS = """
import sys
from dataclasses import replace
from pathlib import Path
from spanwise.bench.grid import Play
from spanwise.bench.play import play_all
from spanwise.bench.settings import SETTINGS, Places
from spanwise.streams import Abrupt
SETTINGS["digits"] = replace(SETTINGS["digits"], stream=lambda folder: Abrupt(rounds=3, size=40))
if __name__ == "__main__":
    tasks = [Play("huffpost", "ft", 0, 1, ("saol",)), Play("digits", "ft", 0, 2, ("awe", "saol"))]
    try:
        for _, cells in play_all(tasks, Places(Path("nowhere"), device="cpu"), 2):
            sys.stdout.writelines(cell.line() for cell in cells)
    except ValueError as error:
        sys.exit(str(error))
"""
"""Two plays at a time, of which one fails."""


@pytest.mark.usefixtures("small")
def test_a_worker_makes_the_same_cells_and_another_that_fails_beside_it_loses_nothing(tmp_path):
    script = tmp_path / "workers.py"
    script.write_text(WORKERS)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=False)
    assert same(map(Cell.of, done.stdout.splitlines())) == same(play(TASK, HERE))
    assert done.stderr.startswith("nowhere holds none of huffpost.pkl")


def test_what_is_missing_is_told_before_anything_runs():
    tasks = [TASK, Play("huffpost", "ft", 0, 1, ("awe",))]
    with pytest.raises(SettingError, match="--encoder"):
        ready(tasks, HERE)
    with pytest.raises(SettingError, match="no such device"):
        ready([TASK], replace(HERE, device="abacus"))
    with pytest.raises((SettingError, MissingExtraError), match=r"config\.json|transformers"):
        ready(tasks, replace(HERE, encoder=Path("nowhere")))
    ready([TASK], HERE)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.usefixtures("small")
def test_progress_is_told_where_somebody_can_see_it(monkeypatch):
    monkeypatch.setattr(playing, "PAUSE", 0.0)
    for screen, lines in (
        (Terminal(), [f"  digits, ft, seed 0, 2 iterations: round {t} of 3" for t in (1, 2, 3)]),
        (io.StringIO(), []),
    ):
        monkeypatch.setattr(sys, "stderr", screen)
        play(TASK, HERE)
        assert screen.getvalue().splitlines() == lines


def test_lines_of_progress_come_with_a_pause(monkeypatch):
    clock = iter([0.0, 1.0, 2.0, 2.0, 2.5, 4.1, 4.1])  # asked at the start, then once a round, twice where it tells
    screen = io.StringIO()
    monkeypatch.setattr(playing, "monotonic", lambda: next(clock))
    monkeypatch.setattr(sys, "stderr", screen)
    tell = playing.shown(TASK, 4)
    for t in (1, 2, 3, 4):
        tell(t)
    assert [line.rsplit(": ")[1] for line in screen.getvalue().splitlines()] == ["round 2 of 4", "round 4 of 4"]


def cell(scheme, seconds, learner="ft", iterations=10, stream="digits"):
    return Cell(Key(stream, learner, scheme, 0, iterations), (Row(1, scheme, seconds=seconds),))


DONE = [cell("plain", 1.0), cell("awe", 5.0), cell("awe", 7.0, learner="si"), cell("saol", 20.0, iterations=20)]


@pytest.mark.parametrize(
    ("task", "seconds"),
    [
        (Play("digits", "ft", 1, 10, ("awe",)), 1 + 5),
        (Play("digits", "ft", 1, 30, ("awe",)), 3 * (1 + 5)),
        (Play("digits", "ewc", 1, 10, ("awe",)), 1 + (5 + 7) / 2),
        (Play("digits", "ft", 1, 10, ("saol",)), 1 + 10),
        (Play("digits", "ft", 1, 10, ("vote", "awe")), 1 + 10 + 5),
        (Play("fmow", "ft", 1, 10, ("awe",)), None),
    ],
)
def test_a_play_will_take_what_the_nearest_ones_took(task, seconds):
    assert duration([task], DONE) == seconds
    assert duration([task], []) is None


def test_a_forecast_says_what_it_does_not_know():
    known, unknown = Play("digits", "ft", 1, 10, ("awe",)), Play("fmow", "ft", 1, 10, ("awe",))
    assert forecast([], DONE) == "nothing is left to run"
    assert forecast([known, known], DONE) == "about 12 s"
    assert forecast([known, unknown], DONE) == (
        "about 6 s, without 1 plays of streams that were not run on this device yet"
    )
    assert forecast([unknown], DONE).startswith("how long is not known")


@pytest.mark.parametrize(("plays", "workers", "seconds"), [(4, 1, 24), (4, 2, 12), (4, 3, 8), (1, 2, 6), (2, 5, 6)])
def test_plays_at_a_time_share_the_seconds_but_none_is_shorter_than_alone(plays, workers, seconds):
    assert forecast(plays * [Play("digits", "ft", 1, 10, ("awe",))], DONE, workers) == f"about {seconds} s"


def test_only_cells_of_the_same_kind_of_device_tell_how_long():
    gpu, cpu = (replace(DONE[0], made={"machine": {"device": device}}) for device in ("NVIDIA H200", "x86_64"))
    assert made_on("x86_64", [gpu, cpu, DONE[0]]) == [cpu]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("device", ["cpu", None])
def test_a_device_is_named_as_in_its_cells(device):
    places = replace(HERE, device=device)
    assert {cell.made["machine"]["device"] for cell in play(TASK, places)} == {device_name(places)}


def test_a_gpu_is_not_taken_for_the_processor(monkeypatch):
    cpu, gpu = HERE, replace(HERE, device="cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert device_name(gpu) != device_name(cpu) == device_name(replace(HERE, device=None))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA H200")
    assert device_name(gpu) == device_name(replace(HERE, device=None)) == "NVIDIA H200" != device_name(cpu)
