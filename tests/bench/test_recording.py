"""Recordings: a replay is the live run, bit for bit; and what cannot be replayed is refused."""

import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier

from spanwise import checks, snapshot
from spanwise.adapters.features import Featured
from spanwise.adapters.hashing import Words
from spanwise.bench.suite import record as recorder
from spanwise.bench.suite.learners import RIVER, make
from spanwise.bench.suite.logprobs import LogProbs, log_probs
from spanwise.bench.suite.play import covers
from spanwise.bench.suite.record import record
from spanwise.bench.suite.recording import Recording
from spanwise.core.awe import AWE, prequential_awe
from spanwise.core.choice import log_softmax
from spanwise.core.loop import Loop, Threaded
from spanwise.core.pool import Pool
from spanwise.core.spans import MRI, LiteralMRI, Span
from spanwise.engines.shared import Shared
from spanwise.errors import DataError, LearnerError, SettingError, SnapshotError
from spanwise.evaluate import evaluate
from spanwise.schemes.cbce import CBCE
from spanwise.schemes.covers import Copies, Geometric, WithCopies
from spanwise.schemes.plain import Plain, PlainEnsemble
from spanwise.schemes.saol import SAOL
from spanwise.schemes.spanwise import Spanwise, copies_of
from spanwise.schemes.vote import Vote
from spanwise.streams import Abrupt

SEED = 3
COVERS = [MRI(), WithCopies(MRI(2), 3), Geometric(base=True), Copies(4)]
SCHEMES = {
    "plain": Plain,
    "plain-ensemble": partial(PlainEnsemble, copies=4),
    "awe-prequential": prequential_awe,
    "saol": SAOL,
    "saol-drawn": partial(SAOL, random=True, fallback=True),
    "cbce": CBCE,
    "vote": Vote,
    "spanwise": partial(Spanwise, copies=3),
}
STREAM = Abrupt(rounds=14, size=30, classes=("d", "b", "a", "c"), features=4, at=(6,), seed=1)
LEARNERS = {
    "centroids": lambda: Scaled(),
    "sgd": lambda: SGDClassifier(loss="log_loss"),
    "mlp": lambda: MLPClassifier((4,), batch_size=10, learning_rate_init=0.05),
}


class Scaled(Featured):
    """Centroids on whole numbers, of which it needs four columns."""

    def __init__(self, features=None, learner=None):
        super().__init__(features or (lambda X: np.round(3 * X)), learner or checks.centroids())


@pytest.fixture(scope="module", params=LEARNERS)
def played(request, tmp_path_factory):
    """A learner, and its recording."""
    path = tmp_path_factory.mktemp("records") / request.param
    record(LEARNERS[request.param](), STREAM, COVERS, SEED, path)
    return LEARNERS[request.param](), Recording(path)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("records") / "centroids"
    record(Scaled(), STREAM, COVERS, SEED, path)
    return Recording(path)


def rows_of(makers, learner, stream, classes):
    models = {name: make(learner, seed=SEED, classes=classes) for name, make in makers.items()}
    return [replace(row, seconds=0.0, regret=None) for row in evaluate(models, stream, seed=SEED).rows]


def told(make, learner, stream, classes):
    """The rows of an evaluation, and all that the scheme reported meanwhile but seconds."""
    model, reports = make(learner, seed=SEED, classes=classes), []
    learn = model.learn

    def keep(X, y):
        reports.append(learn(X, y))
        return reports[-1]

    model.learn = keep
    rows = [replace(row, seconds=0.0, regret=None) for row in evaluate(model, stream, seed=SEED).rows]
    return rows, [{k: v for k, v in report.line().items() if k != "seconds"} for report in reports]


# Replays


@pytest.mark.parametrize("name", SCHEMES)
def test_a_replay_is_the_live_run_bit_for_bit(played, name):
    """Accuracy, log-loss, who was chosen, with which weights, and why."""
    learner, recording = played
    live = told(SCHEMES[name], LogProbs(learner, len(recording.classes)), STREAM, recording.classes)
    assert told(SCHEMES[name], recording.learner(), recording.stream, recording.classes) == live
    assert name != "spanwise" or "better than" in live[1][-1]["why"]


@pytest.mark.parametrize("name", ["linear", "mlp-fast", "naive-bayes", "hoeffding-tree"])
def test_what_we_recommend_is_replayed_as_in_the_suite_bit_for_bit(name, tmp_path):
    """With all its copies and starts, past the rounds from which starts are left out."""
    if name in RIVER:
        pytest.importorskip("river")
    learner, stream = make(name, "array", 4), replace(STREAM, rounds=24, size=40, classes=range(4), at=(18,))
    record(learner, stream, covers(len(stream), copies_of(learner), name), SEED, tmp_path / name)
    recording = Recording(tmp_path / name)
    recommended = partial(Spanwise, copies=copies_of(learner))
    live = told(recommended, LogProbs(learner, 4), stream, recording.classes)
    assert told(recommended, recording.learner(), recording.stream, recording.classes) == live
    assert all(report["why"] for report in live[1][1:])


