"""Rotating digits: when they turn, and that they are still digits."""

import importlib
import sys
from time import process_time

import numpy as np
import pytest

from spanwise.errors import MissingExtraError, SettingError
from spanwise.streams import Stream
from spanwise.streams.digits import RotatingDigits, digits, rotated


@pytest.mark.parametrize("kind", ["abrupt", "gradual", "none"])
def test_batches_are_rows_of_64_values_between_0_and_1(kind):
    stream = RotatingDigits(kind=kind, rounds=100)
    assert isinstance(stream, Stream)
    batches = list(stream)
    assert len(batches) == len(stream) == 100
    for batch in batches:
        assert batch.X.shape == (60, 64)
        assert batch.X.min() >= 0
        assert batch.X.max() <= 1
        assert set(batch.y.tolist()) <= set(stream.classes)


@pytest.mark.parametrize("kind", ["abrupt", "gradual", "none"])
def test_digits_come_the_same_when_iterated_again_and_others_with_another_seed(kind):
    stream, other = RotatingDigits(kind=kind, rounds=80), RotatingDigits(kind=kind, rounds=80, seed=1)
    for a, b, c in zip(stream, stream, other, strict=True):
        np.testing.assert_array_equal(a.X, b.X)
        np.testing.assert_array_equal(a.y, b.y)
        assert not np.array_equal(a.X, c.X)


def test_the_angle_jumps_at_the_marked_rounds_and_an_old_angle_recurs():
    stream = RotatingDigits()
    assert [t for t, batch in enumerate(stream, start=1) if batch.shift] == stream.shifts == [71, 121, 181, 231]
    assert [stream.angle(t) for t in (1, 70, 71, 121, 181, 231, 300)] == [0, 0, 75, 160, 0, 110, 110]


def test_gradual_and_still_digits_never_jump():
    gradual, still = RotatingDigits(kind="gradual"), RotatingDigits(kind="none")
    steps = np.abs(np.diff([gradual.angle(t) for t in range(1, 301)]))
    assert 0 < steps.max() < 4
    assert gradual.shifts == still.shifts == []
    assert {still.angle(t) for t in range(1, 301)} == {0.0}


def test_an_angle_repeated_is_no_shift():
    assert RotatingDigits(rounds=30, angles=((1, 20.0), (10, 20.0), (20, 0.0))).shifts == [20]


def test_a_quarter_turn_moves_pixels_and_changes_none():
    images, _ = digits()
    quarter = rotated(images[:50], 90.0).reshape(-1, 8, 8)
    np.testing.assert_allclose(quarter, np.rot90(images[:50], axes=(1, 2)), atol=1e-12)


def test_no_digit_comes_twice_in_a_round():
    stream = RotatingDigits(kind="none", rounds=3, size=1797)
    for batch in stream:
        np.testing.assert_array_equal(np.bincount(batch.y), np.bincount(digits()[1]))


@pytest.mark.parametrize("kind", ["abrupt", "gradual"])
def test_a_pass_over_the_stream_takes_under_three_seconds(kind):
    begin = process_time()
    for _ in RotatingDigits(kind=kind):
        pass
    assert process_time() - begin < 3


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"kind": "sudden"}, "kind='sudden'"),
        ({"rounds": 0}, "rounds=0"),
        ({"size": 1798}, "size=1798"),
        ({"angles": ()}, "pairs"),
        ({"angles": ((5, 1.0), (2, 0.0))}, "ascending"),
    ],
)
def test_digit_settings_out_of_range_are_refused_by_name(settings, says):
    with pytest.raises(SettingError, match=says):
        RotatingDigits(**settings)


def test_without_scikit_learn_the_install_line_is_given(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    monkeypatch.delitem(sys.modules, "spanwise.streams.digits")
    with pytest.raises(MissingExtraError, match=r"scikit-learn.*pip install 'spanwise\[sklearn\]'"):
        importlib.import_module("spanwise.streams.digits")
