"""MNIST and CIFAR-10 that shift: when they do, and that they are still pictures."""

import importlib
import io
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from spanwise.errors import DataError, MissingExtraError, SettingError
from spanwise.streams import Stream
from spanwise.streams.images import (
    CHANGES,
    CorruptedImages,
    ImageStream,
    PriorDriftImages,
    RotatingImages,
    SeasonalImages,
    pictures,
)

SHARED = Path(os.environ.get("SPANWISE_SHARED", Path(__file__).parents[3] / "shared")) / "data"
real_data = pytest.mark.skipif(not SHARED.is_dir(), reason=f"no real data: there is no folder {SHARED}")
ALL = [ImageStream, RotatingImages, CorruptedImages, SeasonalImages, PriorDriftImages]
every_stream = pytest.mark.parametrize("make", ALL, ids=lambda make: make.__name__)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """600 digits and 300 things, each with its number in its first pixels."""
    folder = tmp_path_factory.mktemp("pictures")
    images = np.random.default_rng(0).integers(0, 256, (600, 28, 28), dtype=np.uint8)
    images[:, 0, 0], images[:, 0, 1] = np.arange(600) // 256, np.arange(600) % 256
    y = (np.arange(600) % 10).astype(np.uint8)
    np.savez(folder / "mnist.npz", x_train=images[:500], y_train=y[:500], x_test=images[500:], y_test=y[500:])
    return folder


@pytest.fixture(scope="module")
def colours(tmp_path_factory):
    image, pyarrow = pytest.importorskip("PIL.Image"), pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    folder, files = tmp_path_factory.mktemp("colours"), []
    for i in range(300):
        file = io.BytesIO()
        image.fromarray(np.full((32, 32, 3), (i % 250, 0, 200), dtype=np.uint8)).save(file, "JPEG", quality=95)
        files.append(file.getvalue())
    parquet.write_table(
        pyarrow.table({"jpeg": files, "label": [i % 10 for i in range(300)]}), folder / "cifar10_jpeg.parquet"
    )
    return folder


@every_stream
def test_batches_are_images_in_0_to_1_and_come_the_same_again(folder, make):
    stream = make(source="mnist", folder=folder, size=50)
    other = make(source="mnist", folder=folder, size=50, seed=1)
    assert isinstance(stream, Stream)
    assert len(list(stream)) == len(stream) == 16
    for a, b, c in zip(stream, stream, other, strict=True):
        assert (a.X.shape, a.X.dtype) == ((50, 1, 28, 28), np.float32)
        assert 0 <= a.X.min() <= a.X.max() <= 1
        assert set(a.y.tolist()) <= set(stream.classes)
        np.testing.assert_array_equal(a.X, b.X)
        np.testing.assert_array_equal(a.y, b.y)
        assert not np.array_equal(a.X, c.X)
    assert [t for t, batch in enumerate(stream, start=1) if batch.shift] == stream.shifts


@every_stream
def test_no_picture_comes_twice_in_a_round(folder, make):
    stream = make(source="mnist", folder=folder, size=60)
    for t in range(1, 17):
        assert len(set(stream.draw(t).tolist())) == 60


def test_no_picture_comes_again_before_all_have_been_shown(folder):
    stream = ImageStream(source="mnist", folder=folder, size=50)
    assert len({i for t in range(1, 13) for i in stream.draw(t).tolist()}) == 600


def test_labels_go_with_their_pictures(folder):
    for X, y in ImageStream(source="mnist", folder=folder, size=50):
        number = np.rint(X[:, 0, 0, :2] * 255).astype(int) @ (256, 1)
        np.testing.assert_array_equal(number % 10, y)


def test_pictures_in_colour_are_decoded_when_drawn(colours):
    stream = ImageStream(source="cifar10", folder=colours, size=30, rounds=3)
    for t, (X, y) in enumerate(stream, start=1):
        assert (X.shape, X.dtype) == ((30, 3, 32, 32), np.float32)
        np.testing.assert_allclose(X[:, 0, 16, 16], stream.draw(t) % 250 / 255, atol=0.02)
        np.testing.assert_allclose(X[:, 2, 16, 16], 200 / 255, atol=0.02)
        np.testing.assert_array_equal(y, stream.draw(t) % 10)
    assert pictures("cifar10", colours)[0].known.sum() == 90


def test_the_angle_jumps_at_the_marked_rounds(folder):
    stream = RotatingImages(source="mnist", folder=folder, size=20)
    still = ImageStream(source="mnist", folder=folder, size=20)
    assert stream.shifts == [5, 9, 13]
    same = [np.array_equal(a.X, b.X) for a, b in zip(stream, still, strict=True)]
    assert same == 4 * [True] + 8 * [False] + 4 * [True]


def test_a_quarter_turn_moves_pixels_of_each_channel_and_changes_none():
    images = np.random.default_rng(0).random((5, 3, 32, 32), dtype=np.float32)
    quarter = CHANGES["rotation"](images, 90.0, np.random.default_rng(0))
    np.testing.assert_allclose(quarter, np.rot90(images, axes=(2, 3)), atol=1e-5)


