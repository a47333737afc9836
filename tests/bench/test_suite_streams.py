"""Every stream of the suite is there, whole, and the same each time."""

import os
import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from spanwise.bench.suite.generated import Generated
from spanwise.bench.suite.sources import ArrayFile, Flat, phases
from spanwise.bench.suite.streams import HALF_YEAR, STREAMS
from spanwise.errors import DataError, SettingError
from spanwise.streams import Batch

SHARED = Path(os.environ.get("SPANWISE_SHARED", Path(__file__).parents[3] / "shared")) / "data"
REPLICATION = Path(os.environ.get("SPANWISE_REPLICATION", SHARED.parent / "replication"))
real_data = pytest.mark.skipif(not SHARED.is_dir(), reason=f"no real data: there is no folder {SHARED}")

FILES = {
    "electricity": "elec2.npz",
    "insects": "insects_gradual_balanced.npz",
    "huffpost-month": "huffpost.parquet",
    "arxiv-year": "arxiv.parquet",
    "rotating-mnist": "mnist.npz",
    "weather": "noaa_weather.npz",
    "rialto": "rialto.npz",
    "spam": "spam_corpus_bow.npz",
    "flights": "flights.parquet",
    "huffpost-year": "huffpost.parquet",
    "seasonal-cifar10": "cifar10_jpeg.parquet",
    "tweets": "tweets.parquet",
    "movies": "movies.parquet",
    "rodents": "rodents.parquet",
    "stops": "stops.parquet",
    "strikes": "strikes.parquet",
    "pizzas": "pizzas.parquet",
    "ratings": "ratings.parquet",
}
PICTURES = ("rotating-mnist", "seasonal-cifar10")
DRAWN = sorted(set(STREAMS) - set(FILES))

SHAPES = {  # rounds, rows, classes, columns
    "electricity": (135, 45_312, 2, 8),
    "insects": (97, 24_150, 6, 33),
    "huffpost-month": (77, 63_905, 11, None),
    "arxiv-year": (12, 24_000, 116, None),
    "weather": (100, 18_159, 2, 8),
    "rialto": (100, 82_250, 10, 27),
    "spam": (63, 6_213, 2, 499),
    "flights": (53, 327_346, 2, None),
    "huffpost-year": (7, 63_905, 11, None),
    "rotating-mnist": (60, 30_000, 10, 784),
    "seasonal-cifar10": (60, 30_000, 10, 768),
    "abrupt": (100, 30_000, 4, 10),
    "gradual": (100, 30_000, 4, 10),
    "stationary": (100, 30_000, 4, 10),
    "recurring": (100, 30_000, 4, 10),
    "label-shift": (100, 30_000, 4, 10),
    "covariate-shift": (100, 30_000, 4, 10),
    "second-stationary": (100, 30_000, 6, 20),
    "tweets": (97, 19_332, 3, None),
    "movies": (76, 29_894, 7, None),
    "rodents": (102, 34_247, 29, None),
    "stops": (54, 51_920, 2, None),
    "strikes": (88, 17_519, 8, None),
    "pizzas": (53, 49_574, 4, None),
    "ratings": (100, 99_997, 2, None),
    "sea": (100, 30_000, 2, 3),
    "agrawal": (100, 30_000, 2, 9),
    "sine": (100, 30_000, 2, 4),
    "led": (100, 30_000, 10, 24),
    "hyperplane": (100, 30_000, 2, 10),
    "moving-rbf": (100, 30_000, 4, 10),
    "stationary-waveform": (100, 30_000, 3, 21),
    "new-each-round": (100, 30_000, 4, 10),
}


def assert_whole(name, stream):
    """Lengths, labels and shapes are as expected; numbers are finite and texts not empty."""
    rounds, rows, classes, columns = SHAPES[name]
    seen, sizes = set(), []
    for X, y in stream:
        seen.update(np.asarray(y).tolist())
        sizes.append(len(y))
        if STREAMS[name].kind == "array":
            assert X.shape == (len(y), columns)
            assert np.isfinite(X).all()
        elif STREAMS[name].kind == "text":
            assert len(X) == len(y)
            assert all(X)
        else:
            assert {len(column) for column in X.values()} == {len(y)}
    assert (len(stream), len(sizes), sum(sizes)) == (rounds, rounds, rows)
    assert stream.classes == sorted(seen)
    assert len(seen) == classes