def test_schemes_side_by_side_on_one_recording_equal_schemes_that_share(played):
    learner, recording = played
    shared = Shared(LogProbs(learner, len(recording.classes)))
    replayed = rows_of(SCHEMES, recording.learner(), recording.stream, recording.classes)
    assert replayed == rows_of(SCHEMES, shared, STREAM, recording.classes)
    chosen = {row.chosen for row in replayed if row.scheme == "spanwise"}
    assert len(chosen) > 1, f"nothing was at stake: spanwise chose {chosen} throughout"


def test_texts_whose_features_are_shared_are_replayed_bit_for_bit(tmp_path):
    words = [["oil falls", "cup final", "oil again", "a goal"], ["oil", "goal", "vote", "the vote"]] * 4
    stream = [(texts, ["m", "s", "m", "s"] if t % 2 else ["m", "s", "p", "p"]) for t, texts in enumerate(words, 1)]
    learner = Featured(Words(64), SGDClassifier(loss="log_loss"))
    record(learner, stream, COVERS, SEED, tmp_path / "texts")
    recording = Recording(tmp_path / "texts")
    assert recording.classes == ["m", "p", "s"], "sorted, whenever they appear"
    live = LogProbs(learner, 3)
    assert rows_of(SCHEMES, recording.learner(), recording.stream, recording.classes) == rows_of(
        SCHEMES, live, stream, recording.classes
    )


def test_the_stream_of_a_recording_has_the_labels_and_shifts_of_the_recorded_one(recording):
    assert len(recording.stream) == len(STREAM)
    for ours, theirs in zip(recording.stream, STREAM, strict=True):
        assert ours.y.tolist() == theirs.y.tolist()
        assert (ours.shift, len(ours.X)) == (theirs.shift, len(theirs.X))
    assert len({int(row) for X, _ in recording.stream for row in X[:, 0]}) == len(recording.y)


def test_all_instances_that_any_cover_wants_are_recorded_and_no_others(recording):
    for t in range(1, len(STREAM) + 1):
        begin, end = recording.instance_ends[t - 1 : t + 1]
        wanted = {(span.start, span.copy) for cover in COVERS for span in cover.active(t)}
        assert {(start, copy) for start, copy in recording.instances[begin:end].tolist()} == wanted
        assert recording.said(t).shape == (len(wanted), 30, 4)


def test_seconds_charged_are_those_recorded(recording):
    recording = Recording(recording.path)
    recording.seconds = np.zeros_like(recording.seconds)
    recording.seconds[:] = 1.0, 100.0  # to learn, and to be asked
    models = {
        "ensemble": PlainEnsemble(learner := recording.learner(), copies=4, classes=recording.classes, seed=SEED),
        "plain": Plain(learner, classes=recording.classes, seed=SEED),
    }
    rows = evaluate(models, recording.stream, seed=SEED).rows
    asked_twice = 2 * 100  # to predict, and to be judged once the labels are there
    for row in rows:
        members = {"ensemble": 4, "plain": 1}[row.scheme]
        expected = members * (1 + asked_twice) if row.round > 1 else members
        assert row.seconds == pytest.approx(expected, abs=0.5), row


def test_a_scheme_put_aside_and_taken_up_again_replays_on(recording, tmp_path):
    batches = list(recording.stream)
    one = Spanwise(recording.learner(), copies=3, seed=SEED, classes=recording.classes)
    for X, y in batches[:6]:
        one.learn(X, y)
    one.save(tmp_path / "aside")
    other = Spanwise.load(tmp_path / "aside", recording.learner())
    for X, y in batches[6:]:
        assert np.array_equal(one.predict_proba(X), other.predict_proba(X))
        checks.assert_same_report(other.learn(X, y), one.learn(X, y))


# What cannot be replayed


def play_all(model, stream):
    for X, y in stream:
        model.learn(X, y)


def test_an_instance_that_was_not_recorded_is_named(recording):
    model = PlainEnsemble(recording.learner(), copies=5, seed=SEED, classes=recording.classes)
    with pytest.raises(SettingError, match=r"copy 4 was not recorded for round 1: record .* anew with a cover"):
        play_all(model, recording.stream)


def test_schemes_that_hold_rows_out_are_refused(recording):
    with pytest.raises(SettingError, match=r"27 rows of round 1 are to be trained on, but .* all 30"):
        play_all(AWE(recording.learner(), seed=SEED, classes=recording.classes), recording.stream)
    engine = recording.learner().engine()
    with pytest.raises(SettingError, match="rows of several rounds"):
        engine.logits([Span(1)], np.arange(40)[:, None])


