"""Windows: laws, and slow transcriptions of what they are named after."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise import ARW, Decayed, Doubling, Fixed, Hoeffding
from spanwise.core.tally import Count, Tally
from spanwise.errors import SettingError

counts = st.lists(
    st.integers(0, 30).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), min_size=1, max_size=20
)


def tally_of(rounds):
    return Tally([Count(n, c, 0, 0) for n, c in rounds])


def simulate(accuracies, points, seed):
    rng = np.random.default_rng(seed)
    return tally_of([(points, int(rng.binomial(points, a))) for a in accuracies])


def test_hoeffding_sees_a_drop_that_the_printed_constants_never_see():
    """PAPER.md F10: 900 points a round; the printed threshold exceeds 1."""
    accuracies = [0.8] * 12 + [0.7] * 4
    for seed in range(10):
        tally = simulate(accuracies, 900, seed)
        assert Doubling().estimate(tally, None, 16).window == 16
        assert Hoeffding().estimate(tally, None, 16).window == 4


def test_hoeffding_hardly_ever_stops_without_a_shift():
    stops = sum(Hoeffding().estimate(simulate([0.8] * 32, 200, seed), None, 32).window < 32 for seed in range(300))
    assert stops / 300 <= 0.1


def test_hoeffdings_threshold_is_that_of_equal_rounds_as_written_down():
    n, horizon, delta = 400, 16, 0.1
    threshold = sqrt(log(2 * horizon * 2 * log(horizon, 2) ** 2 / delta) / (4 * n))
    inside, outside = (round(200 + 2 * n * gap) for gap in (threshold - 0.01, threshold + 0.01))
    assert Hoeffding(delta, horizon).estimate(tally_of([(n, inside), (n, 200)]), None, 2).window == 2
    assert Hoeffding(delta, horizon).estimate(tally_of([(n, outside), (n, 200)]), None, 2).window == 1


def slow_arw(values_by_round, delta, bound):
    """Values newest last; the formula of PAPER.md D.2 on powers of two and everything."""
    total = len(values_by_round)
    lengths = sorted({2**k for k in range(10) if 2**k <= total} | {total})
    stats = []
    for k in lengths:
        values = [v for round_values in values_by_round[-k:] for v in round_values]
        if not values:
            continue
        n, mean = len(values), sum(values) / len(values)
        if n == 1:
            psi = max(bound, 1.0)
        else:
            sd = sqrt(max(0.0, sum((v - mean) ** 2 for v in values) / (n - 1)))
            psi = sd * sqrt(2 * log(2 / delta) / n) + 8 * bound * log(2 / delta) / (3 * (n - 1))
        stats.append((k, mean, psi))
    best = None
    for j, (k, mean, psi) in enumerate(stats):
        phi = max(max(0.0, abs(mean - m) - psi - p) for _, m, p in stats[: j + 1])
        if best is None or phi + psi < best[0] - 1e-12:
            best = (phi + psi, mean, k)
    return best[1], best[2]


@given(counts.filter(lambda rounds: any(n for n, _ in rounds)), st.sampled_from([0.0, 1.0]))
def test_arw_is_the_formula(rounds, bound):
    values = [[1.0] * c + [0.0] * (n - c) for n, c in rounds]
    mean, window = slow_arw(values, 0.1, bound)
    estimate = ARW(paired=False, bound=bound).estimate(tally_of(rounds), None, len(rounds))
    assert estimate.accuracy == pytest.approx(mean)
    assert estimate.window == window


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12))
def test_paired_arw_is_the_formula_on_differences(rounds):
    """won, lost and ties of each round; the reference is right where it wins, and on half of the ties."""
    if not any(map(sum, rounds)):
        return
    tally = Tally([Count(w + x + t, w + t // 2, w, x) for w, x, t in rounds])
    reference = Tally([Count(w + x + t, x + t // 2, 0, 0) for w, x, t in rounds])
    gap, window = slow_arw([[1.0] * w + [-1.0] * x + [0.0] * t for w, x, t in rounds], 0.1, 2.0)
    base, _ = slow_arw([[1.0] * (x + t // 2) + [0.0] * (w + t - t // 2) for w, x, t in rounds], 0.1, 1.0)
    estimate = ARW().estimate(tally, reference, len(rounds))
    assert estimate.accuracy == pytest.approx(min(1, max(0, base + gap)))
    if any(w or x for w, x, _ in rounds):
        assert estimate.window == window
    else:
        assert estimate == ARW(paired=False).estimate(reference, None, len(rounds))


def test_arw_shortens_after_a_shift_and_widens_without_one():
    assert ARW(paired=False).estimate(simulate([0.9] * 28 + [0.5] * 4, 100, 0), None, 32).window == 4
    assert ARW(paired=False).estimate(simulate([0.9] * 32, 100, 0), None, 32).window == 32


@given(counts, st.integers(1, 25))
def test_fixed_is_the_mean_of_the_last_rounds(rounds, length):
    last = rounds[-length:]
    points = sum(n for n, _ in last)
    estimate = Fixed(length).estimate(tally_of(rounds), None, len(rounds))
    if not points:
        assert estimate is None
    else:
        assert estimate == pytest.approx((sum(c for _, c in last) / points, len(last)))


@given(counts, st.floats(0.5, 0.99))
def test_decayed_is_the_weighted_mean_by_hand(rounds, decay):
    worth = [decay**age for age in reversed(range(len(rounds)))]
    points = sum(w * n for w, (n, _) in zip(worth, rounds, strict=True))
    estimate = Decayed(decay).estimate(tally_of(rounds), None, len(rounds))
    if not points:
        assert estimate is None
    else:
        right = sum(w * c for w, (_, c) in zip(worth, rounds, strict=True))
        assert estimate.accuracy == pytest.approx(right / points)


@pytest.mark.parametrize("make", [lambda: Fixed(0), lambda: Decayed(1.0), lambda: ARW(delta=0), lambda: Hoeffding(1.0)])
def test_settings_out_of_range_are_refused(make):
    with pytest.raises(SettingError):
        make()
