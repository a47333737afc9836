"""Covers against what the literature says of them."""

from itertools import combinations

import pytest

from spanwise import FLH, MRI, Geometric, OneResolution, ROnly
from spanwise.core.spans import lowbit
from spanwise.errors import SettingError
from spanwise.schemes.covers import Thinned, WithCopies


def coverage(cover, shift, now):
    """The share of the rounds shift..now-1 that some instance has seen, with nothing older."""
    seen = [now - start for start in cover.starts(now) if start >= shift]
    return max(seen, default=0) / (now - shift)


def worst_coverage(cover, horizon):
    return min(coverage(cover, shift, now) for shift, now in combinations(range(1, horizon + 1), 2))


def test_geometric_has_one_interval_a_level():
    for t in range(1, 200):
        intervals = Geometric().intervals(t)
        assert len(intervals) == t.bit_length()
        for level, span in enumerate(intervals):
            assert span.start % 2**level == 0
            assert span.start <= t <= span.end == span.start + 2**level - 1


def test_geometric_keeps_the_base_only_when_asked():
    assert 1 not in Geometric().starts(9)
    assert Geometric(base=True).starts(9) == [1, 8, 9]


def test_flh_is_the_papers_pool_counted_from_0_without_start_1():
    """PAPER.md C.4: lifetimes 2^(j+2) + 1 there, 2^(j+2) here."""
    for t in range(2, 300):
        shifted = {s + 1 for s in range(1, t) if s + 1 <= t <= s + 4 * lowbit(s)}
        assert set(MRI().starts(t)) == {1} | shifted
        assert set(FLH().starts(t)) == {s for s in range(1, t + 1) if t <= s + 4 * lowbit(s)}


def test_flh_has_somebody_born_in_the_first_half_since_any_round():
    for since, t in combinations(range(1, 200), 2):
        assert any(since <= start <= (since + t) / 2 for start in FLH().starts(t)), (since, t)


@pytest.mark.parametrize(("horizon", "mri", "flh"), [(16, 0.667, 0.70), (64, 0.615, 0.625), (256, 0.604, 0.606)])
def test_worst_coverage_is_as_worked_out(horizon, mri, flh):
    assert worst_coverage(MRI(), horizon) == pytest.approx(mri, abs=6e-4)
    assert worst_coverage(FLH(), horizon) == pytest.approx(flh, abs=6e-4)


def test_r_only_and_geometric_leave_some_shift_uncovered():
    assert worst_coverage(ROnly(), 64) == 0
    assert worst_coverage(Geometric(), 64) < 0.05


@pytest.mark.parametrize("length", [2, 4, 16])
def test_one_resolution_is_r_and_b_of_the_papers_pool_at_that_length(length):
    horizon = 64
    for t in range(1, horizon + 1):
        literal = {s.start for s in MRI().spans(t, horizon) if horizon >> (s.resolution - 1) == length}
        assert OneResolution(length).starts(t) == sorted(literal)
        assert 1 <= len(literal) <= 3


def test_r_only_is_r_of_the_papers_pool():
    for t in range(1, 65):
        assert ROnly().starts(t) == sorted({s.start for s in MRI().spans(t, 64) if s.kind == "R"})


def test_a_resolution_has_an_even_length():
    with pytest.raises(SettingError, match="even length"):
        OneResolution(length=3)


@pytest.mark.parametrize("every", [2, 4, 8])
def test_thinned_from_the_first_on_it_is_the_pool_for_which_so_many_rounds_are_one(every):
    for t in range(1, 200):
        coarse = MRI(2).active(-(-t // every))
        thinned = Thinned(MRI(2), every)
        assert thinned.starts(t) == [1 + every * (span.start - 1) for span in coarse]
        assert [span.end for span in thinned.active(t)] == [span.end and every * span.end for span in coarse]


@pytest.mark.parametrize(("every", "after"), [(1, 1), (4, 16), (4, 1)])
def test_what_thinning_leaves_is_alive_as_long_as_before_and_all_of_it_at_first(every, after):
    whole, thinned = WithCopies(MRI(2), 3), WithCopies(Thinned(MRI(2), every, after), 3)
    for t in range(1, 100):
        kept = [span for span in whole.active(t) if span.start <= after or span.start % every == 1 % every]
        assert thinned.active(t) == kept
        assert thinned.starts(t) == sorted({span.start for span in kept})


@pytest.mark.parametrize(("every", "after"), [(4, 16), (8, 16), (8, 1)])
def test_after_a_shift_some_start_of_the_thinned_pool_has_seen_a_third_of_the_rounds_since_but_few(every, after):
    """And at most half of `every` rounds less than one of the whole pool."""
    whole, thinned = ({t: cover.starts(t) for t in range(1, 200)} for cover in (MRI(2), Thinned(MRI(2), every, after)))
    for shift, now in combinations(range(1, 200), 2):
        most, seen = (max((now - s for s in alive[now] if s >= shift), default=0) for alive in (whole, thinned))
        assert 3 * seen >= now - shift - (every - 1), (shift, now)
        assert seen >= most - every / 2, (shift, now)


@pytest.mark.parametrize("every", [0, 3, -4])
def test_a_cover_is_thinned_by_a_power_of_two(every):
    """Lifetimes are powers of two: every third start would leave some shifts uncovered for long."""
    with pytest.raises(SettingError, match="power of two"):
        Thinned(MRI(2), every)