def test_another_seed_and_unmerged_spans_are_refused(recording):
    with pytest.raises(SettingError, match="recorded with seed 3"):
        Plain(recording.learner(), seed=4)
    with pytest.raises(SettingError, match="unmerged"):
        AWE(recording.learner(), seed=SEED, literal=True, horizon=16)
    with pytest.raises(SettingError, match="unmerged"):
        record(Scaled(), STREAM, [LiteralMRI(16)], SEED, recording.path.with_name("literal"))


def test_a_scheme_that_numbers_classes_otherwise_is_refused(recording):
    scheme = Spanwise(recording.learner(), copies=3, seed=SEED)  # numbers them as they come
    with pytest.raises(SettingError, match="are not numbered as in"):
        evaluate({"spanwise": scheme}, recording.stream, seed=SEED)


def test_a_stream_that_has_changed_since_it_was_recorded_is_refused(recording):
    recording.check_is_of(STREAM)
    for other in (replace(STREAM, seed=2), replace(STREAM, rounds=13), replace(STREAM, rounds=15)):
        with pytest.raises(SettingError, match="recorded of another stream: they part at round"):
            recording.check_is_of(other)


def test_rounds_out_of_order_late_starts_and_other_rows_are_refused(recording):
    first, second, *_ = recording.stream
    model = Plain(recording.learner(), seed=SEED, classes=recording.classes)
    with pytest.raises(SettingError, match="rows of round 2 came after 0 rounds"):
        model.learn(second.X, second.y)
    model.learn(first.X, first.y)
    with pytest.raises(SettingError, match="rows of round 1 came after 1 rounds"):
        model.predict(first.X)
    for X in ([[0]], np.zeros((3, 1)), np.zeros((0, 1), dtype=int), np.zeros(3, dtype=int)):
        with pytest.raises(DataError, match="play its own `stream`"):
            recording.round_of(X)
    with pytest.raises(SettingError, match="start 3 is to begin at round 1"):
        Pool(recording.learner(), SEED).advance([Span(3)])
    for work in (lambda one: one.learn(first.X, first.y), lambda one: one.logits(first.X)):
        with pytest.raises(SettingError, match="make a scheme around it"):
            work(recording.learner().fresh(0))


def test_some_rows_of_a_round_can_be_asked_for(recording):
    engine = recording.learner().engine()
    (X, _), *_ = recording.stream
    whole, part = engine.logits([Span(1)], X)[0], engine.logits([Span(1)], X[[4, 2]])[0]
    assert np.array_equal(part, whole[[4, 2]])


# On disk


class Empty(list):
    """A stream that has classes and no rounds."""

    classes = ("a", "b")


def content(path):
    return {file.name: file.read_bytes() for file in path.iterdir() if file.name != "seconds.npy"}


def test_recorded_twice_is_the_same_but_for_seconds(recording, tmp_path):
    seen = []
    record(Scaled(), STREAM, COVERS, SEED, tmp_path / "again", seen.append)
    assert content(tmp_path / "again") == content(recording.path)
    assert seen == list(range(1, 15))
    assert set(content(recording.path)) == {"recording.json", "index.npz", "logprobs.f32"}
    record(Scaled(), STREAM, COVERS, SEED + 1, tmp_path / "other")
    assert content(tmp_path / "other") != content(recording.path)


KILLED = """
import os, signal, sys
from spanwise.adapters.functions import majority_class
from spanwise.bench.suite.record import record
from spanwise.core.spans import MRI
from spanwise.streams import Abrupt
def die(t):
    if t == 5:
        os.kill(os.getpid(), signal.SIGKILL)
record(majority_class(), Abrupt(rounds=9, size=10), [MRI()], 0, sys.argv[1], die if sys.argv[2:] else None)
"""


def test_a_recording_that_was_killed_is_none_and_is_made_again(tmp_path):
    script, path = tmp_path / "killed.py", tmp_path / "records" / "one"
    script.write_text(textwrap.dedent(KILLED))
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    killed, again = (
        subprocess.run([sys.executable, str(script), str(path), *more], env=environment, check=False)
        for more in (["die"], [])
    )
    assert (killed.returncode, again.returncode) == (-signal.SIGKILL, 0)
    assert [file.name for file in path.parent.iterdir()] == ["one"], "nothing is left beside it"
    assert len(Recording(path).stream) == 9


