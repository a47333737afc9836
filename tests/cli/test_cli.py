"""The command: every subcommand has help, an example and a place in the docs; the demo does what it says."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from spanwise import MRI, catalog
from spanwise.cli.main import cli
from spanwise.evaluate.record import read

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"


def run(*arguments):
    return CliRunner().invoke(cli, list(arguments), catch_exceptions=False)


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_command_has_help_an_example_and_a_place_in_the_docs(name):
    shown = run(name, "--help")
    assert shown.exit_code == 0
    assert f"Example:  spanwise {name}" in shown.output
    assert f"spanwise {name}" in DOCS.read_text()
    for option in (one for one in cli.commands[name].params if isinstance(one, click.Option)):
        assert option.help, f"{option.name} has no help"


def test_the_group_shows_its_version_and_help():
    assert "version" in run("--version").output
    assert "Example:" in run("--help").output


def test_spans_draws_a_line_a_start_and_a_column_a_round():
    lines = run("spans", "--rounds", "32").output.splitlines()
    bars = {int(line[5:9]): line[11:] for line in lines if line.startswith("start")}
    assert set(bars) == set(range(1, 33))
    for t in range(1, 33):
        assert [start for start, bar in bars.items() if bar[t - 1] == "█"] == MRI().starts(t)
    assert lines[-1] == "most alive: 10, on average 7.6"


@pytest.mark.parametrize("cover", catalog.COVERS)
def test_spans_draws_every_cover(cover):
    assert "most alive" in run("spans", "--rounds", "16", "--cover", cover).output


def test_errors_of_ours_are_one_line_without_a_traceback():
    failed = CliRunner().invoke(cli, ["spans", "--cover", "one-resolution", "--length", "3"])
    assert failed.exit_code == 1
    assert failed.output.startswith("Error: SettingError: length=3")


def test_the_demo_prints_a_table_and_writes_a_picture_and_every_round(tmp_path):
    pytest.importorskip("sklearn")
    shown = run("demo", "--rounds", "12", "--learner", "naive-bayes", "--out", str(tmp_path))
    assert shown.exit_code == 0
    rows = json.loads((tmp_path / "table.json").read_text())["rows"]
    names = [row["scheme"] for row in rows]
    assert {"plain", "plain-same-fold", "plain-ensemble", "awe", "vote", "saol", "cbce"} <= set(names)
    for name in names:
        assert name in shown.output
        assert name in (tmp_path / "table.md").read_text()
    assert "rounds 1 to 12" in shown.output
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert len(read(tmp_path / "rounds.jsonl")) == 12 * len(names)


def test_the_demo_repeats_itself(tmp_path):
    pytest.importorskip("sklearn")
    tables = []
    for _ in range(2):
        run("demo", "--rounds", "6", "--learner", "naive-bayes", "--out", str(tmp_path))
        rows = json.loads((tmp_path / "table.json").read_text())["rows"]
        tables.append([{k: v for k, v in row.items() if k != "seconds"} for row in rows])
    assert tables[0] == tables[1]
