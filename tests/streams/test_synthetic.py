"""Streams that know their truth must know the truth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from spanwise.errors import SettingError
from spanwise.streams import Abrupt, Batch, CovariateShift, Gradual, LabelShift, Recurring, Stationary, Stream

ALL = [Stationary, Abrupt, Recurring, Gradual, LabelShift, CovariateShift]
every_stream = pytest.mark.parametrize("make", ALL, ids=lambda make: make.__name__)


def sample(stream, t, n=20_000, seed=0):
    """Many points of the distribution of round `t`."""
    return stream.concept(t).draw(n, np.random.default_rng(seed))


def distance(stream, t, u):
    """How far apart two rounds are, by what tells their distributions apart: class shares and class means."""
    k = len(stream.classes)
    summary = []
    for at in (t, u):
        X, y = sample(stream, at)
        shares = np.bincount(y, minlength=k) / len(y)
        means = [X[y == c].mean(axis=0) if (y == c).any() else np.zeros(X.shape[1]) for c in range(k)]
        summary.append((shares, np.array(means)))
    (shares, means), (other_shares, other_means) = summary
    return max(np.abs(shares - other_shares).max(), np.abs((means - other_means) * shares[:, None]).max())


@every_stream
def test_iterating_again_yields_identical_batches(make):
    stream = make(rounds=12)
    for one, again in zip(stream, stream, strict=True):
        for a, b in ((one.X, again.X), (one.y, again.y), (one.best, again.best)):
            np.testing.assert_array_equal(a, b)
        assert one.shift == again.shift


def test_a_new_concept_owes_nothing_to_those_before():
    """Over many concepts, the mean of a class points nowhere."""
    means = np.array([Abrupt(rounds=400, every=1).concept(t).means for t in range(1, 401)])
    length = np.linalg.norm(means[0, 0])
    assert np.abs(means.mean(axis=0)).max() < 4.5 * length / np.sqrt(400 * means.shape[2])


@every_stream
def test_another_seed_yields_another_stream(make):
    for one, other in zip(make(rounds=3, seed=0), make(rounds=3, seed=1), strict=True):
        assert not np.array_equal(one.X, other.X)
    ours, theirs = (make(seed=seed).concept(1).draw(1, np.random.default_rng(0))[0] for seed in (0, 1))
    assert not np.array_equal(ours, theirs), "the same noise, so the concepts must differ"


@every_stream
def test_batches_have_the_shape_that_was_asked_for(make):
    stream = make(rounds=5, size=7, features=6, classes=("a", "b", "c"))
    batches = list(stream)
    assert isinstance(stream, Stream)
    assert len(batches) == len(stream) == 5
    for batch in batches:
        assert isinstance(batch, Batch)
        assert batch.X.shape == (7, 6)
        assert batch.y.shape == batch.best.shape == (7,)
        assert set(batch.y.tolist()) | set(batch.best.tolist()) <= {"a", "b", "c"}


@every_stream
@pytest.mark.parametrize("seed", [0, 1])
def test_no_linear_classifier_fitted_to_the_round_beats_the_best(make, seed):
    stream = make(seed=seed)
    for t in (1, 77, 160):
        X, y = sample(stream, t, seed=1)
        fitted = LinearDiscriminantAnalysis().fit(*sample(stream, t, seed=2)).predict(X)
        noise = 3 * np.sqrt(0.25 / len(y))
        assert (stream.concept(t).best(X) == y).mean() >= (fitted == y).mean() - noise, f"{t=}"


@every_stream
def test_the_best_classifier_is_neither_perfect_nor_poor(make):
    right = np.concatenate([batch.best == batch.y for batch in make()])
    assert 0.84 < right.mean() < 0.96


@every_stream
def test_shifts_are_marked_where_the_distribution_jumps_and_nowhere_else(make):
    stream = make()
    marked = [t for t, batch in enumerate(stream, start=1) if batch.shift]
    assert marked == stream.shifts
    for t in stream.shifts:
        assert distance(stream, t - 1, t) > 0.2, f"{t=} is marked"
    between = [t for t in range(2, 200, 13) if t not in stream.shifts]
    for t in between:
        assert distance(stream, t - 1, t) < 0.06, f"{t=} is not marked"


@given(rounds=st.integers(1, 60), every=st.integers(1, 70))
@settings(max_examples=30, deadline=None)
def test_evenly_spaced_shifts_come_every_so_many_rounds(rounds, every):
    expected = [t for t in range(2, rounds + 1) if (t - 1) % every == 0]
    for make in (Abrupt, Recurring, LabelShift, CovariateShift):
        assert make(rounds=rounds, every=every).shifts == expected


@settings(max_examples=30, deadline=None)
@given(at=st.lists(st.integers(2, 40), unique=True))
def test_given_shifts_happen_in_the_rounds_given(at):
    assert Abrupt(rounds=40, at=at).shifts == sorted(at)


def test_what_an_earlier_concept_taught_is_wrong_after_a_shift():
    for make in (Abrupt, Recurring, CovariateShift):
        stream = make()
        for t in stream.shifts:
            X, y = sample(stream, t, seed=1)
            fitted = [LinearDiscriminantAnalysis().fit(*sample(stream, u, seed=2)) for u in (t, t - 1)]
            own, old = ((model.predict(X) == y).mean() for model in fitted)
            assert own > old + 0.1, f"{make.__name__} {t=}"


def test_recurring_concepts_come_back():
    stream = Recurring(concepts=3, every=10, rounds=70)
    for t in range(1, 41):
        np.testing.assert_array_equal(stream.concept(t).means, stream.concept(t + 30).means)
    assert stream.shifts == [11, 21, 31, 41, 51, 61]


def test_gradual_movement_keeps_every_round_equally_hard():
    stream = Gradual()
    for t in range(1, 201, 9):
        means = stream.concept(t).means
        apart = np.linalg.norm(means[:, None] - means[None], axis=2)[~np.eye(4, dtype=bool)]
        np.testing.assert_allclose(apart, 3.6)


def test_gradual_movement_ends_far_from_where_it_was_half_way():
    stream = Gradual()
    np.testing.assert_allclose(stream.concept(101).means, -stream.concept(1).means, atol=1e-9)


def test_label_shift_moves_the_priors_and_leaves_every_class_as_it_was():
    stream = LabelShift()
    X, y = sample(stream, 1, n=60_000)
    for t in (60, 110, 160):
        Z, z = sample(stream, t, n=60_000, seed=t)
        for c in range(4):
            noise = 5 * np.sqrt(1 / (y == c).sum() + 1 / (z == c).sum())
            assert np.abs(X[y == c].mean(axis=0) - Z[z == c].mean(axis=0)).max() < noise
        assert np.bincount(z).argmax() != np.bincount(y).argmax()


def test_covariate_shift_moves_the_points_and_leaves_what_they_mean():
    stream = CovariateShift(noise=0.2)
    everywhere = np.random.default_rng(0).normal(scale=5, size=(5_000, 10))
    for t in (60, 110, 160):
        np.testing.assert_array_equal(stream.concept(t).best(everywhere), stream.concept(1).best(everywhere))
        X, y = sample(stream, t)
        kept = (stream.concept(1).best(X) == y).mean()
        assert kept == pytest.approx(0.8 + 0.2 / 4, abs=0.015), "labels follow the one teacher, up to the noise"
        assert np.linalg.norm(X.mean(axis=0) - sample(stream, 1)[0].mean(axis=0)) > 3


@pytest.mark.parametrize(
    ("make", "settings", "says"),
    [
        (Stationary, {"rounds": 0}, "rounds=0"),
        (Stationary, {"size": 0}, "size=0"),
        (Stationary, {"classes": ["only"]}, "1 classes"),
        (Stationary, {"features": 3}, "at least as many features"),
        (Abrupt, {"every": 0}, "every=0"),
        (Recurring, {"concepts": 1}, "concepts=1"),
        (Gradual, {"features": 7}, "features=8"),
        (LabelShift, {"common": 0.25}, "common=0.25"),
        (CovariateShift, {"noise": 1.0}, "noise=1.0"),
    ],
)
def test_settings_out_of_range_are_refused_by_name(make, settings, says):
    with pytest.raises(SettingError, match=says):
        make(**settings)
