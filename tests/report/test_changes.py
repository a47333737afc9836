"""Collapses of the span, in series made by hand; all starts are alive unless a test says otherwise."""

import pytest

from spanwise.evaluate.record import Row
from spanwise.report.changes import Change, agreed, likely_changes


def choosing(starts, *, retired=()):
    """One instance chosen a round; `retired` starts are gone from their round on: (round, start)."""
    for t, start in enumerate(starts, start=1):
        alive = set(range(1, t + 2)) - {gone for since, gone in retired if t >= since}
        yield Row(t, "awe", chosen=start, span=t + 1 - start, starts=tuple(sorted(alive)), weights={start: 1.0})


def mixing(weights):
    """An ensemble a round."""
    for t, one in enumerate(weights, start=1):
        yield Row(t, "awe", chosen="ensemble", starts=tuple(range(1, t + 2)), weights=one)


def test_a_scheme_that_never_lets_go_shows_no_change():
    assert likely_changes(choosing([1] * 40)) == []


def test_a_collapse_that_stays_is_a_change_at_the_first_round_predicted_from_the_short_span():
    assert likely_changes(choosing([1] * 19 + [18] * 10)) == [Change(round=21, before=20, after=3)]


def test_a_short_dip_is_none():
    assert likely_changes(choosing([1] * 19 + [18] * 3 + [1] * 10)) == []


def test_a_collapse_in_the_last_rounds_has_not_stayed_yet():
    assert likely_changes(choosing([1] * 19 + [18] * 3)) == []


def test_a_loss_of_less_than_half_is_none():
    assert likely_changes(choosing([1] * 20 + [10] * 20)) == []


def test_few_rounds_of_history_cannot_collapse():
    assert likely_changes(choosing([1, 1, 1, 3, 3, 3, 3, 3, 3])) == []


def test_a_fall_in_two_steps_is_one_change():
    """Neither step loses half by itself."""
    found = likely_changes(choosing([1] * 20 + [9] + [15] * 10))
    assert found == [Change(round=23, before=22, after=8)]


def test_two_changes_are_two():
    found = likely_changes(choosing([1] * 20 + [19] * 20 + [39] * 10))
    assert [change.round for change in found] == [22, 42]


def test_an_instance_that_had_to_retire_was_not_left():
    assert likely_changes(choosing([1] * 20 + [18] * 10, retired=[(21, 1)])) == []


def test_asking_several_instances_instead_of_one_is_no_collapse():
    rows = list(mixing([{1: 1.0, max(1, t - 4): 1.0} for t in range(1, 41)]))
    rows[:20] = [Row(**{**vars(row), "chosen": 1, "span": row.round}) for row in rows[:20]]
    assert likely_changes(rows) == []


def test_an_ensemble_that_moves_its_weight_to_the_young_collapses():
    old = [{1: 0.9, max(1, t - 2): 0.1} for t in range(1, 21)]
    young = [{1: 0.05, 20: 0.95} for _ in range(10)]
    (change,) = likely_changes(mixing(old + young))
    assert change.round == 22
    assert change.after == pytest.approx(0.05 * 21 + 0.95 * 2)


def test_rounds_that_chose_nothing_are_passed_over():
    rows = list(choosing([1] * 19 + [18] * 10))
    rows[10] = Row(11, "awe", skipped=True)
    assert [change.round for change in likely_changes(rows)] == [21]


def test_seeds_must_agree():
    here, near, there = Change(20, 19, 2), Change(22, 21, 2), Change(40, 39, 2)
    assert agreed([[here], [near], [there]]) == [here]
    assert agreed([[here], [there]]) == []
    assert agreed([[here, there]]) == [here, there]
