"""The command: killed at any moment it goes on, runs what is missing and no more, says what is wrong in a line."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner

from spanwise.bench import __main__ as command
from spanwise.bench import play as playing
from spanwise.bench.grid import BASELINES
from spanwise.bench.settings import SETTINGS, Places
from spanwise.bench.store import Store
from spanwise.bench.tables import RESOLUTION
from spanwise.cli.main import cli
from spanwise.errors import DataError, SettingError, UnknownNameError
from spanwise.streams import Abrupt

SRC = Path(__file__).parents[2] / "src"
DOCS = SRC.parent / "docs" / "bench.md"
HERE = Places(Path("data"), device="cpu")
ROUNDS, SIZE = 5, 40
CELLS = len(command.EXPERIMENTS["table1"]) + len(BASELINES)

SMALL = f"""
from dataclasses import replace
from spanwise.bench import __main__ as command
from spanwise.bench.settings import SETTINGS
from spanwise.streams import Abrupt
SETTINGS["digits"] = replace(SETTINGS["digits"], stream=lambda folder: Abrupt(rounds={ROUNDS}, size={SIZE}))
if __name__ == "__main__":
    command.run()
"""
"""The command, with a stream by the name of digits that is small and needs no scikit-learn."""


@pytest.fixture
def small(monkeypatch):
    """The same in this process."""
    setting = replace(SETTINGS["digits"], stream=lambda folder: Abrupt(rounds=ROUNDS, size=SIZE))
    monkeypatch.setitem(SETTINGS, "digits", setting)


@pytest.fixture
def played(monkeypatch):
    """The plays that were played."""
    tasks = []

    def counting(task, places):
        tasks.append(task)
        return original(task, places)

    original = playing.play
    monkeypatch.setattr(playing, "play", counting)
    return tasks


def bench(experiment, out, *more, seeds=1):
    options = ["--streams", "digits", "--learners", "ft", "--seeds", str(seeds), "--iterations", "2", "--device", "cpu"]
    return [experiment, *options, "--out", str(out), *more]


def tables(out, experiment="table1"):
    """What a run has left, but for seconds."""
    document = json.loads((out / f"{experiment}.json").read_text())
    rows = [{name: value for name, value in row.items() if name != "seconds"} for row in document["rows"]]
    lines = (out / f"{experiment}.md").read_text().splitlines()
    at = next(line for line in lines if line.startswith("| learner")).split("|").index(" seconds ")
    return rows, [[entry for i, entry in enumerate(line.split("|")) if i != at] for line in lines]


KILLED = """
import os, random, signal, sys
from time import sleep
for lines in (1, 2, 2, None):  # to wait for: how much there is to do, then a play that is over; None for the end
    read, write = os.pipe()
    child = os.fork()  # the command as another process, without the seconds that imports take
    if not child:
        os.dup2(write, 2)
        command.run()
        os._exit(0)
    os.close(write)
    with open(read) as told:
        for _ in range(lines or 0):
            told.readline()
        if lines:
            sleep(random.uniform(0, 0.3))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    print("killed" if os.WIFSIGNALED(status) else "ended", file=sys.stderr)
    with open(sys.argv[-1] + "/done", "a") as file:
        print(len(Store(sys.argv[-1] + "/cells.jsonl").cells), file=file)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_killed_at_any_moment_and_started_again_it_gives_the_same_tables(tmp_path, small):
    """SIGKILL at random moments before and after a play is over; what was done is there, and the rest is run."""
    script = tmp_path / "killed.py"
    script.write_text(f"from spanwise.bench.store import Store{SMALL.partition('if __name__')[0]}{KILLED}")
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    killed.mkdir()
    command.main(bench("table1", whole, seeds=3))
    shown = run_script(script, bench("table1", killed, seeds=3))
    assert shown.stderr.split()[0] == "killed", shown.stderr
    assert shown.stderr.split()[-1] == "ended", shown.stderr
    done = [int(line) for line in (killed / "done").read_text().split()]
    assert CELLS <= done[1] <= done[2] <= done[3] == 3 * CELLS, "what was over when it was killed is there"
    assert tables(killed) == tables(whole)


