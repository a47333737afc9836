"""Counts by round: any last rounds summed, copies that share until they part, and forgetting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.core.tally import Count, Tally

counts = st.builds(Count, *[st.integers(0, 10**6)] * 4)
histories = st.lists(counts, max_size=12)


def naive(history, rounds):
    last = history[len(history) - rounds :]
    return Count(*(sum(column) for column in zip(*last, strict=True))) if last else Count(0, 0, 0, 0)


def assert_is(tally, history):
    assert len(tally) == len(history)
    for rounds in range(len(history) + 1):
        assert tally.last(rounds) == naive(history, rounds)


@given(histories, histories)
def test_any_last_rounds_are_their_naive_sum(given_at_once, added):
    tally = Tally(given_at_once)
    for count in added:
        tally.add(count)
    assert_is(tally, given_at_once + added)


@given(histories)
def test_rounds_come_back_one_by_one_oldest_first(history):
    tally = Tally(history)
    for rounds in range(len(history) + 1):
        assert tally.by_round(rounds).tolist() == [list(count) for count in history[len(history) - rounds :]]


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["add", "copy"]), counts), max_size=25))
def test_copies_share_but_never_disturb_each_other(steps):
    """Any tangle of copies, each going its own way, against plain lists."""
    family = [(Tally(), [])]
    for which, what, count in steps:
        tally, history = family[which % len(family)]
        if what == "add":
            tally.add(count)
            history.append(count)
        else:
            family.append((tally.copy(), list(history)))
    for tally, history in family:
        assert_is(tally, history)


def test_a_copy_costs_nothing_until_it_parts():
    tally = Tally([Count(10, 5, 0, 0)] * 100)
    twin = tally.copy()
    twin.add(Count(10, 10, 0, 0))
    assert twin._sums is tally._sums
    assert (len(tally), len(twin)) == (100, 101)
    tally.add(Count(10, 0, 0, 0))
    assert (tally.last(1).correct, twin.last(1).correct) == (0, 10)


@given(st.lists(counts, min_size=1, max_size=30), st.integers(1, 8))
def test_forgetting_keeps_the_last_rounds_and_never_more_than_twice_as_many(history, keep):
    tally = Tally()
    for seen, count in enumerate(history, start=1):
        tally.add(count)
        tally.forget(keep)
        assert min(seen, keep) <= len(tally) <= 2 * keep
        for rounds in range(len(tally) + 1):
            assert tally.last(rounds) == naive(history[:seen], rounds)


def test_forgetting_happens_now_and_then_so_that_a_round_costs_little():
    tally, lengths = Tally(), []
    for _ in range(12):
        tally.add(Count(1, 1, 0, 0))
        tally.forget(4)
        lengths.append(len(tally))
    assert lengths == [1, 2, 3, 4, 5, 6, 7, 8, 4, 5, 6, 7]


@given(st.lists(counts, min_size=3, max_size=20), counts)
def test_forgetting_in_a_copy_leaves_the_original_whole(history, late):
    tally = Tally(history)
    twin = tally.copy()
    twin.forget(1)
    twin.add(late)
    assert_is(tally, history)
    assert_is(twin, [history[-1], late])


@given(histories, counts)
def test_what_was_saved_goes_on_as_it_was(history, late):
    tally, restored = Tally(history), Tally.__new__(Tally)
    restored.restore(tally.state())
    tally.add(late)
    restored.add(late)
    assert_is(restored, [*history, late])
    assert_is(tally, [*history, late])


def test_a_forgetful_one_is_saved_without_what_it_forgot():
    tally = Tally([Count(n, 0, 0, 0) for n in range(1, 8)])
    tally.forget(2)
    assert tally.state()["rounds"][:, 0].tolist() == [6, 7]


def test_an_array_of_rounds_is_as_good_as_counts():
    assert_is(Tally(np.array([[4, 3, 1, 0], [9, 2, 0, 5]])), [Count(4, 3, 1, 0), Count(9, 2, 0, 5)])


def test_sums_do_not_overflow_where_32_bits_would():
    tally = Tally([Count(2**31, 2**31, 0, 0)] * 4)
    assert tally.last(4) == Count(2**33, 2**33, 0, 0)


@pytest.mark.parametrize(
    ("count", "accuracy", "advantage"), [(Count(8, 6, 3, 1), 0.75, 0.25), (Count(4, 0, 0, 4), 0.0, -1.0)]
)
def test_accuracy_and_advantage_are_shares_of_the_points(count, accuracy, advantage):
    assert (count.accuracy, count.advantage) == (accuracy, advantage)
