"""The suite: what it says of a scheme can be worked out by hand, and what is done is not done again."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from spanwise.bench import __main__ as bench
from spanwise.bench.suite import command
from spanwise.bench.suite import play as playing
from spanwise.bench.suite.ablation import VARIANTS, Variant
from spanwise.bench.suite.bars import bars, by_cell, every_cell, over_ensemble, report
from spanwise.bench.suite.learners import LEARNERS, PEER, SEEDLESS, make
from spanwise.bench.suite.logprobs import LogProbs
from spanwise.bench.suite.play import Task, covers, play, replayed
from spanwise.bench.suite.recording import Recording
from spanwise.bench.suite.scores import Score, add, read
from spanwise.bench.suite.sources import Source
from spanwise.bench.suite.streams import STREAMS
from spanwise.bench.suite.table import document, interval, places, summary
from spanwise.checks import centroids
from spanwise.core.spans import MRI
from spanwise.errors import DataError, SettingError, UnknownNameError
from spanwise.schemes.covers import Thinned
from spanwise.schemes.spanwise import MANY, cover_of, ensemble_size
from spanwise.streams import Abrupt

ROLES = {"hill": "development", "dale": "development", "sea": "confirmation"}


def cell(stream, scheme, accuracies, seed=0, seconds=1.0):
    return Score(stream, "linear", scheme, seed, tuple(accuracies), seconds)


CELLS = [
    cell("hill", "plain", [0.5, 0.7]),
    cell("hill", "plain", [0.6, 0.6], seed=1),
    cell("hill", "plain-ensemble", [0.6, 0.8], seconds=4.0),
    cell("hill", "plain-ensemble", [0.7, 0.7], seed=1, seconds=4.0),
    cell("hill", "spanwise", [0.8, 1.0], seconds=3.0),
    cell("hill", "spanwise", [0.9, 0.9], seed=1, seconds=3.0),
    cell("dale", "plain", [0.9, 0.9]),
    cell("dale", "plain-ensemble", [0.9, 0.9]),
    cell("dale", "spanwise", [0.88, 0.88]),
]


def test_a_place_is_the_mean_over_seeds_and_rounds():
    found = {(place.stream, place.scheme): place for place in places(CELLS, ROLES)}
    hill, dale = found["hill", "spanwise"], found["dale", "spanwise"]
    assert (hill.seeds, hill.cost) == ((0, 1), 3.0)
    assert (hill.accuracy, hill.gain, hill.low, hill.high) == pytest.approx((0.9, 30.0, 30.0, 30.0))
    assert not hill.harmed(0.1)
    assert dale.gain == pytest.approx(-2.0)
    assert dale.harmed(0.1)
    assert dale.harmed(0.3)
    assert not dale.harmed(2.1)


def test_seconds_of_different_places_are_not_compared():
    there = [replace(one, where="16 CPUs") if one.scheme == "spanwise" else one for one in CELLS]
    assert {place.scheme: place.cost is None for place in places(there, ROLES)} == {
        "plain": False,
        "plain-ensemble": False,
        "spanwise": True,
    }
    assert cost_of("spanwise", CELLS) == "2.0x"
    assert cost_of("spanwise", there) == ""
    assert cost_of("plain-ensemble", there) == "2.5x"
    beside = [replace(one, plain_seconds=2.0) if one.scheme == "spanwise" else one for one in there]
    assert cost_of("spanwise", beside) == "1.0x", "what was played beside tells, wherever it was"
    loaded = [replace(one, where=f"2 CPUs, {one.scheme} 1.0") for one in CELLS]
    assert cost_of("spanwise", loaded) == "2.0x", "whatever else a process has loaded"


def cost_of(scheme, scores):
    lines = summary(places(scores, ROLES), "development").splitlines()
    cells = next(line for line in lines if line.startswith(f"| {scheme} |")).split("|")
    return cells[lines[0].split("|").index(" cost ")].strip()


def test_a_loss_that_may_be_chance_is_no_harm():
    noisy = [cell("hill", "plain", [0.5] * 20), cell("hill", "spanwise", list(np.linspace(0.3, 0.68, 20)))]
    place = next(place for place in places(noisy, ROLES) if place.scheme == "spanwise")
    assert place.gain < -0.5
    assert place.high > 0
    assert not place.harmed(0.1)


@pytest.mark.parametrize("alike", [0.0, 0.4], ids=["rounds on their own", "neighbours alike"])
def test_the_interval_covers_the_truth_about_as_often_as_it_says(alike):
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(60):
        rounds = rng.normal(size=100)
        for t in range(1, 100):
            rounds[t] = alike * rounds[t - 1] + np.sqrt(1 - alike**2) * rounds[t]
        low, high = interval(rng.normal(size=(5, 1)) * 0.1 + rounds + 0.5 * rng.normal(size=(5, 100)))
        held += low <= 0 <= high
    assert held >= 52


def test_the_table_tells_gain_harm_rank_and_cost():
    table = summary(places(CELLS, ROLES), "development")
    spanwise = next(line for line in table.splitlines() if line.startswith("| spanwise"))
    assert "| +14.00 | -2.00 (dale, linear) | 50 % | 50 % |" in spanwise
    assert "-2.00 |" in spanwise
    assert "2 cells of the development streams" in table
    assert "No cell" in summary(places(CELLS, ROLES), "confirmation")


def test_the_document_has_a_row_a_cell_and_seed():
    elsewhere = cell("sea", "plain", [0.5])
    written = document(places(CELLS, ROLES), [*CELLS, replace(elsewhere, where="16 CPUs")], ROLES)
    assert len(written["rows"]) == len(CELLS) + 1
    assert [row["where"] for row in written["rows"] if "where" in row] == ["16 CPUs"]
    row = next(row for row in written["rows"] if (row["scheme"], row["stream"]) == ("spanwise", "dale"))
    assert row == {
        "stream": "dale",
        "role": "development",
        "learner": "linear",
        "scheme": "spanwise",
        "seed": 0,
        "accuracy": 0.88,
        "gain": -2.0,
        "seconds": 1.0,
    }


def test_the_ensemble_is_as_large_as_the_pool_of_spanwise():
    pool = cover_of(8)
    assert ensemble_size(100, 8) == round(np.mean([len(pool.active(t)) for t in range(1, 101)]))
    assert ensemble_size(100, 1) == 1


def test_every_instance_that_a_replayed_scheme_wants_is_recorded():
    rounds = 40
    for learner in ("linear", PEER):
        kept = covers(rounds, 3, learner)
        recorded = [{(s.start, s.copy) for c in kept for s in c.active(t)} for t in range(1, rounds + 1)]
        for name in set(playing.REPLAYED) & set(playing.schemes_for(learner)):
            cover = replayed(rounds, 3)[name](centroids()).method.cover
            for t, known in enumerate(recorded, start=1):
                assert {(span.start, span.copy) for span in cover.active(t)} <= known


def small_stream():
    return Abrupt(rounds=6, size=30, classes=[0, 1, 2, 3])


@pytest.fixture
def small(monkeypatch):
    """Two streams that take a second."""
    for name, role in (("abrupt", "development"), ("recurring", "confirmation")):
        monkeypatch.setitem(STREAMS, name, Source(role, "array", lambda folder: small_stream()))


def test_a_play_has_a_cell_for_every_scheme_and_replays_the_plain_learner_as_it_is_live(small, tmp_path):
    task = Task("abrupt", "naive-bayes", 0)
    found = {score.scheme: score for score in play(task, tmp_path, tmp_path)}
    assert set(found) == {*replayed(6, 1), *playing.live(6)} == set(task.schemes)
    assert "CPUs, spanwise" in found["spanwise"].where
    (again,) = play(replace(task, schemes=("spanwise",)), tmp_path, tmp_path)
    assert again.accuracies == found["spanwise"].accuracies
    assert {score.plain_seconds for score in found.values()} == {found["plain"].seconds}
    assert again.plain_seconds is None
    (held,) = playing.scores(task, {"plain": playing.Plain}, *live_learner())
    assert held.accuracies == found["plain"].accuracies


def live_learner():
    stream = small_stream()
    return LogProbs(make("naive-bayes", "array", 4), 4), stream


def test_the_command_plays_development_streams_once_and_writes_what_came_of_it(small, tmp_path, monkeypatch, capsys):
    arguments = ["suite", "--streams", "abrupt", "--learners", "naive-bayes", "--seeds", "1"]
    places = ["--data", str(tmp_path), "--work", str(tmp_path / "work"), "--out", str(tmp_path / "out")]
    bench.main([*arguments, *places])
    out = tmp_path / "out"
    rows = json.loads((out / "suite.json").read_text())["rows"]
    assert {row["role"] for row in rows} == {"development"}
    shown = capsys.readouterr().out
    for table, line in (("suite.md", "| spanwise |"), ("suite_cells.md", "| abrupt | naive-bayes |")):
        assert line in (out / table).read_text()
        assert (out / table).read_text() in shown
    assert (out / "suite.png").stat().st_size > 10_000
    monkeypatch.setattr(command, "play", lambda *a, **k: pytest.fail("played again"))
    bench.main([*arguments, *places])
    capsys.readouterr()
    bench.main([*arguments, "--seeds", "2", *places, "--dry-run"])
    play, summed = capsys.readouterr().err.splitlines()
    assert play.startswith("  abrupt, naive-bayes, seed 1: at most 0.")
    assert summed == "1 play; at most 0 minutes on one core"
    bench.main(["suite", "--streams", "abrupt", "--learners", "linear", "--seeds", "1", *places, "--dry-run"])
    assert capsys.readouterr().err.endswith(
        "1 play; 1 of them never played with this --out, so that nobody knows how long\n"
    )


SMALL = """
import sys
from spanwise.bench import __main__ as bench
from spanwise.bench.suite.sources import Source
from spanwise.bench.suite.streams import STREAMS
from spanwise.streams import Abrupt
STREAMS["abrupt"] = Source("development", "array", lambda folder: Abrupt(rounds=6, size=30, classes=[0, 1, 2, 3]))
bench.main(sys.argv[1:])
"""


def test_killed_in_the_middle_and_started_again_it_plays_what_is_left(small, tmp_path, capsys):
    arguments = ["suite", "--streams", "abrupt", "--learners", "naive-bayes", "linear", "--seeds", "2"]
    killed, whole = (
        [*arguments, "--data", str(tmp_path), "--work", str(tmp_path / name), "--out", str(tmp_path / name)]
        for name in ("killed", "whole")
    )
    told = []
    with subprocess.Popen([sys.executable, "-c", SMALL, *killed], stderr=subprocess.PIPE, text=True) as run:
        while not any(line.startswith("2 of 4") for line in told):
            told.append(run.stderr.readline())
            assert told[-1], "it is not over yet"
        run.kill()
    before = read(tmp_path / "killed" / "suite_scores.jsonl")
    assert 2 <= len({(one.learner, one.seed) for one in before}) < 4
    bench.main(killed)
    assert "4 plays, 2 to be played" in capsys.readouterr().err
    bench.main(whole)
    after, never = (
        {(one.learner, one.seed, one.scheme): one.accuracies for one in read(tmp_path / name / "suite_scores.jsonl")}
        for name in ("killed", "whole")
    )
    assert after == never
    assert all(after[one.learner, one.seed, one.scheme] == one.accuracies for one in before)


def test_a_learner_that_adapts_by_itself_is_played_plain_and_wrapped_alone(small, tmp_path):
    suite = command.Suite(data=tmp_path, work=tmp_path, out=tmp_path, streams=["abrupt"], learners=[PEER, "linear"])
    played = {task.learner: set(task.schemes) for task in suite.tasks()}
    assert played == {PEER: playing.OF_COPIES, "linear": set(playing.SCHEMES)}
    play(Task("abrupt", PEER, 0, ("plain",)), tmp_path, tmp_path)
    recorded = Recording(tmp_path / "records" / f"abrupt-{PEER}-0").instances
    others = sum(len(cover_of(MANY).active(t)) - MANY for t in range(1, 7))
    assert len(recorded) == 6 * ensemble_size(6, MANY) + others, "none that only other schemes want"


def test_confirmation_streams_are_run_only_by_name(tmp_path):
    wanted = command.Suite(data=tmp_path, work=tmp_path, out=tmp_path, learners=["linear"], seeds=1).tasks()
    assert {STREAMS[task.stream].role for task in wanted} == {"development"}
    with pytest.raises(UnknownNameError, match="did you mean recurring"):
        bench.main(["suite", "--streams", "recuring", "--data", str(tmp_path)])


def test_scores_survive_a_torn_line(tmp_path):
    file = tmp_path / "out" / "suite_scores.jsonl"
    add(file, CELLS[:2])
    with file.open("a") as opened:
        opened.write('{"stream": "hi')
    assert read(file) == CELLS[:2]
    add(file, CELLS[2:])
    assert read(file) == CELLS


def test_of_two_that_add_at_once_none_loses_a_line(tmp_path):
    file = tmp_path / "suite_scores.jsonl"

    def add_one_by_one(stream):
        for seed in range(50):
            add(file, [replace(CELLS[0], stream=stream, seed=seed)])

    with ThreadPoolExecutor(2) as both:  # locks are of open files, so that threads stand for processes
        list(both.map(add_one_by_one, ["one", "other"]))
    assert len(read(file)) == 100


def test_two_that_want_the_same_record_make_it_once(small, tmp_path):
    task = Task("abrupt", "naive-bayes", 0, ("plain",))
    with ThreadPoolExecutor(2) as both:
        first, second = both.map(lambda work: play(task, work, work), [tmp_path] * 2)
    assert [one.accuracies for one in first] == [one.accuracies for one in second]
    assert [path.name for path in (tmp_path / "records").iterdir() if path.is_dir()] == [task.file]


def test_the_seeds_of_a_learner_without_randomness_share_one_record(small, tmp_path):
    for seed in range(3):
        play(Task("abrupt", "naive-bayes", seed, ("plain", "spanwise")), tmp_path, tmp_path)
    assert [path.name for path in (tmp_path / "records").iterdir() if path.is_dir()] == ["abrupt-naive-bayes-0"]


def test_a_stream_that_was_changed_is_not_played_beside_what_was_recorded_of_it(small, tmp_path, monkeypatch):
    task = Task("abrupt", "naive-bayes", 0, ("plain",))
    play(task, tmp_path, tmp_path)
    other = Abrupt(rounds=6, size=30, classes=[0, 1, 2, 3], seed=9)
    monkeypatch.setitem(STREAMS, "abrupt", Source("development", "array", lambda folder: other))
    with pytest.raises(SettingError, match="recorded of another stream"):
        play(task, tmp_path, tmp_path)


def test_the_ablation_replays_what_was_recorded_and_its_first_line_is_spanwise_itself(small, tmp_path, capsys):
    places = ["--work", str(tmp_path / "work"), "--out", str(tmp_path / "out")]
    with pytest.raises(DataError, match="run `spanwise bench suite`"):
        bench.main(["ablation", *places])
    task = Task("abrupt", "linear", 0, ("spanwise", "plain", "plain-ensemble"))
    scores = {score.scheme: 100 * score.accuracy for score in play(task, tmp_path, tmp_path / "work")}
    (tmp_path / "work" / "records" / Task("abrupt", PEER, 0).file).mkdir()  # of which a table of its own tells
    bench.main(["ablation", *places])
    rows = {row["variant"]: row for row in json.loads((tmp_path / "out" / "ablation.json").read_text())["rows"]}
    assert rows.keys() == VARIANTS.keys()
    with pytest.raises(SettingError, match="leave out --streams"):
        bench.main(["ablation", "--streams", "abrupt", *places])
    with pytest.raises(DataError, match="nothing of the suite was played"):
        bench.main(["suite", "--tables-only", "--out", str(tmp_path / "nowhere")])
    found = rows["as it is"]
    assert found["gain"] == pytest.approx(scores["spanwise"] - scores["plain"], abs=1e-3)
    assert found["over_the_ensemble"] == pytest.approx(scores["spanwise"] - scores["plain-ensemble"], abs=1e-3)
    assert "| no guard, the regression plays |" in capsys.readouterr().out


@pytest.mark.parametrize("young", [None, MRI(2), MRI(4), Thinned(MRI(2), 8)])
@pytest.mark.parametrize("copies", [1, 6, MANY])
def test_a_variant_is_compared_with_an_ensemble_of_as_many_as_it_has_instances(young, copies):
    variant = Variant(young=young, copies=copies)
    counts = [len(variant.cover(MANY).active(t)) for t in range(1, 51)]
    assert variant.size(50, MANY) == min(round(np.mean(counts)), ensemble_size(50, MANY)), "no more were recorded"
    assert variant.size(50, 1) == 1, "all would be the same"


def test_every_instance_that_a_variant_wants_is_recorded():
    for copies in (1, MANY):
        kept = covers(40, copies, "linear")
        for variant in VARIANTS.values():
            for t in range(1, 41):
                recorded = {(span.start, span.copy) for cover in kept for span in cover.active(t)}
                assert {(span.start, span.copy) for span in variant.cover(copies).active(t)} <= recorded


def test_bars_are_held_or_not_and_every_cell_is_shown():
    found = [
        *(
            cell("hill", scheme, accuracies)
            for scheme, accuracies in {"plain": [0.6, 0.6], "spanwise": [0.7, 0.7]}.items()
        ),
        cell("hill", "plain-ensemble", [0.65, 0.65]),
        cell("hill", "awe-literal", [0.6, 0.62]),
        *(cell("stationary", scheme, [0.8, 0.8]) for scheme in ("plain", "plain-ensemble", "awe-literal")),
        cell("stationary", "spanwise", [0.798, 0.798]),
        cell("dale", "plain", [0.5, 0.5]),
    ]
    cells = by_cell(places(found, {}))
    assert set(cells) == {("hill", "linear"), ("stationary", "linear")}
    told = {bar.what: (bar.measured, bar.held) for bar in bars(cells, found)}
    assert told["mean gain"] == ("+4.90", True)
    assert told["of real data, and of data that is drawn"] == ("+10.00 and -0.20", None)
    assert told["cells above awe-literal"] == ("50 % of 2", False)
    assert told["cells harmed by more than 0.3"] == ("0 %", True)
    assert told["cells harmed by more than 0.1"] == ("50 %", False)
    assert told["least gain where nothing shifts"] == ("-0.20", False)
    assert told["the worst cell against them"] == ("-0.20", True)
    lead = over_ensemble(found, cells)
    assert (lead.mean, *lead.chance) == pytest.approx((2.4, 2.4, 2.4)), (
        "5 points on the hill, -0.2 where nothing shifts"
    )
    assert lead.streams == pytest.approx((-0.2, 5.0)), "two streams drawn again may be twice the same"
    known = places(found, {"hill": "development", "stationary": "development"})
    assert "| cells harmed by more than 0.1 | at most 5 % | 50 % | **no** |" in report(known, found, "development")
    line = "| hill | linear | 1 | 60.00 | +10.00 [+10.00, +10.00] | not run | +5.00 | +1.00 |"
    assert line in every_cell(known, "development")
    assert report(places(found, {}), found, "confirmation") == ""


def test_where_ensembles_are_of_one_the_lead_over_them_is_not_hidden_among_the_others():
    found = []
    for learner, ours in {"linear": 0.6, "naive-bayes": 0.9}.items():
        for scheme, accuracy in {"plain": 0.5, "plain-ensemble": 0.61, "spanwise": ours}.items():
            found.append(replace(cell("hill", scheme, [accuracy] * 2), learner=learner))
    told = {bar.what: bar for bar in bars(by_cell(places(found, {})), found)}
    assert told["over as many plain learners as it has instances"].measured.startswith("+14.00")
    (apart,) = (bar for what, bar in told.items() if "randomness" in what)
    assert apart.measured.startswith("-1.00 [-1.00, -1.00] over seeds and rounds; with streams drawn again [-1.00, ")
    assert apart.measured.endswith("; behind in 1 of 1 cells")
    assert apart.held is False


@pytest.mark.parametrize("name", LEARNERS)
def test_those_without_randomness_say_so_themselves(name):
    assert (name in SEEDLESS) == bool(getattr(make(name, "array", classes=2), "seedless", False))


def test_schemes_are_compared_on_the_same_seeds_or_not_at_all():
    found = [cell("hill", scheme, [0.6, 0.6], seed) for scheme in ("plain", "plain-ensemble") for seed in range(2)]
    found += [cell("hill", "spanwise", [0.61 + 0.08 * seed] * 2, seed) for seed in range(2)]
    found += [cell("hill", "awe-literal", [0.64, 0.64])]
    known = places(found, ROLES)
    assert "awe-literal" not in by_cell(known)["hill", "linear"]
    assert "left out: awe-literal." in summary(known, "development")


def test_the_fall_back_is_shown_and_changes_nobodys_rank():
    beside = [cell(stream, "fall-back", [0.7, 0.9]) for stream in ("hill", "dale")]
    beside += [cell("hill", "fall-back", [0.8, 0.8], seed=1)]
    with_it, without = (
        {
            cells[0]: cells[5]
            for line in summary(places(found, ROLES), "development").splitlines()
            if (cells := line.split(" | "))[1:]
        }
        for found in (CELLS + beside, CELLS)
    )
    assert with_it.pop("| fall-back") == ""
    assert with_it == without


def test_a_learner_that_adapts_by_itself_is_told_apart(tmp_path):
    schemes = {"plain": [0.6, 0.6], "spanwise": [0.7, 0.7], "fall-back": [0.62, 0.62], "plain-ensemble": [0.63, 0.63]}
    found = [cell("abrupt", scheme, accuracies) for scheme, accuracies in schemes.items()]
    found += [replace(one, learner="adaptive-forest") for one in found]
    worse = replace(found[-3], stream="gradual", accuracies=(0.5, 0.5))
    found += [worse, *(replace(found[i], stream="gradual") for i in (-4, -2, -1))]
    add(tmp_path / "suite_scores.jsonl", found)
    page = command.Suite(data=tmp_path, work=tmp_path, out=tmp_path).write()
    first, forest = page.split("### The adaptive random forest")
    assert "1 cells of the development streams. It is one stream, so that ranks and p prove nothing." in first
    assert "adaptive-forest" not in first
    assert "| abrupt | adaptive-forest | 1 | 60.00 | +10.00 [+10.00, +10.00] | +2.00 | +3.00 |" in forest
    assert "gains +0.00 points on average, is as good as alone or better in 1 of 2 cells" in forest
    assert "harmed by more than 0.1 points in 1." in forest


def test_a_scheme_that_lacks_a_cell_is_left_out_and_named():
    found = [cell(stream, scheme, [0.6, 0.7]) for stream in ("hill", "dale") for scheme in ("plain", "plain-ensemble")]
    found += [
        cell("hill", "spanwise", [0.7, 0.7]),
        cell("dale", "spanwise", [0.7, 0.7]),
        cell("hill", "awe", [0.5, 0.5]),
    ]
    told = summary(places(found, ROLES), "development")
    assert "| spanwise |" in told
    assert "| awe |" not in told
    assert "left out: awe." in told
