"""Algorithm 2: how far back the window reaches, and what stops it."""

from math import e, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.adapters.functions import FunctionLearner, majority_class
from spanwise.core.awe import AWE
from spanwise.core.refine import Doubling, Estimate, noise, refine_accuracy
from spanwise.core.tally import Count, Tally
from spanwise.errors import DataError, SettingError

SHIFTED = ([90_000, 90_000, *6 * [20_000]], 8 * [100_000])  # newest first


def slow(correct, total, horizon, delta, scale, c1, c2):
    """Algorithm 2 word for word; a window without points says nothing, so it is doubled."""
    tau, r = len(total), 1
    while r <= tau / 2:
        n, n2 = sum(total[:r]), sum(total[: 2 * r])
        if n > 0:
            threshold = scale * (sqrt(c1 * log(horizon / delta) / n) + sqrt(c2 * log(horizon) / n))
            if abs(sum(correct[:r]) / n - sum(correct[: 2 * r]) / n2) > threshold:
                return sum(correct[:r]) / n, r
        r = 2 * r
    return (sum(correct[:r]) / sum(total[:r]), r) if sum(total[:r]) else None


rounds = st.lists(
    st.integers(0, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=20
)


@given(
    rounds,
    st.integers(2, 2000),
    st.sampled_from([0.01, 0.1, 0.5]),
    st.sampled_from([0.0, 0.02, 0.05, 0.2, 1.0, 4.0]),
    st.sampled_from([0.0, 1.0, 3.0]),
    st.sampled_from([0.0, 0.5, 20.0]),
)
def test_equals_the_slow_transcription(counts, horizon, delta, scale, c1, c2):
    correct, total = [c for c, _ in counts], [n for _, n in counts]
    expected = slow(correct, total, horizon, delta, scale, c1, c2)
    if expected is None:
        with pytest.raises(DataError, match="not a single point"):
            refine_accuracy(correct, total, horizon=horizon, delta=delta, scale=scale, c1=c1, c2=c2)
    else:
        found = refine_accuracy(correct, total, horizon=horizon, delta=delta, scale=scale, c1=c1, c2=c2)
        assert found == expected
        accuracy, window = found
        assert window & (window - 1) == 0
        assert 1 <= window <= len(total)
        assert accuracy == sum(correct[:window]) / sum(total[:window])


def test_stops_at_the_shift():
    assert refine_accuracy(*SHIFTED, delta=0.05, horizon=8) == (0.9, 2)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 90)), min_size=1, max_size=16))
def test_as_printed_it_never_stops_below_1500_points(rounds):
    """However wild the accuracies: all right or all wrong, round by round."""
    total = [n for _, n in rounds]
    correct = [n if right else 0 for right, n in rounds]
    assert sum(total) < 1500
    longest = 2 ** (len(rounds).bit_length() - 1)
    if sum(total[:longest]):
        assert refine_accuracy(correct, total, horizon=16, delta=0.1)[1] == longest


def test_as_printed_it_can_stop_only_beyond_6021_points_a_block():
    """T = 16: two equal blocks, all right and then all wrong, differ by a half."""
    for n, window in ((6_021, 2), (6_022, 1)):
        assert refine_accuracy([n, 0], [n, n], horizon=16, delta=0.1)[1] == window


def test_rounds_without_points_neither_stop_nor_count():
    empty = refine_accuracy([0, 0, 0, 900, 100, 0, 0, 0], [0, 0, 0, 1000, 1000, 0, 0, 0], horizon=8, delta=0.1)
    assert empty == (0.5, 8)
    assert refine_accuracy([0, 90_000, 10_000, 10_000], [0, 100_000, 100_000, 100_000], horizon=8, delta=0.1) == (
        0.9,
        2,
    )
    with pytest.raises(DataError, match="not a single point"):
        refine_accuracy([0, 0, 5], [0, 0, 9], horizon=8, delta=0.1)


@pytest.mark.parametrize(
    ("honoured", "stopping", "going_on"),
    [
        ("delta", {"delta": 0.1}, {"delta": 1e-9}),
        ("horizon", {"horizon": 4}, {"horizon": 10**6}),
        ("scale", {"scale": 4.0}, {"scale": 6.0}),
        ("c1", {"c1": 1.0}, {"c1": 20.0}),
        ("c2", {"c2": 20.0}, {"c2": 60.0}),
    ],
)
def test_every_constant_is_honoured(honoured, stopping, going_on):
    """0.8 and then 0.2, so a difference of 0.3, which the printed constants just tell apart."""
    counts, usual = ([8_000, 2_000], [10_000, 10_000]), {"horizon": 4, "delta": 0.1}
    assert refine_accuracy(*counts, **{**usual, **stopping}) == (0.8, 1)
    assert refine_accuracy(*counts, **{**usual, **going_on}) == (0.5, 2), honoured


