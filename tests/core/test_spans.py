"""Section 4.1: the spans of R and B, the merged pool, and what Theorem 3 promises of them."""

from fractions import Fraction
from itertools import combinations
from math import ceil, log2
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.adapters.functions import majority_class
from spanwise.core.awe import AWE
from spanwise.core.spans import MRI, Cover, LiteralMRI, Span, lowbit, power_of_two
from spanwise.errors import HorizonError, SettingError
from spanwise.schemes.covers import Geometric

POWERS = [8, 16, 64, 256]


def printed_spans(horizon):
    """R and B, from the formulas of section 4.1, cut at the horizon."""
    found = []
    for i in range(1, int(log2(horizon)) + 1):
        for k in range(1, horizon + 1):
            length = Fraction(horizon, 2 ** (i - 1))
            half = Fraction(horizon, 2**i)
            found.append((1 + (k - 1) * length, k * length, "R", i))
            found.append((1 + (k - 1) * length + half, k * length + 3 * half, "B", i))
    return [Span(int(a), int(min(b, horizon)), kind, i) for a, b, kind, i in found if a <= horizon]


def coverage(starts, shift, now):
    """Share of the rounds shift..now-1 that some instance has seen, with nothing older in it."""
    return Fraction(max((now - s for s in starts if s >= shift), default=0), now - shift)


def worst_coverage(cover, rounds):
    """The least coverage over every shift and every later round up to `rounds`, with where it occurs.

    The best instance for a shift is the earliest start at or after it, so for each round only the shift just after
    each start can be worst.
    """
    worst = (Fraction(1), 0, 0)
    for now in range(2, rounds + 1):
        starts = [*cover.starts(now), now]
        for before, after in zip([0, *starts], starts, strict=False):
            if before + 1 < now:
                worst = min(worst, (Fraction(now - after, now - before - 1), before + 1, now))
    return worst


@pytest.mark.parametrize("cover", [MRI(), LiteralMRI(256)], ids=["merged", "literal"])
def test_some_instance_has_seen_three_fifths_of_the_new_data_and_nothing_older(cover):
    """Theorem 3, at every shift and every later round up to 256, with its true constant."""
    alive = {now: cover.starts(now) for now in range(1, 257)}
    for shift, now in combinations(range(1, 257), 2):
        assert coverage(alive[now], shift, now) > Fraction(3, 5), f"{shift=} {now=}"