def test_a_recording_that_fails_leaves_nothing_to_read(tmp_path):
    def stop(t):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record(Scaled(), STREAM, COVERS, SEED, tmp_path / "one", stop)
    with pytest.raises(SnapshotError, match="is no recording"):
        Recording(tmp_path / "one")
    record(Scaled(), STREAM, COVERS, SEED, tmp_path / "one")
    with pytest.raises(SettingError, match="there already"):
        record(Scaled(), STREAM, COVERS, SEED, tmp_path / "one")


@pytest.mark.parametrize("file", ["recording.json", "index.npz", "seconds.npy", "logprobs.f32"])
def test_a_torn_recording_is_refused(tmp_path, file):
    record(Scaled(), STREAM, [MRI()], SEED, tmp_path / "one")
    torn = tmp_path / "one" / file
    os.truncate(torn, torn.stat().st_size // 2)
    with pytest.raises(SnapshotError, match="torn"):
        Recording(tmp_path / "one")


def test_a_recording_of_another_format_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(recorder, "FORMAT", 9)
    record(Scaled(), STREAM, [MRI()], SEED, tmp_path / "one")
    with pytest.raises(SnapshotError, match="has format 9"):
        Recording(tmp_path / "one")


@pytest.mark.parametrize(
    ("stream", "told"),
    [
        ([], "not a single label"),
        (Empty(), "not a single round"),
        ([(np.zeros((2, 1)), ["a", None])], "round 1 has 2 rows and 1 labels"),
        ([(np.zeros((0, 1)), [])], "round 1 has 0 rows"),
        ([(np.zeros((2, 1)), [(1, 2), (3, 4)])], "use strings or numbers"),
    ],
)
def test_what_cannot_be_recorded_is_told(stream, told, tmp_path):
    with pytest.raises(DataError, match=told):
        record(checks.centroids(), stream, [MRI()], 0, tmp_path / "one")
    assert not (tmp_path / "one").exists()


def test_instances_are_timed_by_themselves_unless_they_share_work(tmp_path):
    for name, learner in {"apart": checks.centroids(), "together": Threaded(checks.centroids(), 2)}.items():
        record(learner, checks_stream(), [Copies(6)], SEED, tmp_path / name)
    apart, together = (Recording(tmp_path / name).seconds for name in ("apart", "together"))
    assert content(tmp_path / "apart") == content(tmp_path / "together")
    assert len(np.unique(apart[:6, 0])) > 1
    assert len(np.unique(together[:6, 0])) == 1
    assert (apart > 0).all()


def checks_stream():
    return list(checks.toy_batches(4))


# Log-probabilities


@pytest.mark.parametrize("check", checks.LEARNER, ids=lambda check: check.__name__)
def test_log_probs_obey_the_laws_of_learners(check):
    check(LogProbs(checks.centroids(), 3))


def test_log_probs_are_as_wide_as_told_whatever_the_learner_says():
    narrow, wide = np.array([[2.0, 1.0]]), np.array([[2.0, 1.0, 0.0, 5.0]])
    for logits in (narrow, wide, np.asfortranarray(np.repeat(narrow, 5, axis=0))):
        said = log_probs(logits, len(logits), 3, Span(1))
        assert np.array_equal(said, log_softmax(np.array([[2.0, 1.0, 0.0]] * len(logits))).astype(np.float32))
        assert said.dtype == np.float32
        assert said.flags.c_contiguous
    assert np.array_equal(log_probs(np.zeros((2, 0)), 2, 4, Span(1)), np.full((2, 4), -np.log(4), dtype=np.float32))
    with pytest.raises(LearnerError, match="started at round 7 answered nan"):
        log_probs(np.array([[np.nan]]), 1, 1, Span(7))
    with pytest.raises(SettingError, match="classes=0"):
        LogProbs(checks.centroids(), 0)


def test_the_loop_within_is_the_learners_own():
    asked = []

    class Own(Loop):
        def logits(self, spans, X):
            asked.append(len(spans))
            return super().logits(spans, X)

    class Together(checks.centroids().__class__):
        def engine(self):
            return Own(self)

    class Elsewhere:
        fresh = learn = logits = lambda *_: None

        def engine(self):
            return object()

    play_all(PlainEnsemble(LogProbs(Together(*checks.centroids().functions), 3), copies=3), checks_stream())
    assert max(asked) == 3
    assert LogProbs(Elsewhere(), 3).engine() is None


def test_a_scheme_around_log_probs_is_saved_without_pickle(tmp_path):
    learner = LogProbs(SGDClassifier(loss="log_loss"), 3)
    model = Spanwise(learner, copies=2, classes=range(3))
    *before, last = checks_stream()
    play_all(model, before)
    model.save(tmp_path / "saved")
    again = Spanwise.load(tmp_path / "saved", learner)
    assert np.array_equal(again.predict_proba(last.X), model.predict_proba(last.X))
    assert snapshot.read(tmp_path / "saved")["scheme"] == "Spanwise"
