"""`spanwise run` as its users meet it: what it prints, what it writes, what it refuses, and how it goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import date, timedelta
from html import unescape
from io import StringIO

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

pytest.importorskip("sklearn")
pytest.importorskip("plotly")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from spanwise import catalog  # noqa: E402
from spanwise.cli.main import cli  # noqa: E402
from spanwise.cli.screen import print_table  # noqa: E402
from spanwise.evaluate import read  # noqa: E402
from spanwise.evaluate.record import Record  # noqa: E402
from spanwise.evaluate.seeds import across, by_seed  # noqa: E402
from spanwise.report.table import HEADER_ACROSS, cells_across  # noqa: E402

FOLDER = ["config.json", "report.html", "rounds.jsonl", "table.md", "table.parquet"]
TOPICS = {"sport": "goal match team", "politics": "vote party law", "money": "stock bank oil"}
ROWS = 120
COLUMNS = ("--label", "topic", "--time", "date")
TEXT = (*COLUMNS, "--text", "headline")
FAST = ("--scheme", "awe")


def news(months=4):
    """Columns of a file: a topic, and a headline, a number and a shop that go with it."""
    rng = np.random.default_rng(0)
    days = np.sort(rng.integers(0, 30 * months - 1, ROWS))
    days[[0, -1]] = 0, 30 * months - 1
    topics = [list(TOPICS)[i] for i in rng.integers(0, 3, ROWS)]
    return {
        "date": [str(date(2020, 1, 1) + timedelta(days=int(day))) for day in days],
        "topic": topics,
        "headline": [" ".join(rng.permutation([*TOPICS[topic].split(), "today"])[:3]) for topic in topics],
        "size": [float(len(topic) + rng.normal()) for topic in topics],
        "shop": [topic[0] if rng.random() < 0.8 else None for topic in topics],
    }


def write(path, **changed):
    pq.write_table(pa.table({**news(), **changed}), path)
    return str(path)


def run(*arguments):
    return CliRunner().invoke(cli, ["run", *map(str, arguments)])


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """What was printed, and the folder."""
    folder = tmp_path_factory.mktemp("run")
    shown = run(write(folder / "news.parquet"), *TEXT, "--seeds", 2, "--out", folder / "out")
    assert shown.exit_code == 0, shown.output
    return shown, folder / "out"


def test_the_folder_tells_what_was_run_with_what(played):
    _, out = played
    assert sorted(path.name for path in out.iterdir()) == FOLDER
    config = json.loads((out / "config.json").read_text())
    assert config["settings"]["label"] == "topic"
    assert config["settings"]["schemes"] == ["plain-ensemble", "spanwise", "awe-prequential", "awe", "vote", "saol"]
    assert config["settings"]["seeds"] == 2
    assert {"spanwise", "python", "numpy", "scikit-learn", "pyarrow", "plotly"} <= set(config["versions"])
    assert config["machine"]["cpus"] == os.cpu_count()
    assert len(config["digests"]["file"]) == 32


def test_every_round_of_every_scheme_and_seed_is_on_record(played):
    rows = read(played[1] / "rounds.jsonl")
    schemes = ["plain", "plain-same-fold", "plain-ensemble", "spanwise", "awe-prequential", "awe", "vote", "saol"]
    expected = [(seed, t, scheme) for seed in range(2) for t in range(1, 5) for scheme in schemes]
    assert [(row.seed, row.round, row.scheme) for row in rows] == expected
    assert sum(row.n for row in rows if (row.seed, row.scheme) == (0, "awe")) == ROWS


def test_the_tables_hold_the_figures_that_are_printed(played):
    shown, out = played
    lines = across(by_seed(read(out / "rounds.jsonl")))
    in_parquet = pq.read_table(out / "table.parquet").to_pylist()
    assert [(row["scheme"], row["accuracy"], row["gain"]) for row in in_parquet] == [
        (line.scheme, line.accuracy, line.gain) for line in lines
    ]
    in_markdown = [line.strip("| ").split(" | ") for line in (out / "table.md").read_text().splitlines()[2:]]
    assert [tuple(cell.strip() for cell in row) for row in in_markdown] == cells_across(lines)
    for row in cells_across(lines):
        assert "".join(row).replace(" ", "") in shown.output.replace(" ", "")


def test_the_report_is_there_and_named_and_opens_with_the_verdict_that_is_printed(played):
    shown, out = played
    assert f"The report is {out / 'report.html'}" in shown.output
    headline = next(line for line in shown.output.splitlines() if "spanwise" in line and "would" in line)
    assert headline in unescape((out / "report.html").read_text())


def test_a_run_that_is_done_is_shown_again_and_not_played_again(played, tmp_path):
    shown, out = played
    before = (out / "rounds.jsonl").read_bytes()
    again = run(out.parent / "news.parquet", *TEXT, "--seeds", 2, "--out", out)
    assert again.stdout == shown.stdout
    assert again.stderr == f"{out} holds this run, and all of its rounds: it is shown again.\n"
    assert (out / "rounds.jsonl").read_bytes() == before


def test_stopped_by_hand_it_says_how_to_go_on_and_then_from_where(tmp_path, monkeypatch):
    options = (write(tmp_path / "news.parquet"), *TEXT, *FAST, "--out", tmp_path / "out")
    with monkeypatch.context() as patched:
        patched.setattr("spanwise.evaluate.record.Record.write", stopping(Record.write, at=3))
        shown = run(*options)
    assert shown.exit_code == 130
    assert f"What was played is in {tmp_path / 'out'}; the same command goes on from there." in shown.stderr
    again = run(*options)
    assert again.exit_code == 0
    assert f"{tmp_path / 'out'} holds this run, with 2 of 4 rounds: it goes on from" in again.stderr


def stopping(write, at):
    """The same, but for somebody who presses Ctrl-C in round `at`."""

    def stopped(self, row):
        if row.round == at:
            raise KeyboardInterrupt
        write(self, row)

    return stopped


def test_json_is_one_line_a_round_and_scheme_and_nothing_else(tmp_path):
    shown = run(write(tmp_path / "news.parquet"), *TEXT, *FAST, "--json", "--out", tmp_path / "out")
    assert shown.stdout == (tmp_path / "out" / "rounds.jsonl").read_text()
    lines = [json.loads(line, parse_constant=pytest.fail) for line in shown.stdout.splitlines()]
    assert [(line["round"], line["scheme"]) for line in lines] == [
        (t, scheme) for t in range(1, 5) for scheme in ("plain", "plain-same-fold", "awe")
    ]
    assert "The report is" in shown.stderr


def test_every_scheme_can_be_named_and_plain_too(tmp_path):
    named = [option for name in catalog.SCHEMES for option in ("--scheme", name)]
    shown = run(write(tmp_path / "news.parquet"), *TEXT, "--scheme", "plain", *named, "--out", tmp_path / "out")
    assert shown.exit_code == 0, shown.output
    assert {row.scheme for row in read(tmp_path / "out" / "rounds.jsonl")} == {*catalog.SCHEMES, "plain-same-fold"}


KILLED = """
import sys
from spanwise.evaluate.checkpoint import Checkpoint
Checkpoint.__init__.__defaults__ = (0.0,)  # seconds between two
from spanwise.cli.main import cli
cli(sys.argv[1:])
"""


def test_a_run_that_was_killed_goes_on_and_ends_as_if_nothing_had_been(tmp_path):
    days = [str(date(2020, 1, 1) + timedelta(days=i // 3)) for i in range(ROWS)]
    options = (write(tmp_path / "news.parquet", date=days), *COLUMNS, "--every", "day", *FAST)
    out, record = tmp_path / "out", tmp_path / "out" / "rounds.jsonl"
    process = subprocess.Popen([sys.executable, "-c", KILLED, "run", *options, "--out", str(out)])
    give_up = time.monotonic() + 60
    while not (record.exists() and len(read(record)) > 3 * 10 and list(out.glob("checkpoint-0/round-*/whole"))):
        assert process.poll() is None, "it was over before it could be killed"
        assert time.monotonic() < give_up
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    left = record.read_text().splitlines()
    safe = max(int(path.parent.name.removeprefix("round-")) for path in out.glob("checkpoint-0/round-*/whole"))
    assert 10 <= safe < 40
    assert not (out / "report.html").exists()

    assert run(*options, "--out", out).exit_code == 0
    assert record.read_text().splitlines()[: 3 * safe] == left[: 3 * safe]
    assert sorted(path.name for path in out.iterdir()) == FOLDER
    assert run(*options, "--out", tmp_path / "whole").exit_code == 0
    assert without_seconds(record) == without_seconds(tmp_path / "whole" / "rounds.jsonl")


def without_seconds(record):
    return [{**json.loads(line), "seconds": 0} for line in record.read_text().splitlines()]


def refused(shown, out=None):
    """The one line that it says, after which nothing is left behind."""
    assert shown.exit_code == 1, shown.output
    assert isinstance(shown.exception, SystemExit)
    assert shown.stdout == ""
    assert shown.stderr.count("\n") == 1, shown.stderr
    assert out is None or not out.exists()
    return shown.stderr


def test_other_settings_in_the_same_folder_are_refused(played):
    _, out = played
    before = {path: path.read_bytes() for path in out.iterdir()}
    said = refused(run(out.parent / "news.parquet", *TEXT, "--seeds", 3, "--every", 20, "--out", out))
    assert f"{out} holds a run with other settings (every, seeds): choose another folder with --out" in said
    assert {path: path.read_bytes() for path in out.iterdir()} == before


def test_another_file_of_the_same_name_is_refused(tmp_path):
    options = (tmp_path / "news.parquet", *TEXT, *FAST, "--out", tmp_path / "out")
    write(tmp_path / "news.parquet")
    assert run(*options).exit_code == 0
    write(tmp_path / "news.parquet", headline=ROWS * ["nothing"])
    assert "the file has changed" in refused(run(*options))


@pytest.mark.parametrize("name", ["thesis.tex", "config.json"])
def test_a_folder_of_something_else_is_refused(tmp_path, name):
    (tmp_path / name).write_text('{"mine": 1}')
    said = refused(run("--out", tmp_path))
    assert "is not empty and holds no run: choose another folder with --out" in said
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_folder_in_which_nothing_was_played_yet_can_be_used_again(tmp_path):
    """A run that fails in its first round says so; what is then corrected may be a setting."""
    (tmp_path / "failing.py").write_text(
        "from sklearn.linear_model import SGDClassifier\nlearner = SGDClassifier(loss='none such')\n"
    )
    options = (write(tmp_path / "news.parquet"), *COLUMNS, *FAST, "--out", tmp_path / "out")
    said = refused(here(tmp_path, *options, "--learner", "failing:learner"))
    assert "failed while learning" in said
    assert run(*options).exit_code == 0


def test_texts_can_be_read_by_an_encoder(tmp_path, tiny_encoder):
    encoder = tiny_encoder(word for words in TOPICS.values() for word in (*words.split(), "today"))
    file, out = write(tmp_path / "news.parquet"), tmp_path / "out"
    shown = run(file, *TEXT, *FAST, "--encoder", encoder, "--device", "cpu", "--out", out)
    assert shown.exit_code == 0, shown.output
    accuracy = {line.scheme: line.accuracy for line in across(by_seed(read(out / "rounds.jsonl")))}
    assert accuracy["awe"] > 0.7, "a word tells the topic"
    assert json.loads((out / "config.json").read_text())["settings"]["encoder"] == str(encoder)


def here(folder, *arguments):
    """A run from inside a folder, whose modules it can see."""
    back, path = os.getcwd(), list(sys.path)
    os.chdir(folder)
    try:
        return run(*arguments)
    finally:
        os.chdir(back)
        sys.path[:] = path


BAD = {
    "missing column": ({}, ("--label", "topik", "--time", "date"), "no column 'topik'. Did you mean 'topic'?"),
    "no label": ({}, ("--time", "date"), "label is needed: the column to predict, one of 'date', 'topic', 'headline'"),
    "no time": ({}, ("--label", "topic"), "every='month' needs to know the time: name its column"),
    "no such period": ({}, (*COLUMNS, "--every", "moon"), "every='moon': it must be one of year, quarter"),
    "dates": ({"date": ["2020-01-01", "31/12/2020", "soon"] * 40}, COLUMNS, "row 2: '31/12/2020', row 3: 'soon'"),
    "one class": ({"topic": ROWS * ["x"]}, COLUMNS, "the label is 'x' in all rows"),
    "no class": ({"topic": pa.nulls(ROWS, pa.string())}, COLUMNS, "'topic' is missing in all 120 rows"),
    "amounts": ({"topic": [i / 7 for i in range(ROWS)]}, COLUMNS, "120 different numbers with decimals"),
    "one round": ({}, (*COLUMNS, "--every", "year"), "of one round, 2020, and a first round is only trained on"),
    "unknown learner": ({}, (*TEXT, "--learner", "naive-bays"), "did you mean naive-bayes or"),
    "unknown module": ({}, (*TEXT, "--learner", "none_such:it"), "No module named 'none_such'"),
    "unknown in a module": ({}, (*TEXT, "--learner", "json:none_such"), "no attribute 'none_such'"),
    "encoder, no text": ({}, (*COLUMNS, "--encoder", "."), "an encoder is for texts alone: name their column"),
    "device for nothing": ({}, (*COLUMNS, "--device", "cpu"), "--device is for networks on images or on an encoder"),
    "plain alone": ({}, (*TEXT, "--scheme", "plain"), "name a scheme to compare with it"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_played_is_refused_in_one_line(tmp_path, case):
    changed, options, says = BAD[case]
    file, out = write(tmp_path / "news.parquet", **changed), tmp_path / "out"
    assert says in refused(run(file, *options, "--out", out), out)


def test_files_that_cannot_be_read_are_refused_in_one_line(tmp_path):
    whole = (tmp_path / "news.parquet", tmp_path / "cut.parquet", tmp_path / "empty.csv")
    write(whole[0])
    data = whole[0].read_bytes()
    whole[1].write_bytes(data[: len(data) // 2])
    whole[2].touch()
    out = tmp_path / "out"
    assert "cut.parquet cannot be read as Parquet" in refused(run(whole[1], *TEXT, "--out", out), out)
    assert "empty.csv is empty: a header and at least" in refused(run(whole[2], *TEXT, "--out", out), out)


def test_columns_without_a_file_are_refused(tmp_path):
    assert "label, time name columns of a file, and there is no" in refused(run(*COLUMNS, "--out", tmp_path / "out"))


def test_what_was_done_with_the_data_is_told_on_the_screen_and_in_the_report(tmp_path):
    rows = news()
    rows["topic"][5] = "[red]"
    rows["headline"][7] = None
    rows["date"] = [f"{day} 12:00:00{'+02:00' if i % 2 else 'Z'}" for i, day in enumerate(rows["date"])]
    table = pa.table(rows).filter(pa.array(["-03-" not in day for day in rows["date"]]))
    pq.write_table(table, tmp_path / "news.parquet")
    shown = run(tmp_path / "news.parquet", *TEXT, *FAST, "--out", tmp_path / "out")
    assert shown.exit_code == 0, shown.output
    report = unescape((tmp_path / "out" / "report.html").read_text())
    for note in (
        "empty months skipped (1): 2020-03",
        "labels seen once (1): '[red]'",
        "times were converted to UTC from these zones: +02:00, Z",
        "nulls in 'headline' read as empty text: 1",
    ):
        assert f"Note: {note}" in shown.output
        assert note in report


@pytest.mark.parametrize(
    "options",
    [
        (*COLUMNS, "--learner", "mlp"),
        (*COLUMNS, "--learner", "naive-bayes"),
        (*TEXT, "--learner", "naive-bayes"),
        (*TEXT, "--feature", "size", "--feature", "shop"),
        ("--label", "topic", "--every", "30"),
        (*COLUMNS, "--learner", "mine:forest"),
        (*TEXT, "--learner", "mine:words"),
        (*TEXT, "--learner", "mine:Longest"),
    ],
    ids=lambda options: " ".join(options).replace("--label topic --time date", "").strip(),
)
def test_learners_by_name_and_of_your_own(tmp_path, options):
    (tmp_path / "mine.py").write_text(MINE)
    shown = here(tmp_path, write(tmp_path / "news.parquet"), *options, *FAST, "--out", "out")
    sys.modules.pop("mine", None)
    assert shown.exit_code == 0, shown.output
    assert all(row.accuracy > 0 for row in read(tmp_path / "out" / "rounds.jsonl") if row.round > 2)


MINE = """
import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