def test_gradual_angles_never_jump(folder):
    stream = RotatingImages(source="mnist", folder=folder, size=20, kind="gradual", angles=((1, 0.0), (16, 90.0)))
    assert stream.shifts == []
    assert [stream.change(t)[1] for t in (1, 6, 16)] == [0, 30, 90]


@pytest.mark.parametrize(("corruption", "level"), [("noise", 0.3), ("blur", 1.5), ("contrast", 0.5)])
def test_pictures_are_spoilt_more_and_more(folder, corruption, level):
    settings = {"corruption": corruption, "severity": ((1, 0.0), (12, level))}
    stream = CorruptedImages(source="mnist", folder=folder, size=50, rounds=12, **settings)
    still = ImageStream(source="mnist", folder=folder, size=50, rounds=12)
    away = [np.abs(a.X - b.X).mean() for a, b in zip(stream, still, strict=True)]
    assert away[0] == pytest.approx(0, abs=1e-6)
    assert all(np.diff(away) > 0)
    assert stream.shifts == []
    assert CorruptedImages(
        source="mnist", folder=folder, size=50, kind="abrupt", severity=((1, 0.0), (4, 0.3))
    ).shifts == [4]


def test_contrast_lost_leaves_the_mean_of_each_picture():
    images = np.random.default_rng(0).random((5, 3, 8, 8), dtype=np.float32)
    grey = CHANGES["contrast"](images, 1.0, np.random.default_rng(0))
    np.testing.assert_allclose(
        grey, np.broadcast_to(images.mean(axis=(1, 2, 3), keepdims=True), images.shape), atol=1e-6
    )


def test_seasons_come_back_in_turn(folder):
    stream = SeasonalImages(source="mnist", folder=folder, size=20)
    assert stream.shifts == [3, 5, 7, 9, 11, 13, 15]
    assert [stream.change(t)[0] for t in (1, 2, 3, 5, 7)] == ["rotation", "rotation", "rotation", "noise", "contrast"]
    assert [stream.change(t) for t in range(1, 9)] == [stream.change(t) for t in range(9, 17)]


def test_shares_of_classes_move_around_the_circle(folder):
    stream = PriorDriftImages(source="mnist", folder=folder, rounds=10, size=60)
    assert [int(stream.priors(t).argmax()) for t in range(1, 11)] == list(range(10))
    for t in range(1, 11):
        assert stream.priors(t).sum() == pytest.approx(1)
        np.testing.assert_allclose(stream.priors(t), np.roll(stream.priors(1), t - 1))
    drawn = [np.bincount(batch.y, minlength=10) for batch in stream]
    expected = [60 * stream.priors(t) for t in range(1, 11)]
    assert np.abs(np.array(drawn) - expected).mean() < 3


@pytest.mark.parametrize(
    ("make", "settings", "says"),
    [
        (ImageStream, {"source": "svhn"}, "source='svhn'"),
        (ImageStream, {"rounds": 0}, "rounds=0"),
        (ImageStream, {"size": 601}, "between 1 and 600"),
        (RotatingImages, {"kind": "sudden"}, "kind='sudden'"),
        (RotatingImages, {"angles": ((5, 1.0), (2, 0.0))}, "ascending"),
        (CorruptedImages, {"corruption": "snow"}, "'snow'"),
        (CorruptedImages, {"corruption": "contrast", "severity": ((1, 2.0),)}, "between 0 and 1"),
        (SeasonalImages, {"seasons": (("noise", 0.1),)}, "2 seasons"),
        (SeasonalImages, {"seasons": (("noise", -1.0), ("blur", 1.0))}, "noise of"),
        (PriorDriftImages, {"size": 61}, "at most 60"),
        (PriorDriftImages, {"width": 0.0}, "width=0"),
    ],
)
def test_image_settings_out_of_range_are_refused_by_name(folder, make, settings, says):
    with pytest.raises(SettingError, match=says):
        make(**{"source": "mnist", "folder": folder, "size": 20} | settings)


def test_a_missing_or_torn_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"no .*mnist\.npz.*keras"):
        ImageStream(source="mnist", folder=tmp_path)
    with pytest.raises(DataError, match=r"no .*cifar10_jpeg\.parquet.*jpeg and label"):
        ImageStream(source="cifar10", folder=tmp_path)
    (tmp_path / "mnist.npz").write_bytes(b"PK\x03\x04 torn")
    with pytest.raises(DataError, match="cannot be read"):
        ImageStream(source="mnist", folder=tmp_path)


def test_without_scipy_the_install_line_is_given(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.delitem(sys.modules, "spanwise.streams.images")
    with pytest.raises(MissingExtraError, match=r"scipy.*pip install 'spanwise\[sklearn\]'"):
        importlib.import_module("spanwise.streams.images")


@real_data
@pytest.mark.parametrize(("source", "shape"), [("mnist", (200, 1, 28, 28)), ("cifar10", (200, 3, 32, 32))])
def test_real_pictures_turn(source, shape):
    stream = RotatingImages(source=source, folder=SHARED, rounds=6, size=200)
    for X, y in stream:
        assert X.shape == shape
        assert len(np.unique(y)) == 10
