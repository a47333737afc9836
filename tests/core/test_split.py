"""Line 9: a batch parted into a training fold and a hold-out fold."""

from functools import partial
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise import AWE, checks
from spanwise.core.evidence import HoldOut, Prequential, Unjudged
from spanwise.core.split import YOUR_OWN, check_fraction, leading, make_split, split_at_random, storable_split
from spanwise.errors import SettingError

fractions = st.sampled_from([0.01, 0.1, 0.5, 2 / 3, 0.9, 0.99, 1.0])


def rng(seed=0):
    return np.random.default_rng(seed)


@given(st.integers(1, 300), fractions, st.integers(0, 2**32))
def test_every_row_is_in_one_fold_and_both_keep_their_order(n, fraction, seed):
    train, held = split_at_random(n, fraction, rng(seed))
    assert sorted([*train, *held]) == list(range(n))
    assert sorted(train) == list(train)
    assert sorted(held) == list(held)


@given(st.integers(1, 300), fractions)
def test_the_training_fold_has_its_share_and_at_least_one_row(n, fraction):
    train, _ = split_at_random(n, fraction, rng())
    assert len(train) == max(1, floor(round(fraction * n, 9)))


@pytest.mark.parametrize("fraction", [0.1, 0.9, 1.0])
def test_a_round_of_one_row_holds_nothing_out(fraction):
    train, held = split_at_random(1, fraction, rng())
    assert (list(train), list(held)) == ([0], [])


@pytest.mark.parametrize("n", range(10, 1001, 110))
def test_shares_that_floats_cannot_hit_are_not_cut_short(n):
    """0.9 n is n / 10 * 9 for whole tens, and 1 - (1 - 0.9) means 0.9."""
    assert len(split_at_random(n, 0.9, rng())[0]) == n // 10 * 9
    assert len(HoldOut(1 - 0.9).divide(n, rng)[0]) == n // 10 * 9


def test_a_seed_repeats_a_split_and_another_gives_another():
    first, again, other = (split_at_random(100, 0.9, rng(seed))[1].tolist() for seed in (1, 1, 2))
    assert first == again != other


def test_every_row_is_held_out_equally_often():
    held = np.zeros(10)
    for seed in range(3000):
        held[split_at_random(10, 0.7, rng(seed))[1]] += 1
    assert abs(held / 3000 - 0.3).max() < 0.04


@given(st.integers(1, 100), fractions)
def test_an_unjudged_scheme_trains_on_the_rows_that_holdout_trains_on(n, fraction):
    train, held = HoldOut(1 - fraction).divide(n, partial(rng, 7))
    assert Unjudged(fraction).divide(n, partial(rng, 7))[0].tolist() == train.tolist()
    assert len(train) + len(held) == n


def test_your_own_split_is_taken_as_it_is_with_rows_left_out_if_it_says_so():
    train, held = make_split(5, 0.9, lambda n, rng: ([3, 0], [4]), rng())
    assert (train.tolist(), held.tolist()) == ([3, 0], [4])


def test_your_own_split_gets_the_rows_and_a_generator():
    def halves(n, rng):
        order = rng.permutation(n)
        return order[: n // 2], order[n // 2 :]

    first, again = (make_split(8, 0.9, halves, rng(3)) for _ in range(2))
    assert [part.tolist() for part in first] == [part.tolist() for part in again]


@pytest.mark.parametrize(
    ("train", "held"),
    [([], [0, 1]), ([0, 0], [1]), ([0, 1], [1]), ([0], [3]), ([-1], [0]), ([3], [])],
    ids=["nothing to train on", "twice", "in both", "held too far", "negative", "too far"],
)
def test_a_split_that_cannot_be_is_refused(train, held):
    with pytest.raises(SettingError, match=r"positions within 0\.\.2, none of them twice, and at least one"):
        make_split(3, 0.9, lambda n, rng: (train, held), rng())


@pytest.mark.parametrize("fraction", [0, -0.5, 1.1, float("nan")])
def test_a_training_share_lies_above_0_and_up_to_1(fraction):
    with pytest.raises(SettingError, match=f"train_fraction={fraction}"):
        check_fraction(fraction)


def test_a_snapshot_notes_a_split_of_your_own_and_writes_no_code():
    assert storable_split(None) is None
    assert storable_split(lambda n, rng: (range(n), [])) == YOUR_OWN


@pytest.mark.parametrize(("n", "training"), [(1, 1), (9, 8), (10, 9), (7446, 6701), (3890, 3501)])
def test_leading_trains_on_the_first_rows_and_rounds_down(n, training):
    train, held = leading(0.9)(n, np.random.default_rng(0))
    assert train.tolist() == list(range(training))
    assert held.tolist() == list(range(training, n))


def test_a_model_that_leads_is_loaded_without_being_told(tmp_path):
    model = AWE(checks.centroids(), split=leading(0.75))
    for X, y in checks.toy_batches(3):
        model.learn(X, y)
    model.save(tmp_path / "model")
    again = AWE.load(tmp_path / "model", checks.centroids())
    assert again.method.evidence.split == leading(0.75)


def test_a_generator_is_made_only_where_something_is_drawn():
    def draw():
        raise AssertionError("nothing is to be drawn here")

    for evidence in (Unjudged(), Prequential()):
        train, held = evidence.divide(5, draw)
        assert (train.tolist(), held.tolist()) == ([0, 1, 2, 3, 4], [])
