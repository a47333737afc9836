"""Groups in time: nested windows that end now; and Wild-Time's sampler, item by item."""

from collections import Counter
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from spanwise.deep import CORAL, IRM, CrossEntropy, TorchLearner  # noqa: E402
from spanwise.deep.objectives.groups import Nested  # noqa: E402
from spanwise.errors import SettingError  # noqa: E402

spec = spec_from_file_location("reference", Path(__file__).with_name("reference.py"))
reference = module_from_spec(spec)
spec.loader.exec_module(reference)

SIZES = [3, 1, 4, 2, 5, 2, 6, 3]


def places(rows, sizes):
    """Positions among rounds laid end to end, the oldest first, as (round, row)."""
    table = [(t, row) for t, n in enumerate(sizes) for row in range(n)]
    return [table[position] for position in rows]


def draws(nested, sizes, count=12_000, seed=0):
    """(group, round, row) of many places."""
    plan = nested.draw(np.random.default_rng(seed), sizes, (count // 10, 10))
    assert plan["rows"].shape == plan["group"].shape == (count // 10, 10)
    rows = places(plan["rows"].ravel(), sizes)
    return [(int(group), t, row) for group, (t, row) in zip(plan["group"].ravel(), rows, strict=True)]


# --- As intended.
@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("size", [0, 1, 3])
def test_a_group_reaches_exactly_the_rounds_of_its_window(groups, size):
    nested = Nested(groups=groups, size=size)
    for last in range(len(SIZES)):
        reached = {}
        for group, t, row in draws(nested, SIZES[: last + 1]):
            reached.setdefault(group, set()).add((t, row))
        assert set(reached) == set(range(min(groups, max(1, last - size + 1)))), f"{last=}"
        for group, rows in reached.items():
            window = range(max(0, last - group - size), last + 1)
            assert rows == {(t, row) for t in window for row in range(SIZES[t])}, f"{last=} {group=}"


def test_group_then_round_then_row_are_each_drawn_evenly():
    """A row's share is 1 / groups / rounds of the window / rows of its round: Pearson's test of all of them."""
    nested, last, count = Nested(groups=3, size=2), len(SIZES) - 1, 60_000
    seen = Counter(draws(nested, SIZES, count))
    cells = {
        (group, t, row): count / 3 / (group + 3) / SIZES[t]
        for group in range(3)
        for t in range(last - group - 2, last + 1)
        for row in range(SIZES[t])
    }
    assert set(seen) == set(cells)
    free = len(cells) - 1
    distance = sum((seen[cell] - expected) ** 2 / expected for cell, expected in cells.items())
    assert abs(distance - free) < 4 * np.sqrt(2 * free)


def test_a_round_is_drawn_anew_each_time():
    rng = np.random.default_rng(0)
    first, second = (Nested().draw(rng, SIZES, (50, 4))["rows"] for _ in range(2))
    assert (first != second).any()
    again = Nested().draw(np.random.default_rng(0), SIZES, (50, 4))["rows"]
    assert (first == again).all(), "but a seed repeats it"


@pytest.mark.parametrize(("groups", "size"), [(1, 0), (3, 2), (10, 5)])
def test_the_rounds_kept_are_those_of_the_widest_window(groups, size):
    """From there on, older rounds could not be drawn any more."""
    nested = Nested(groups=groups, size=size)
    sizes = [2] * (nested.rounds + 3)
    reached = {t for _, t, _ in draws(nested, sizes)}
    assert reached == set(range(3, len(sizes)))
    assert {group for group, _, _ in draws(nested, sizes[:-3])} == set(range(nested.ids)) == set(range(groups))


def history(objective, sizes):
    """Rows of the rounds that a learner keeps, after each round."""
    learner = TorchLearner(nn.Linear(2, 2), objective=objective, steps=1, batch_size=2, device="cpu").fresh(0)
    for n in sizes:
        learner.learn(np.zeros((n, 2)), np.arange(n) % 2)
        yield [len(fold) for fold in learner.instance.history]


@pytest.mark.parametrize("made_of", [IRM, CORAL])
def test_a_learner_keeps_as_many_rounds_as_its_groups_reach_back(made_of):
    kept = list(history(made_of(groups=2, size=1), [9, 6, 12, 5, 30]))
    assert kept == [[9], [9, 6], [6, 12], [12, 5], [5, 30]], "with the round to come, three"


def test_no_more_points_than_it_may_but_always_the_latest_round():
    kept = list(history(IRM(groups=2, size=1, points=20), [9, 6, 12, 5, 30, 4]))
    assert kept == [[9], [9, 6], [6, 12], [12, 5], [30], [4]]


def test_plain_cross_entropy_keeps_the_current_round_and_draws_from_it_evenly():
    assert list(history(CrossEntropy(), [9, 6, 12])) == [[], [], []], "the next round draws from nothing older"
    rows = CrossEntropy().draw(np.random.default_rng(0), [7], (1000, 7))["rows"]
    counts = np.bincount(rows.ravel(), minlength=7)
    assert rows.shape == (1000, 7)
    assert len(counts) == 7
    assert ((counts - 1000) ** 2 / 1000).sum() < 6 + 4 * np.sqrt(12)


@pytest.mark.parametrize("setting", [{"groups": 0}, {"size": -1}, {"points": 0}])
def test_settings_without_meaning_are_refused(setting):
    with pytest.raises(SettingError, match=next(iter(setting))):
        Nested(**setting)


# --- As coded.
@pytest.mark.parametrize("size", [0, 2, 5])
@pytest.mark.parametrize("rounds", [1, 2, 4, 8, 11])
def test_as_coded_every_item_is_wild_times(rounds, size):
    sizes = (SIZES + SIZES)[:rounds]
    shape = (40, 6)
    plan = Nested(size=size, wildtime=True).draw(np.random.default_rng(4), sizes, shape)
    asked = np.random.default_rng(4).integers(sum(sizes), size=shape).ravel()
    drawn = places(plan["rows"].ravel(), sizes)
    for index, place, group in zip(asked, drawn, plan["group"].ravel(), strict=True):
        _, expected, *came = reference.wild_time_item(index, sizes, size)
        assert (group, *place) == (expected, *came), f"{index=}"


def test_as_coded_few_examples_can_be_reached_and_few_come_from_the_round_that_was_meant():
    """PAPER B.7 (c) and (d): of 660 items 402 distinct ones."""
    sizes = list(range(10, 120, 10))
    items = [reference.wild_time_item(index, sizes, 2) for index in range(sum(sizes))]
    assert (len(items), len({(t, row) for _, _, t, row in items})) == (660, 402)
    assert sum(meant == t for meant, _, t, _ in items) / len(items) < 0.15
    drawn = {(t, row) for _, t, row in draws(Nested(size=2, wildtime=True), sizes, 20_000)}
    assert drawn == {(t, row) for _, _, t, row in items}, "ours reaches the same ones, and no others"


def test_as_coded_the_number_of_groups_is_not_bounded_by_groups():
    nested = Nested(groups=1, size=3, wildtime=True)
    for rounds in (1, 4, 5, 9, 14):
        groups = {group for group, _, _ in draws(nested, [30] * rounds, 6000)}
        assert groups == set(range(max(1, rounds - 1 - 3 + 1))), f"{rounds=}"


def test_as_coded_sixty_four_rounds_are_kept_and_their_groups_have_room():
    nested = Nested(size=2, wildtime=True)
    assert nested.rounds == 64
    groups = {group for group, _, _ in draws(nested, [40] * 64, 20_000)}
    assert groups == set(range(nested.ids))
    assert Nested(size=70, wildtime=True).ids == 1


def test_as_coded_numpys_own_generator_is_left_alone():
    np.random.seed(7)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(7)  # noqa: NPY002
    Nested(wildtime=True).draw(np.random.default_rng(0), SIZES, (3, 3))
    assert np.random.random() == expected  # noqa: NPY002