def test_the_noise_is_the_printed_formula():
    assert noise(50, 0.1, 16) == sqrt(log(160) / 50) + sqrt(20 * log(16) / 50)
    assert noise(50, 0.1, 16, c1=2, c2=3) == sqrt(2 * log(160) / 50) + sqrt(3 * log(16) / 50)
    assert noise(0, 0.1, 16) == float("inf")


def test_a_difference_of_exactly_the_threshold_goes_on():
    """Line 5 of Algorithm 2 doubles at `<=`; with a horizon of 1 and delta 1/e, the threshold is scale / sqrt(n)."""
    exact = {"horizon": 1, "delta": 1 / e, "c2": 0.0}
    assert noise(4, 1 / e, 1, c2=0.0) == 0.5
    assert refine_accuracy([4, 2], [4, 4], scale=0.5, **exact)[1] == 2
    assert refine_accuracy([4, 2], [4, 4], scale=0.499, **exact)[1] == 1


def test_without_a_horizon_it_is_the_next_power_of_two():
    tally = Tally([Count(10_000, 2_000, 0, 0), Count(10_000, 8_000, 0, 0)])
    for rounds, power in ((1, 2), (2, 2), (5, 8), (900, 1024), (1025, 2048)):
        assert Doubling().estimate(tally, None, rounds) == Doubling(horizon=power).estimate(tally, None, rounds)
    assert Doubling().estimate(tally, None, 2) == Estimate(0.8, 1)
    assert Doubling().estimate(tally, None, 10**7) == Estimate(0.5, 2)
    assert Doubling().estimate(Tally(), None, 3) is None


@pytest.mark.parametrize(
    ("settings", "window"),
    [({"horizon": 3, "literal": True}, 2), ({"horizon": 4}, 2), ({"horizon": 3}, 1), ({}, 1)],
    ids=["literal pads", "merged, 4", "merged takes 3 as it is", "no horizon: 2"],
)
def test_awe_hands_the_designed_horizon_to_the_noise(settings, window):
    """4,700 hold-out points a round, 0.9 and then 0.5: the threshold is passed for T = 2 and 3, and not for 4."""
    always_the_first = FunctionLearner(
        lambda seed: 0, lambda state, X, y: state, lambda state, X: np.tile([1.0, 0.0], (len(X), 1))
    )
    model = AWE(always_the_first, classes=[0, 1], split=lambda n, rng: (np.arange(1), np.arange(1, n)), **settings)
    n = 4_700
    for right in (0.1, 0.9):
        y = np.ones(n + 1, dtype=int)
        y[: 1 + round(right * n)] = 0
        report = model.learn(np.zeros((n + 1, 1)), y)
    assert report.windows[1] == window


@pytest.mark.parametrize(("correct", "total"), [([1], [1, 2]), ([3], [2]), ([-1], [2]), ([1, 1], [1, 0])], ids=str)
def test_counts_that_cannot_be_are_refused(correct, total):
    with pytest.raises(DataError, match="0 <= correct <= total"):
        refine_accuracy(correct, total, horizon=8, delta=0.1)


def test_no_rounds_at_all_are_refused():
    with pytest.raises(DataError, match="not a single point"):
        refine_accuracy([], [], horizon=8, delta=0.1)


@pytest.mark.parametrize("delta", [0, 1, -0.1, 1.5, float("nan")])
def test_delta_is_a_probability(delta):
    with pytest.raises(SettingError, match=f"delta={delta}"):
        refine_accuracy([1], [2], horizon=8, delta=delta)


@pytest.mark.parametrize("horizon", [0, -4])
def test_a_horizon_holds_at_least_one_round(horizon):
    with pytest.raises(SettingError, match=f"horizon={horizon}"):
        refine_accuracy([1, 1], [2, 2], horizon=horizon, delta=0.1)
    with pytest.raises(SettingError, match=f"horizon={horizon}"):
        AWE(majority_class(), horizon=horizon)