def run_script(script, arguments):
    return subprocess.run(
        [sys.executable, *([script] if isinstance(script, Path) else script), *arguments],
        env={**os.environ, "PYTHONPATH": str(SRC)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_torn_last_line_is_run_again_and_the_tables_are_the_same(tmp_path, small, played):
    command.main(bench("table1", tmp_path))
    before, cells = tables(tmp_path), tmp_path / "cells.jsonl"
    data = cells.read_bytes()
    cells.write_bytes(data[:-25])
    command.main(bench("table1", tmp_path))
    assert [task.schemes[-1:] for task in played] == [("spanwise",), ("spanwise",)]
    assert len(played[1].schemes) == 1
    assert tables(tmp_path) == before
    assert len(cells.read_bytes().splitlines()) == CELLS


def test_what_is_done_is_not_run_again_and_a_scheme_that_is_added_runs_alone(tmp_path, capsys, small, played):
    command.main(bench("voting", tmp_path))
    assert [task.schemes for task in played] == [("awe-literal", "vote", "vote-merged")]
    command.main(bench("voting", tmp_path))
    assert len(played) == 1
    assert "3 cells in 1 plays, 3 of them done; nothing is left to run" in capsys.readouterr().err
    before = Store(tmp_path / "cells.jsonl").cells
    command.main(bench("controls", tmp_path, seeds=2))
    assert [task.schemes for task in played[1:]] == [
        tuple(scheme for scheme in command.EXPERIMENTS["controls"] if scheme != "awe-literal"),
        command.EXPERIMENTS["controls"],
    ]
    after = Store(tmp_path / "cells.jsonl").cells
    assert {key: after[key] for key in before} == before, "the plain learners as they were, too"
    assert "| vote-merged |" in (tmp_path / "voting.md").read_text()


def test_other_iterations_are_other_cells(tmp_path, small, played):
    for iterations in ("1", "2"):
        command.main([*bench("voting", tmp_path), "--iterations", iterations])
    assert [task.iterations for task in played] == [1, 2]
    assert len(Store(tmp_path / "cells.jsonl").cells) == 10


def test_a_dry_run_runs_nothing_and_says_how_long(tmp_path, capsys, small, played):
    out = tmp_path / "out"
    command.main(bench("voting", out, "--dry-run", seeds=2))
    told = capsys.readouterr()
    assert told.err.splitlines() == [
        "6 cells in 2 plays, 0 of them done; how long is not known, as nothing like it was run on this device yet",
        *(
            f"  digits, ft, seed {seed}, 2 iterations: awe-literal, vote, vote-merged; "
            "how long is not known, as nothing like it was run on this device yet"
            for seed in (0, 1)
        ),
    ]
    assert (told.out, played, out.exists()) == ("", [], False)
    command.main(bench("voting", out))
    files = {path: path.read_bytes() for path in out.iterdir()}
    capsys.readouterr()
    command.main(bench("voting", out, "--dry-run", seeds=2))
    first, second = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"6 cells in 2 plays, 3 of them done; about \d+ s", first)
    assert re.fullmatch(r"  digits, ft, seed 1, .*; about \d+ s", second)
    assert len(played) == 1
    assert files == {path: path.read_bytes() for path in out.iterdir()}


def test_a_dry_run_asks_cells_of_the_same_device_and_counts_plays_at_a_time(tmp_path, capsys, small):
    command.main(bench("voting", tmp_path))
    cells = tmp_path / "cells.jsonl"
    lines = [json.loads(line) for line in cells.read_text().splitlines()]
    for line in lines:
        for row in line["rows"]:
            row["seconds"] = 60 / len(lines) / len(line["rows"])
    cells.write_text("".join(json.dumps(line) + "\n" for line in lines))
    capsys.readouterr()
    command.main(bench("voting", tmp_path, "--dry-run", "--workers", "2", seeds=5))
    assert "about 2.0 min" in capsys.readouterr().err.splitlines()[0]
    cells.write_text(cells.read_text().replace(playing.device_name(HERE), "NVIDIA H200"))
    command.main(bench("voting", tmp_path, "--dry-run", seeds=2))
    for line in capsys.readouterr().err.splitlines():
        assert line.endswith("; how long is not known, as nothing like it was run on this device yet")


def test_a_dry_run_of_regret_runs_nothing(tmp_path, capsys):
    command.main(["regret", "--dry-run", "--out", str(tmp_path / "out")])
    assert "3 seeds; about 2.4 min" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("experiment", ["wins", "resolutions", "controls"])
def test_an_experiment_prints_its_table_and_writes_it_with_its_rows(tmp_path, capsys, small, experiment):
    command.main(bench(experiment, tmp_path))
    table = (tmp_path / f"{experiment}.md").read_text()
    assert capsys.readouterr().out == table + "\n"
    assert "| digits | ft | 2 |" in table
    assert "not run" not in table
    assert {row["stream"] for row in json.loads((tmp_path / f"{experiment}.json").read_text())["rows"]} == {"digits"}


def test_tables_of_what_is_done_need_no_files(tmp_path, capsys):
    places = ["--data", str(tmp_path), "--out", str(tmp_path), "--tables-only"]
    command.main(["table1", "--streams", "fmow", "--learners", "si", *places])
    assert "| all 9 | 0 of 3 |  |  | not run |" in capsys.readouterr().out


def test_figures_are_drawn_and_ranks_told(tmp_path, capsys, small):
    pytest.importorskip("matplotlib")
    command.main(bench("figures", tmp_path))
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {"digits.png"}, "one stream has no ranks"
    assert (tmp_path / "ranks.md").read_text() in capsys.readouterr().out


def test_cells_made_otherwise_are_kept_and_told(tmp_path, capsys, small):
    command.main(bench("voting", tmp_path))
    capsys.readouterr()
    command.main(bench("voting", tmp_path, "--precision", "float64"))
    assert "note: cells that are done were made with precision float32" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["tabel1"], UnknownNameError, "no experiment 'tabel1'; did you mean table1"),
        (["table1", "--streams", "digit"], UnknownNameError, "no stream 'digit'; did you mean digits"),
        (["table1", "--learners", "cora"], UnknownNameError, "no learner 'cora'; did you mean coral"),
        (["table1", "--streams", "huffpost"], DataError, "huffpost.parquet, from which .* Where to get them: "),
        (["table1", "--device", "abacus"], SettingError, "no such device"),
    ],
)
def test_what_is_wrong_is_told_before_anything_runs(tmp_path, small, played, arguments, error, message):
    with pytest.raises(error, match=message):
        command.main([*arguments, "--data", str(tmp_path), "--out", str(tmp_path / "out")])
    assert not played
    assert not (tmp_path / "out").exists()


