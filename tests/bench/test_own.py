"""Your own data: what suits it, what a folder may be used for, and when a run is over."""

import json
import shutil
from functools import partial
from importlib import import_module

import pytest

from spanwise import Spanwise
from spanwise.adapters.functions import majority_class
from spanwise.bench import suited
from spanwise.bench.own import Data, How, Run, make_schemes, played
from spanwise.checks import centroids
from spanwise.errors import DataError, LabelError, SettingError
from spanwise.evaluate import read
from spanwise.evaluate.record import Row
from spanwise.streams import Abrupt

FAST = How(schemes=("awe",), seeds=2)


def play(folder, stream, seen=None):
    """A run on a stream of our own; `seen` gets every seed and round."""
    job = Run(Data(), FAST, folder)
    job.begin()
    return job.play(majority_class(), stream, lambda seed, t: seen is None or seen.append((seed, t)))


def test_a_round_was_played_when_every_scheme_has_it(tmp_path):
    record = tmp_path / "rounds.jsonl"
    assert played(record) == {}
    rows = [Row(t, scheme, seed=seed) for seed in (0, 1) for t in (1, 2) for scheme in ("plain", "awe")]
    record.write_text("".join(row.line() for row in rows[:-1]))
    assert played(record) == {0: 2, 1: 1}
    record.write_text("".join(row.line() for row in rows))
    assert played(record) == {0: 2, 1: 2}


def test_a_record_that_was_torn_in_the_last_round_is_made_whole(tmp_path):
    stream = Abrupt(rounds=4, size=20)
    play(tmp_path, stream)
    whole = read(tmp_path / "rounds.jsonl")
    lines = (tmp_path / "rounds.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "rounds.jsonl").write_text("".join(lines[:-1]))
    play(tmp_path, stream)
    assert [(row.seed, row.round, row.scheme, row.accuracy) for row in read(tmp_path / "rounds.jsonl")] == [
        (row.seed, row.round, row.scheme, row.accuracy) for row in whole
    ]


def test_a_checkpoint_left_behind_by_one_seed_is_not_taken_for_another(tmp_path, monkeypatch):
    """As where the run was killed after the last line of seed 0 and before its checkpoint was removed."""
    monkeypatch.setattr("spanwise.evaluate.checkpoint.Checkpoint.__init__.__defaults__", (0.0,))
    monkeypatch.setattr("spanwise.evaluate.checkpoint.Checkpoint.remove", lambda self: None)
    stream = Abrupt(rounds=4, size=20)
    first = play(tmp_path, stream)
    lines = (tmp_path / "rounds.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "rounds.jsonl").write_text("".join(line for line in lines if json.loads(line)["seed"] == 0))
    shutil.rmtree(tmp_path / "checkpoint-1")
    assert (tmp_path / "checkpoint-0").exists()
    second = play(tmp_path, stream)
    assert not (tmp_path / "checkpoint-0").exists()
    assert [list(one.accuracy_of("awe")) for one in second] == [list(one.accuracy_of("awe")) for one in first]


def test_linear_algebra_has_one_thread_while_a_run_is_played(tmp_path):
    pytest.importorskip("sklearn.linear_model")
    control = pytest.importorskip("threadpoolctl")
    before = control.threadpool_info()
    seen = []
    job = Run(Data(), FAST, tmp_path)
    job.begin()
    job.play(majority_class(), Abrupt(rounds=3, size=20), lambda seed, t: seen.append(control.threadpool_info()))
    assert {one["num_threads"] for one in seen[0] if one["user_api"] == "blas"} == {1}
    assert control.threadpool_info() == before


def test_progress_goes_through_all_seeds_and_passes_over_those_that_are_done(tmp_path):
    stream, seen = Abrupt(rounds=3, size=20), []
    play(tmp_path, stream, seen)
    assert seen == [(0, 1), (0, 2), (0, 3), (0, 3), (1, 1), (1, 2), (1, 3), (1, 3)]
    seen.clear()
    play(tmp_path, stream, seen)
    assert seen == [(0, 3), (1, 3)]


def test_settings_of_a_run_of_which_nothing_was_played_may_change(tmp_path):
    Run(Data(), How(seeds=1), tmp_path).begin()
    Run(Data(), How(seeds=2), tmp_path).begin()
    assert json.loads((tmp_path / "config.json").read_text())["settings"]["seeds"] == 2
    (tmp_path / "rounds.jsonl").write_text(Row(1, "plain").line())
    with pytest.raises(SettingError, match=r"other settings \(seeds\)"):
        Run(Data(), How(seeds=3), tmp_path).begin()


def test_a_file_of_the_same_settings_must_hold_the_same(tmp_path):
    file, out = tmp_path / "a.csv", tmp_path / "out"
    file.write_text("x,y\n1,a\n2,b\n")
    Run(Data(file=str(file)), How(), out).begin()
    (out / "rounds.jsonl").write_text(Row(1, "plain").line())
    Run(Data(file=str(file)), How(), out).begin()
    file.write_text("x,y\n1,a\n2,a\n")
    with pytest.raises(SettingError, match="the file has changed"):
        Run(Data(file=str(file)), How(), out).begin()


def test_a_learner_of_your_own_must_be_the_same_code(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "my_learner_1.py").write_text("def make(): ...\n")
    import_module("my_learner_1")
    job = Run(Data(), How(learner="my_learner_1:make"), tmp_path / "out")
    job.begin()
    (tmp_path / "out" / "rounds.jsonl").write_text(Row(1, "plain").line())
    job.begin()
    (tmp_path / "my_learner_1.py").write_text("def make(): ...  # otherwise\n")
    with pytest.raises(SettingError, match="the learner's code has changed"):
        job.begin()


@pytest.mark.parametrize(
    ("schemes", "told"),
    [(("awe", "spanwise"), "spanwise"), (("vote", "awe"), "vote"), (("plain", "saol"), "saol")],
)
def test_the_report_is_about_a_scheme_that_is_fixed_beforehand(schemes, told):
    assert How(schemes=schemes).told == told


def test_the_plain_ensemble_is_as_large_as_the_mean_pool_and_the_literal_scheme_knows_the_horizon():
    made = make_schemes(["plain-ensemble", "awe-literal", "plain", "vote"], centroids(), 32)
    sizes = [len(Spanwise(centroids()).method.cover.active(t)) for t in range(1, 33)]
    assert made["plain-ensemble"].keywords == {"copies": round(sum(sizes) / 32)}
    assert made["awe-literal"].keywords == {"horizon": 32}
    assert list(made) == ["plain-ensemble", "awe-literal", "vote"]


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({}, "array"),
        ({"file": "a.csv", "image": "path"}, "images"),
        ({"file": "a.csv", "text": "title"}, "text"),
        ({"file": "a.csv", "text": "title", "features": ("price",)}, "columns"),
        ({"file": "a.npz"}, "columns"),
    ],
)
def test_the_kind_of_data_is_told_by_its_columns(given, kind):
    assert Data(**given).kind == kind