def assert_same(one, other):
    """Bit for bit, NaN included."""
    for (X, y), (twin, labels) in zip(one, other, strict=True):
        assert pickle.dumps(X) == pickle.dumps(twin)
        assert np.asarray(y).tolist() == np.asarray(labels).tolist()


def test_eight_streams_are_for_development_ten_confirm_fourteen_replicate_and_one_is_an_adversary():
    roles = [source.role for source in STREAMS.values()]
    assert Counter(roles) == {"development": 8, "confirmation": 10, "replication": 14, "adversary": 1}
    assert set(SHAPES) == set(STREAMS)


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_drawn_is_whole_and_needs_no_file(name, tmp_path):
    stream = STREAMS[name].open(tmp_path)
    assert_whole(name, stream)
    assert_same(stream, STREAMS[name].open(tmp_path))


@pytest.mark.parametrize("name", DRAWN)
def test_no_two_synthetic_streams_begin_alike_across_roles(name, tmp_path):
    """A confirmation stream drawn from the concepts of a development stream would confirm little."""
    first = next(iter(STREAMS[name].open(tmp_path))).X
    for other in DRAWN:
        roles = {STREAMS[other].role, STREAMS[name].role}
        if len(roles) == 2 and "adversary" not in roles:
            assert not np.array_equal(first, next(iter(STREAMS[other].open(tmp_path))).X), other


@real_data
@pytest.mark.parametrize("name", [n for n in FILES if n not in PICTURES and STREAMS[n].role != "replication"])
def test_what_is_read_is_whole_and_the_same_each_time(name):
    stream = STREAMS[name].open(SHARED)
    assert_whole(name, stream)
    assert_same(stream, stream)


@pytest.mark.skipif(not REPLICATION.is_dir(), reason="no files: benchmarks/replication_data.py writes them")
@pytest.mark.parametrize("name", [n for n in FILES if STREAMS[n].role == "replication"])
def test_what_replicates_is_whole_and_the_same_each_time(name):
    stream = STREAMS[name].open(REPLICATION)
    assert_whole(name, stream)
    assert_same(stream, stream)


@real_data
@pytest.mark.slow
@pytest.mark.parametrize("name", ["rotating-mnist", pytest.param("seasonal-cifar10", marks=pytest.mark.slow)])
def test_pictures_are_whole_and_the_same_each_time(name):
    stream = STREAMS[name].open(SHARED)
    assert_whole(name, stream)
    assert_same(stream, stream)


@real_data
@pytest.mark.parametrize(("name", "columns"), [("rotating-mnist", 784), ("seasonal-cifar10", 768)])
def test_pictures_come_as_rows_of_pixels(name, columns):
    stream = STREAMS[name].open(SHARED)
    batch = next(iter(stream))
    assert (len(stream), batch.X.shape, batch.X.dtype) == (60, (500, columns), np.float64)
    assert (batch.X.min(), batch.X.max()) == (0.0, 1.0)
    assert stream.classes == list(range(10))


class Pictures(list):
    classes = (0, 1)


def test_blocks_of_pixels_are_averaged_colour_by_colour():
    pictures = np.arange(2 * 3 * 4 * 4).reshape(2, 3, 4, 4)
    stream = [Batch(pictures, np.array([0, 1]))]
    (batch,) = Flat(Pictures(stream), block=2)
    assert batch.X.shape == (2, 3 * 2 * 2)
    assert batch.X[0, :4].tolist() == [2.5, 4.5, 10.5, 12.5]
    assert batch.X[1, -1] == pictures[1, 2, 2:, 2:].mean()


@real_data
def test_a_round_of_weather_is_half_a_year():
    sizes = [len(y) for _, y in STREAMS["weather"].open(SHARED)]
    assert set(sizes[:-1]) == {182, 183}
    assert abs(sum(sizes[:-1]) - 99 * HALF_YEAR) < 1