def test_a_stream_of_texts_without_an_encoder_is_refused_before_any_other_is_played(tmp_path, small, played):
    headlines(tmp_path)
    arguments = ["voting", "--streams", "digits", "huffpost", "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    with pytest.raises(SettingError, match="--encoder"):
        command.main(arguments)
    assert not played
    command.main([*arguments, "--dry-run"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seeds", "0"], "argument --seeds: '0' is no whole number of at least 1"),
        (["--iterations", "-3"], "argument --iterations: '-3' is no whole number of at least 1"),
        (["--workers", "two"], "argument --workers: 'two' is no whole number of at least 1"),
        (["--precision", "int4"], "argument --precision: invalid choice: 'int4'"),
        (["--colour"], "unrecognized arguments: --colour"),
    ],
)
def test_an_option_that_makes_no_sense_is_one_line(capsys, options, message):
    with pytest.raises(SystemExit) as stopped:
        command.main(["table1", *options])
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"Error: {message}")
    assert line.endswith("; see spanwise bench --help")


def test_help_names_all_that_can_be_typed(capsys):
    with pytest.raises(SystemExit):
        command.main(["--help"])
    shown = capsys.readouterr().out
    for name in (*command.EXPERIMENTS, "regret", *SETTINGS, *command.NAMED):
        assert name in shown
    assert "Example:  spanwise bench" in shown