@pytest.mark.parametrize("horizon", [8, 16, 32, 64, 128, 256])
def test_three_fifths_is_approached_by_a_shift_at_round_2(horizon):
    ratio = Fraction(3 * horizon, 8) / (Fraction(5 * horizon, 8) - 1)
    for cover in (MRI(), LiteralMRI(horizon)):
        assert worst_coverage(cover, horizon)[0] == ratio
        assert coverage(cover.starts(5 * horizon // 8 + 1), 2, 5 * horizon // 8 + 1) == ratio


def test_the_quick_search_for_the_worst_coverage_finds_what_trying_all_pairs_finds():
    for cover in (MRI(2), MRI(4), MRI(6)):
        pairs = combinations(range(1, 65), 2)
        assert worst_coverage(cover, 64)[0] == min(coverage(cover.starts(now), shift, now) for shift, now in pairs)


@pytest.mark.parametrize(
    ("factor", "worst", "most", "mean"),
    [
        (2, (Fraction(256, 767), 2, 769), 11, 10.0),  # 0.334
        (3, (Fraction(256, 511), 2, 513), 20, 14.0),  # 0.501
        (4, (Fraction(128, 213), 2, 641), 20, 17.5),  # 0.601
        (6, (Fraction(128, 179), 2, 897), 28, 24.3),  # 0.715
        (8, (Fraction(448, 575), 2, 577), 36, 30.5),  # 0.779
    ],
)
def test_a_longer_life_covers_more_and_keeps_more_alive(factor, worst, most, mean):
    """By factor, over 1,024 rounds: worst coverage with its shift and round, most alive, mean alive."""
    cover = MRI(factor)
    sizes = [len(cover.starts(t)) for t in range(1, 1025)]
    assert worst_coverage(cover, 1024) == worst
    assert max(sizes) == most
    assert round(sum(sizes) / 1024, 1) == mean


@pytest.mark.parametrize("horizon", [8, 16, 32, 64, 128, 256])
def test_pool_sizes_reach_their_bounds_and_no_more(horizon):
    rounds = range(1, horizon + 1)
    assert max(len(MRI().spans(t, horizon)) for t in rounds) == 3 * log2(horizon) - 1
    assert max(len(LiteralMRI(horizon).active(t)) for t in rounds) == 3 * log2(horizon) - 1
    assert max(len(MRI().starts(t)) for t in rounds) == 2 * log2(horizon)


@pytest.mark.parametrize("horizon", POWERS)
def test_merged_equals_literal_by_starts(horizon):
    for t in range(1, horizon + 1):
        assert MRI().starts(t) == sorted({span.start for span in MRI().spans(t, horizon)})


@pytest.mark.parametrize("horizon", POWERS)
def test_the_spans_are_those_of_the_printed_formulas(horizon):
    printed = printed_spans(horizon)
    for t in range(1, horizon + 1):
        found = MRI().spans(t, horizon)
        assert sorted(found) == sorted(span for span in printed if span.start <= t <= span.end)
        assert found == sorted(found, key=lambda span: (span.start, span.resolution))


def test_b_is_twice_as_long_as_r_wherever_the_horizon_does_not_cut_it():
    lengths = {"R": set(), "B": set()}
    for span in printed_spans(256):
        if span.end < 256:
            lengths[span.kind].add((span.resolution, span.end - span.start + 1))
    assert {(i, 2 * length) for i, length in lengths["R"] if i > 2} == {s for s in lengths["B"] if s[0] > 2}
    for t in range(1, 257):
        for span in MRI().spans(t, 256):
            if span.end < 256:
                assert span.end - span.start + 1 == 2 ** (9 - span.resolution) * (2 if span.kind == "B" else 1)


@pytest.mark.parametrize("factor", [1, 2, 3, 4, 7])
def test_a_start_lives_its_factor_times_the_lowest_bit_before_it(factor):
    cover = MRI(factor)
    for t in range(1, 200):
        lives = [s for s in range(2, t + 1) if t < s + factor * lowbit(s - 1)]
        assert cover.starts(t) == [1, *lives]
        assert cover.active(t) == [Span(1, None), *(Span(s, s + factor * lowbit(s - 1) - 1) for s in lives)]


@given(t=st.integers(2, 10**12))
def test_at_most_two_logarithms_are_alive(t):
    assert len(MRI().starts(t)) <= 2 * (t - 1).bit_length()


@given(t=st.integers(1, 10**12), factor=st.integers(1, 8))
def test_every_round_has_start_1_and_a_newcomer_and_a_logarithmic_number_in_between(t, factor):
    starts = MRI(factor).starts(t)
    assert starts == sorted(set(starts))
    assert (starts[0], starts[-1]) == (1, t)
    assert len(starts) <= 1 + (factor + 1) / 2 * t.bit_length()


def test_a_late_round_costs_no_more_than_a_logarithm():
    begin = perf_counter()
    starts = MRI().starts(10**9)
    assert perf_counter() - begin < 0.05
    assert len(starts) == 2 * ceil(log2(10**9)) == 60


def test_geometric_covering_forgets_round_2_where_multi_resolution_does_not():
    """Appendix C.1: the shift came at round 2; at round 9 nobody of the geometric covering has seen more than one."""
    now, shift = 9, 2
    spans = {(span.start, span.end) for span in Geometric().intervals(now)}
    assert spans == {(9, 9), (8, 9), (8, 11), (8, 15)}
    assert sorted(now - start for start, _ in spans) == [0, 1, 1, 1]
    assert max(now - s for s in Geometric().starts(now) if s >= shift) == 1
    assert max(now - s.start for s in MRI().spans(now, 16) if s.start >= shift) == 6
    assert Span(3, 10, "B", 3) in MRI().spans(now, 16)


@pytest.mark.parametrize("k", range(2, 9))
def test_geometric_covering_has_one_round_in_all_just_after_a_power_of_two(k):
    now = 2**k + 1
    assert coverage([s for s in Geometric().starts(now) if s >= 2], 2, now) == Fraction(1, 2**k - 1)


def test_figure_1_round_9():
    """T = 16, and the distribution changed at round 3: who has seen how many of the six rounds since?"""
    seen = {(s.start, s.end): 9 - s.start for s in MRI().spans(9, 16) if 3 <= s.start < 9}
    assert seen == {(3, 10): 6, (5, 16): 4, (6, 9): 3, (7, 14): 2, (8, 11): 1}


@pytest.mark.parametrize("horizon", [5, 7, 12, 100])
def test_a_horizon_that_is_no_power_of_two_is_padded(horizon):
    for t in range(1, power_of_two(horizon) + 1):
        assert MRI().spans(t, horizon) == MRI().spans(t, power_of_two(horizon)) == LiteralMRI(horizon).active(t)


def test_after_the_last_round_the_literal_pool_stays_and_then_there_is_no_round():
    cover = LiteralMRI(7)
    assert cover.active(9) == cover.active(8)
    with pytest.raises(HorizonError, match=r"round 9 is past the horizon.*laid out for 8 rounds.*horizon=16"):
        cover.active(10)
    with pytest.raises(HorizonError, match="round 9 is past the padded horizon 8"):
        MRI().spans(9, 7)


def test_awe_learns_nothing_past_the_padded_horizon():
    model = AWE(majority_class(), horizon=3, literal=True)
    for _ in range(4):
        report = model.learn([[0.0]], ["a"])
    assert report.starts == (1, 2, 3, 4)
    with pytest.raises(HorizonError, match="round 5 is past the horizon"):
        model.learn([[0.0]], ["a"])
    assert model.round == 5


@pytest.mark.parametrize("factor", [0, -1])
def test_a_start_must_live(factor):
    with pytest.raises(SettingError, match=f"factor={factor}"):
        MRI(factor)


@pytest.mark.parametrize("t", [0, -3])
def test_rounds_count_from_1(t):
    for ask in (MRI().starts, MRI().active, lambda t: MRI().spans(t, 8), LiteralMRI(8).active):
        with pytest.raises(SettingError, match=f"round {t}: rounds count from 1"):
            ask(t)


def test_a_cover_of_your_own_needs_starts_alone():
    class EveryOther(Cover):
        def starts(self, t):
            return list(range(1, t + 1, 2))

    assert EveryOther().active(4) == EveryOther().intervals(4) == [Span(1), Span(3)]