@real_data
def test_only_the_weather_of_flights_is_missing_and_only_numbers_are():
    missing = Counter()
    for X, _ in STREAMS["flights"].open(SHARED):
        for name, column in X.items():
            if column.dtype.kind == "f":
                missing[name] += int(np.isnan(column).sum())
            else:
                assert None not in column.tolist(), name
    assert set(+missing) == {"temp", "dewp", "humid", "wind_speed", "precip", "pressure", "visib"}
    assert missing.total() == 45_433


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_not_there_is_named(name, tmp_path):
    with pytest.raises(DataError, match=FILES[name]):
        STREAMS[name].open(tmp_path)


def write(path, **arrays):
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"X": np.zeros((2, 1))}, "cannot be read"),
        ({"X": np.zeros((2, 1)), "y": np.zeros(3)}, r"X \(2, 1\) and y \(3,\)"),
        ({"X": np.zeros((0, 1)), "y": np.zeros(0)}, "a row or more"),
        ({"X": np.array([[None]]), "y": np.zeros(1)}, "cannot be read"),
    ],
)
def test_arrays_that_are_no_stream_are_refused(arrays, said, tmp_path):
    with pytest.raises(DataError, match=said):
        ArrayFile(write(tmp_path / "few.npz", **arrays), every=1)


def test_a_file_that_is_no_archive_is_refused(tmp_path):
    (tmp_path / "few.npz").write_bytes(b"PK\x03\x04 not an archive")
    with pytest.raises(DataError, match=r"few\.npz cannot be read"):
        ArrayFile(tmp_path / "few.npz", every=1)


@pytest.mark.parametrize(("every", "sizes"), [(4, [4, 4, 2]), (5, [5, 5]), (20, [10]), (2.5, [2, 3, 2, 3])])
def test_rows_are_cut_in_order_and_none_is_lost(every, sizes, tmp_path):
    X, y = np.arange(20, dtype=np.float32).reshape(10, 2), np.arange(10, dtype=np.int8) % 3
    stream = ArrayFile(write(tmp_path / "few.npz", X=X, y=y), every)
    assert ([len(batch.y) for batch in stream], len(stream)) == (sizes, len(sizes))
    assert np.array_equal(np.concatenate([batch.X for batch in stream]), X)
    assert np.concatenate([batch.y for batch in stream]).tolist() == y.tolist()
    assert stream.classes == [0, 1, 2]


def test_a_learner_that_spoils_its_batch_does_not_spoil_the_stream(tmp_path):
    stream = ArrayFile(write(tmp_path / "few.npz", X=np.ones((4, 2)), y=np.zeros(4)), every=2)
    for batch in stream:
        batch.X[:] = -1
    assert all((batch.X == 1).all() for batch in stream)


def test_sources_can_be_sent_to_another_process():
    for name, source in STREAMS.items():
        assert pickle.loads(pickle.dumps(source)).role == source.role, name


@pytest.mark.parametrize("name", ["sea", "agrawal", "sine", "led"])
def test_a_phase_is_a_concept_of_its_own(name, tmp_path):
    """Who has learned a phase is more right about it than those who have learned another; and shifts are marked."""
    batches = list(STREAMS[name].open(tmp_path))
    assert [t for t, batch in enumerate(batches, start=1) if batch.shift] == [26, 51, 76]
    learners = [GaussianNB().fit(*join(batches[begin : begin + 20])) for begin in (0, 25, 50, 75)]
    for phase, ours in enumerate(learners):
        X, y = join(batches[25 * phase + 20 : 25 * phase + 25])
        others = [one.score(X, y) for one in learners if one is not ours]
        assert ours.score(X, y) > max(others), phase


def join(batches):
    return np.concatenate([batch.X for batch in batches]), np.concatenate([batch.y for batch in batches])


def test_phases_are_of_one_length():
    with pytest.raises(SettingError, match="5 rounds cannot be divided into 2"):
        Generated("SEA", phases("variant", 0, 1), rounds=5)