forest = GaussianNB()

def words():
    return make_pipeline(HashingVectorizer(n_features=64), SGDClassifier(loss="log_loss"))

class Longest:
    def fresh(self, seed):
        return Longest()
    def learn(self, X, y):
        self.classes = max(y) + 1
    def logits(self, X):
        return np.array([np.arange(self.classes) == len(text) % self.classes for text in X], dtype=float)
"""


def test_arrays_in_npz_are_played_by_so_many_rows(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "a.npz", X=rng.normal(size=(90, 3)) + np.arange(90)[:, None] % 2, y=np.arange(90) % 2)
    shown = run(tmp_path / "a.npz", "--every", 30, *FAST, "--out", tmp_path / "out")
    assert shown.exit_code == 0, shown.output
    assert [row.n for row in read(tmp_path / "out" / "rounds.jsonl") if row.scheme == "awe"] == [30, 30, 30]


def test_without_a_file_digits_are_played(tmp_path):
    options = ("--learner", "majority", "--scheme", "awe-prequential", "--out", tmp_path / "out")
    shown = run(*options)
    assert shown.exit_code == 0, shown.output
    assert max(row.round for row in read(tmp_path / "out" / "rounds.jsonl")) == 120
    assert json.loads((tmp_path / "out" / "config.json").read_text())["settings"]["stream"] == "digits"


def test_images_are_played_and_one_that_cannot_be_read_stops_the_run_until_it_can(tmp_path):
    pytest.importorskip("torch")
    image = pytest.importorskip("PIL.Image")
    (tmp_path / "img").mkdir()
    for i in range(16):
        image.new("RGB", (8, 8), (200 * (i % 2), 0, i)).save(tmp_path / "img" / f"{i}.png")
    lines = [f"{2001 + i // 8},img/{i}.png,{'ab'[i % 2]}" for i in range(16)]
    (tmp_path / "a.csv").write_text("\n".join(["when,path,kind", *lines]) + "\n")
    good = (tmp_path / "img" / "9.png").read_bytes()
    (tmp_path / "img" / "9.png").write_bytes(b"nothing of the kind")
    options = ("--label", "kind", "--time", "when", "--every", "year", "--image", "path", "--device", "cpu")
    options = (tmp_path / "a.csv", *options, "--scheme", "awe-prequential", "--out", tmp_path / "out")
    said = refused(run(*options))
    assert "image 'img/9.png' cannot be read" in said
    assert "Paths are relative to the file's folder" in said
    (tmp_path / "img" / "9.png").write_bytes(good)
    assert run(*options).exit_code == 0


def test_a_table_is_not_cut_short_by_a_narrow_screen():
    row = ("single-resolution", "67.92 ± 0.23", "-13.55", "-13.87..-13.23", "-13.55", "100/100/1000", "12345.6")
    screen = StringIO()
    print_table(HEADER_ACROSS, [row], Console(file=screen, width=40))
    assert all(cell in screen.getvalue() for cell in row)