def test_the_page_names_all_experiments_streams_learners_and_schemes():
    page = DOCS.read_text(encoding="utf-8")
    schemes = {scheme for names in command.EXPERIMENTS.values() for scheme in names if scheme != RESOLUTION}
    for name in (*command.EXPERIMENTS, "regret", *SETTINGS, *command.NAMED, *schemes, *BASELINES, f"{RESOLUTION}2"):
        assert f"`{name}`" in page, name
    for option in ("--workers", "--precision", "--dry-run", "--encoder", "--iterations", "--out", "--data"):
        assert option in page


def headlines(folder):
    """A small file in the form of HuffPost's."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    years = [year for year in range(2012, 2019) for _ in range(20)]
    names = ["SPORTS", "TRAVEL"] * (len(years) // 2)
    columns = {"headline": [f"{name} news {i}" for i, name in enumerate(names)], "category": names, "year": years}
    parquet.write_table(pyarrow.table(columns), folder / "huffpost.parquet")


def test_numpy_torch_and_pyarrow_are_enough(tmp_path):
    """What plays on HuffPost need is imported, but for transformers; a synthetic stream is played to its table."""
    headlines(tmp_path)
    script = tmp_path / "bare.py"
    blocked = (
        "click rich scipy sklearn pandas matplotlib plotly transformers river skops safetensors h5py PIL torchvision"
    )
    script.write_text(
        dedent(
            f"""
            import sys

            sys.modules.update(dict.fromkeys({blocked.split()!r}))  # as if they were not installed
            import spanwise.bench.__main__
            import spanwise.bench.write
            from spanwise.bench.grid import make_schemes, schemes_of
            from spanwise.errors import MissingExtraError
            from spanwise.bench.settings import SETTINGS
            stream = SETTINGS["huffpost"].stream({str(tmp_path)!r})
            assert [len(batch.y) for batch in stream] == [20] * 7
            make_schemes(schemes_of("table1", 7), stream)
            try:
                import spanwise.deep.networks.encoder
            except MissingExtraError as error:
                assert "transformers" in str(error), error
            else:
                raise AssertionError("transformers was not blocked")
            """
        )
        + SMALL
    )
    shown = run_script(script, bench("voting", tmp_path / "out"))
    assert shown.returncode == 0, shown.stderr
    assert "| digits | ft | 2 |" in shown.stdout


STOPPED = "stopped; cells that are done are kept, and the same command goes on from there"


def stopped(*_, **__):
    """Somebody presses Ctrl-C."""
    raise KeyboardInterrupt


@pytest.mark.parametrize("where", ["spanwise.bench.play.play", "spanwise.cli.bench.import_module"])
def test_stopped_by_hand_it_says_what_is_kept_and_how_to_go_on(tmp_path, monkeypatch, small, where):
    """While it plays, and in the seconds that torch takes to load."""
    monkeypatch.setattr(where, stopped)
    shown = CliRunner().invoke(cli, ["bench", *bench("voting", tmp_path)])
    assert shown.exit_code == 130
    assert shown.stderr.splitlines()[-1] == STOPPED


def test_as_a_module_it_says_the_same(tmp_path, monkeypatch, capsys, small):
    monkeypatch.setattr(playing, "play", stopped)
    monkeypatch.setattr(sys, "argv", ["spanwise.bench", *bench("voting", tmp_path)])
    with pytest.raises(SystemExit) as ended:
        command.run()
    assert ended.value.code == 130
    assert capsys.readouterr().err.splitlines()[-1] == STOPPED


def test_as_a_module_an_error_of_ours_is_one_line(tmp_path):
    shown = run_script(["-m", "spanwise.bench"], ["table1", "--streams", "fmow", "--data", str(tmp_path)])
    assert shown.returncode == 1
    (line,) = shown.stderr.splitlines()
    assert line.startswith(f"Error: DataError: {tmp_path} holds none of fmow.pkl")
