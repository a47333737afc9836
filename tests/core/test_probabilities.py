"""Probabilities do not depend on who else is asked, nor on how many rows are worked on at a time."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spanwise.core.probabilities import UNLIKELY, averages, likeliest, logarithms, softmax, softmax_each, weigh


@given(st.integers(1, 6), st.integers(1, 40), st.integers(1, 30), st.sampled_from(["float32", "float64"]))
def test_probabilities_are_the_same_bits_whoever_is_asked_beside(parts, n, classes, dtype):
    rng = np.random.default_rng(n)
    logits = [rng.normal(scale=5, size=(n, classes)).astype(dtype) for _ in range(parts)]
    for together, alone in zip(softmax_each(logits), map(softmax, logits), strict=True):
        assert together.dtype == alone.dtype
        assert np.array_equal(together.T, alone)


@given(st.integers(1, 40), st.integers(1, 30))
def test_one_of_less_precision_does_not_gain_any_beside_another(n, classes):
    one, other = np.random.default_rng(n).normal(scale=5, size=(2, n, classes))
    together = softmax_each([one.astype("float32"), other])
    assert np.array_equal(together[0].T, softmax(one.astype("float32")))
    assert np.array_equal(together[1].T, softmax(other))


@given(st.integers(1, 60), st.integers(1, 300), st.integers(1, 40), st.sampled_from(["float32", "float64"]))
def test_a_weighted_sum_is_the_one_that_is_added_up_by_hand(parts, n, classes, dtype):
    rng = np.random.default_rng(n)
    weights, numbers = rng.random(parts).tolist(), rng.random((parts, classes, n)).astype(dtype)
    by_hand = sum(weight * part for weight, part in zip(weights, numbers, strict=True))
    assert np.array_equal(weigh(weights, numbers), by_hand)
    assert weigh(weights, numbers).dtype == dtype


@given(st.integers(1, 4), st.integers(1, 20), st.integers(1, 4))
def test_the_likeliest_class_is_the_first_among_equals(parts, n, classes):
    scores = np.random.default_rng(n).integers(0, 3, size=(parts, classes, n)).astype(float)  # so few that many tie
    by_hand = [[row.tolist().index(max(row)) for row in part.T] for part in scores]
    assert likeliest(scores).tolist() == by_hand
    assert likeliest(scores[0]).tolist() == by_hand[0]
    assert likeliest(scores).dtype == np.intp


some_sizes = st.lists(st.integers(1, 3), min_size=1, max_size=4)


@given(st.integers(1, 40), st.integers(2, 40), some_sizes, st.booleans())
@example(27, 2, [1, 2], True)
def test_averages_are_the_same_bits_whoever_is_asked_beside_and_however_many_rows_at_a_time(n, classes, sizes, mixed):
    rng = np.random.default_rng(n)
    kinds = ["float32", "float64"] if mixed else ["float32"]
    groups = [[rng.normal(size=(n, classes)).astype(rng.choice(kinds)) for _ in range(size)] for size in sizes]
    together = averages(groups)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spanwise.core.probabilities.ROWS", 2)
        patch.setattr("spanwise.core.probabilities.CACHED", 12)
        assert np.array_equal(averages(groups), together)
    rows = [averages([[part[i : i + 1] for part in group] for group in groups]) for i in range(n)]
    assert np.array_equal(np.concatenate(rows, axis=2), together)
    for average, group in zip(together, groups, strict=True):
        assert np.array_equal(average, averages([group])[0])
        assert np.allclose(average.T, sum(map(softmax, group)) / len(group))


def test_no_rows_are_no_probabilities():
    assert softmax(np.zeros((0, 3))).shape == (0, 3)


def test_logarithms_are_those_of_what_is_likely_enough_and_leave_the_probabilities_as_they_were():
    proba = np.array([[0.0, 1e-9, 0.25], [1.0, 1.0, 0.75]])
    before = proba.copy()
    logs = logarithms(proba)
    assert logs.dtype == np.float32
    assert logs == pytest.approx(np.log(np.maximum(proba, UNLIKELY)), rel=1e-6)
    assert np.array_equal(proba, before)
    assert np.array_equal(logarithms(proba.astype(np.float32)), logs)