def test_files_with_nothing_to_score_or_to_tell_apart_are_refused(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "a.csv").write_text("x,y\n1,a\n2,a\n3,a\n")
    with pytest.raises(DataError, match=r"of one round, rows 1-3, .* Make rounds shorter with --every"):
        Data(file=str(tmp_path / "a.csv"), label="y", every="3").open()
    with pytest.raises(LabelError, match="the label is 'a' in all rows"):
        Data(file=str(tmp_path / "a.csv"), label="y", every="1").open()


def test_what_only_some_learners_take_is_not_passed_over_in_silence():
    with pytest.raises(SettingError, match="an encoder is for texts alone"):
        suited.find(None, "columns", encoder="folder")
    with pytest.raises(SettingError, match="a --learner of your own"):
        suited.find("json:dumps", "text", encoder="folder")
    with pytest.raises(SettingError, match="--device is for networks"):
        suited.find("ft", "text", device="cpu")


class Ready:
    """A learner of one's own that can also be called, as torch modules can."""

    def fresh(self, seed):
        return Ready()

    def learn(self, X, y): ...

    def logits(self, X): ...

    def __call__(self):
        raise AssertionError("only what makes a learner is called")


@pytest.mark.parametrize("thing", [Ready(), Ready, lambda: Ready(), partial(Ready)], ids=["it", "class", "def", "part"])
@pytest.mark.parametrize("kind", ["columns", "text", "array"])
def test_a_learner_of_your_own_is_taken_as_it_is_or_made(monkeypatch, thing, kind):
    monkeypatch.setattr(json, "thing", thing, raising=False)
    assert isinstance(suited.own("json:thing", kind), Ready)


def test_a_classifier_of_another_library_is_given_columns_as_an_array(monkeypatch):
    bayes = pytest.importorskip("sklearn.naive_bayes")
    from spanwise.adapters.features import Featured

    monkeypatch.setattr(json, "thing", bayes.GaussianNB(), raising=False)
    assert isinstance(suited.own("json:thing", "columns"), Featured)
    assert isinstance(suited.own("json:thing", "array"), bayes.GaussianNB)


def test_whatever_fails_in_code_of_your_own_is_told_in_a_line(monkeypatch):
    def fails():
        raise RuntimeError("first line\nsecond line")

    monkeypatch.setattr(json, "thing", fails, raising=False)
    with pytest.raises(SettingError, match=r"^--learner json:thing cannot be used: RuntimeError: first line$"):
        suited.own("json:thing", "text")
