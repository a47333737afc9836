"""Snapshots: what is written comes back; what is torn, altered or foreign is refused; a crash loses nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from threading import Event, Thread
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from sklearn.linear_model import SGDClassifier

from spanwise import AWE, SAOL, HoldOut, Plain, Scheme, Span, checks, snapshot
from spanwise.core import rows
from spanwise.errors import SnapshotError

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | npst.arrays(st.sampled_from([np.float32, np.int64, np.bool_]), npst.array_shapes(min_dims=0, max_dims=2))
    | st.builds(Span, st.integers(), st.none() | st.integers()),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text(), inner)
        | st.dictionaries(st.integers(), inner)
        | st.tuples(inner, inner)
    ),
    max_leaves=8,
)


def equal(one, two):
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and np.array_equal(one, two, equal_nan=one.dtype.kind == "f")
    if isinstance(one, dict):
        return list(one) == list(two) and all(equal(one[k], two[k]) for k in one)
    if isinstance(one, list | tuple):
        return type(one) is type(two) and len(one) == len(two) and all(map(equal, one, two))
    return type(one) is type(two) and one == two


@given(value=values)
def test_what_is_written_comes_back(tmp_path_factory, value):
    folder = tmp_path_factory.mktemp("snapshot")
    snapshot.write(folder, value)
    assert equal(snapshot.read(folder), value)


def taught(make=AWE, rounds=5, **settings):
    model = make(checks.centroids(), **settings)
    for X, y in checks.toy_batches(rounds):
        model.learn(X, y)
    return model


def test_every_flipped_byte_is_noticed(tmp_path):
    taught().save(tmp_path)
    rng = np.random.default_rng(0)
    for file in sorted(tmp_path.iterdir()):
        whole = file.read_bytes()
        for at in rng.integers(0, len(whole), size=40):
            flipped = bytearray(whole)
            flipped[at] ^= 1 << int(rng.integers(8))
            file.write_bytes(bytes(flipped))
            with pytest.raises(SnapshotError):
                AWE.load(tmp_path, checks.centroids())
        file.write_bytes(whole)
    AWE.load(tmp_path, checks.centroids())


def test_a_torn_folder_is_refused_by_name(tmp_path):
    with pytest.raises(SnapshotError, match=r"no manifest\.json"):
        AWE.load(tmp_path, checks.centroids())
    taught().save(tmp_path)
    arrays = next(tmp_path.glob("arrays-*.npz"))
    arrays.write_bytes(arrays.read_bytes()[:-10])
    with pytest.raises(SnapshotError, match="checksum"):
        AWE.load(tmp_path, checks.centroids())
    arrays.unlink()
    with pytest.raises(SnapshotError, match="torn"):
        AWE.load(tmp_path, checks.centroids())


def test_another_format_is_refused_by_name(tmp_path):
    taught().save(tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    manifest["format"] = 99
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(SnapshotError, match="format 99"):
        AWE.load(tmp_path, checks.centroids())


def test_a_folder_is_loaded_as_what_it_is(tmp_path):
    taught(SAOL).save(tmp_path)
    with pytest.raises(SnapshotError, match=r"holds a SAOL: load it with SAOL\.load"):
        AWE.load(tmp_path, checks.centroids())
    assert isinstance(Scheme.load(tmp_path, checks.centroids()), Scheme)


def test_other_files_in_the_folder_are_left_alone(tmp_path):
    (tmp_path / "arrays-train.npz").write_bytes(b"mine")
    model = taught()
    model.save(tmp_path)
    model.learn(*next(checks.toy_batches(1, seed=3)))
    model.save(tmp_path)
    assert (tmp_path / "arrays-train.npz").read_bytes() == b"mine"
    (tmp_path / "manifest.json").write_text('{"name": "an app of mine"}')
    with pytest.raises(SnapshotError, match="of another program"):
        model.save(tmp_path)
    with pytest.raises(SnapshotError, match="another program"):
        AWE.load(tmp_path, checks.centroids())


def resigned(folder, **changes):
    """The manifest with changes and a checksum that fits, as a forger would write it."""
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest.pop("sha256")
    manifest.update(changes)
    manifest["sha256"] = snapshot._checksum(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        {"scheme": "AWE"},
        {"$": "array", "name": "nothing"},
        {"$": "part", "class": "spanwise.core.spans:Span", "state": {"wrong": 1}},
        {"$": "part", "class": "spanwise.core.nowhere:Span", "state": {}},
        {"$": "part", "class": "spanwise.cli.main:Commands", "state": {}},
        {"$": "part", "class": "spanwise.errors:DataError", "state": {}},
    ],
)
def test_a_forged_manifest_is_refused_and_imports_nothing(tmp_path, body):
    taught().save(tmp_path)
    resigned(tmp_path, body=body)
    with pytest.raises(SnapshotError):
        AWE.load(tmp_path, checks.centroids())


def test_a_reader_beside_a_writer_always_gets_a_whole_state(tmp_path):
    model, stop = taught(), Event()
    model.save(tmp_path)

    def write():
        while not stop.is_set():
            model.learn(*next(checks.toy_batches(1, seed=3)))
            model.save(tmp_path)

    writer = Thread(target=write)
    writer.start()
    rounds = [AWE.load(tmp_path, checks.centroids()).round for _ in range(100)]
    stop.set()
    writer.join(10)
    assert rounds == sorted(rounds)


@pytest.mark.parametrize("value", [Counter("aab"), np.ma.array([1.0, 2.0], mask=[True, False]), {1, 2}])
def test_what_would_change_its_type_is_refused(tmp_path, value):
    with pytest.raises(SnapshotError, match="cannot be written"):
        snapshot.write(tmp_path, value)


def test_numpy_scalars_keep_their_type(tmp_path):
    snapshot.write(tmp_path, [np.float32(0.1), np.int8(3), np.datetime64("2020-01-01")])
    again = snapshot.read(tmp_path)
    assert [type(value) for value in again] == [np.float32, np.int8, np.datetime64]


def test_an_array_in_several_places_is_written_once_and_is_one_again(tmp_path):
    shared, size = np.zeros(100_000), 8 * 100_000
    snapshot.write(tmp_path, {"here": shared, "there": [shared, shared], "apart": np.zeros(100_000)})
    assert 2 * size < sum(file.stat().st_size for file in tmp_path.iterdir()) < 2.1 * size
    back = snapshot.read(tmp_path)
    assert back["here"] is back["there"][0] is back["there"][1]
    assert back["apart"] is not back["here"]


def test_a_learner_of_another_kind_is_refused(tmp_path):
    taught().save(tmp_path)
    for learner in (SGDClassifier(), NotStateful()):
        with pytest.raises(SnapshotError, match="pass the learner it was saved with"):
            AWE.load(tmp_path, learner)


def test_a_state_that_cannot_be_written_goes_through_pickle_when_asked(tmp_path):
    model = Plain(SetState(), classes=[0, 1, 2])
    model.learn(*next(checks.toy_batches(1)))
    with pytest.raises(SnapshotError, match="pickle=True"):
        model.save(tmp_path)
    model.save(tmp_path, pickle=True)
    assert Plain.load(tmp_path, SetState(), pickle=True).round == 2


def test_a_folder_names_no_code_but_ours(tmp_path):
    for path in ("os:system", "spanwise.snapshot:os", "spanwise.core.awe:Nothing", "builtins:eval"):
        with pytest.raises(SnapshotError, match="no part of spanwise"):
            snapshot._decode({"$": "part", "class": path, "state": {}}, {})
    with pytest.raises(SnapshotError, match="cannot be written"):
        snapshot.write(tmp_path, {"code": print})


class NotStateful:
    def __init__(self):
        self.counts = np.zeros(3)

    def fresh(self, seed):
        return NotStateful()

    def learn(self, X, y):
        self.counts += np.bincount(y, minlength=3)

    def logits(self, X):
        return np.tile(self.counts, (len(X), 1))


def test_pickle_only_when_asked_for_by_name(tmp_path):
    model = Plain(NotStateful(), classes=[0, 1, 2])
    for X, y in checks.toy_batches(3):
        model.learn(X, y)
    with pytest.raises(SnapshotError, match="pickle=True"):
        model.save(tmp_path)
    assert not list(tmp_path.iterdir())
    model.save(tmp_path, pickle=True)
    with pytest.raises(SnapshotError, match="pickle=True"):
        Plain.load(tmp_path, NotStateful())
    again = Plain.load(tmp_path, NotStateful(), pickle=True)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    with pytest.raises(SnapshotError, match="holds a NotStateful"):
        Plain.load(tmp_path, checks.centroids(), pickle=True)


class SetState(NotStateful):
    def fresh(self, seed):
        return SetState()

    def state(self):
        return {"counts": {1, 2}}

    def restore(self, state):
        raise AssertionError


def halves(n, rng):
    return np.arange(n // 2), np.arange(n // 2, n)


def test_a_split_of_your_own_must_be_passed_again(tmp_path):
    model = taught(split=halves)
    model.save(tmp_path)
    with pytest.raises(SnapshotError, match="pass split= again"):
        AWE.load(tmp_path, checks.centroids())
    again = AWE.load(tmp_path, checks.centroids(), split=halves)
    for X, y in checks.toy_batches(3, seed=5):
        checks.assert_same_report(again.learn(X, y), model.learn(X, y))


def test_saving_again_replaces_and_leaves_nothing_behind(tmp_path):
    model = taught()
    model.save(tmp_path)
    model.learn(*next(checks.toy_batches(1, seed=3)))
    model.save(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    assert AWE.load(tmp_path, checks.centroids()).round == model.round


SAVER = """
import sys
from spanwise import AWE, checks
model = AWE(checks.centroids())
for X, y in checks.toy_batches(400):
    model.learn(X, y)
    model.save(sys.argv[1])
    print(model.round, flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("after", [0.05, 0.21, 0.4])
def test_killed_at_any_moment_the_last_acknowledged_state_is_there(tmp_path, after):
    with subprocess.Popen([sys.executable, "-c", SAVER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        first = process.stdout.readline()
        time.sleep(after)
        os.kill(process.pid, signal.SIGKILL)
        acknowledged = [int(line) for line in (first + process.stdout.read()).split()]
    model = AWE.load(tmp_path, checks.centroids())
    assert model.round in (acknowledged[-1], acknowledged[-1] + 1)
    twin = AWE(checks.centroids())
    for t, (X, y) in enumerate(checks.toy_batches(400), start=1):
        if t < model.round:
            twin.learn(X, y)
        elif t < model.round + 3:
            checks.assert_same_report(model.learn(X, y), twin.learn(X, y))


@pytest.mark.parametrize("kind", ["frame", "sparse", "strings", "objects", "dict"])
def test_hold_out_rows_of_any_container_survive(tmp_path, kind):
    pandas, sparse = pytest.importorskip("pandas"), pytest.importorskip("scipy.sparse")
    make = {
        "frame": lambda X: pandas.DataFrame({"a": X[:, 0], "b": [f"t{v:.0f}" for v in X[:, 1]]}),
        "sparse": lambda X: sparse.csr_matrix(X),
        "strings": lambda X: [f"word{v:.0f}" for v in X[:, 0]],
        "objects": lambda X: np.array([[f"t{v:.0f}", v] for v in X[:, 0]], dtype=object),
        "dict": lambda X: {"a": X[:, 0], "text": [f"word{v:.0f}" for v in X[:, 1]]},
    }[kind]
    learner = Hashing()
    model = AWE(learner, evidence=HoldOut(0.3))
    batches = [(make(X), y) for X, y in checks.toy_batches(8)]
    for X, y in batches[:5]:
        model.learn(X, y)
    model.save(tmp_path, pickle=True)
    again = AWE.load(tmp_path, learner, pickle=True)
    for X, y in batches[5:]:
        checks.assert_same_report(again.learn(X, y), model.learn(X, y))


def plain(row):
    if hasattr(row, "to_numpy"):
        return row.to_numpy().tolist()
    if hasattr(row, "toarray"):
        return row.toarray().tolist()
    return {name: plain(column) for name, column in row.items()} if isinstance(row, dict) else np.asarray(row).tolist()


class Hashing(NotStateful):
    """Answers with a hash of each row, so that no change of a row goes unnoticed."""

    def fresh(self, seed):
        return Hashing()

    def logits(self, X):
        told = [crc32(repr(plain(rows.take(X, np.array([i])))).encode()) for i in range(rows.count(X))]
        return np.array([[code >> shift & 7 for shift in (0, 3, 6)] for code in told]) + self.counts / 1e6
