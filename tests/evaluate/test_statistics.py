"""The paired bootstrap: against scipy's on the rows themselves, and against truth that we made up."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from spanwise.errors import SettingError
from spanwise.evaluate.record import Row
from spanwise.evaluate.statistics import Pairs, bands, deviation, interval, pairs, resampled, standing
from spanwise.evaluate.summary import Evaluation


def counted(n, ahead, behind):
    """Pairs from counts: a number a round, or for each seed a number a round."""
    n = np.array(n)
    return Pairs(np.arange(2, 2 + len(n)), n, np.atleast_2d(ahead), np.atleast_2d(behind))


def spelled_out(pair):
    """Rows of each round of one seed: 1 where ahead, -1 where behind, else 0."""
    for n, ahead, behind in zip(pair.n, pair.ahead[0], pair.behind[0], strict=True):
        yield np.repeat([1.0, -1.0, 0.0], [ahead, behind, n - ahead - behind])


def mean_of_means(*samples, axis=-1):
    return 100 * np.mean([sample.mean(axis=axis) for sample in samples], axis=0)


def test_the_interval_is_scipys_on_the_rows_spelled_out():
    pair = counted([300, 80, 500], [60, 20, 90], [30, 25, 40])
    theirs = stats.bootstrap(
        tuple(spelled_out(pair)), mean_of_means, n_resamples=20_000, batch=1_000, method="percentile", rng=1
    ).confidence_interval
    assert interval(pair, resamples=20_000) == pytest.approx((theirs.low, theirs.high), abs=0.3)


def test_the_band_of_a_round_is_scipys_on_that_round():
    pair = counted([300, 80], [60, 20], [30, 25])
    band = bands(pair, resamples=20_000)
    np.testing.assert_allclose(band.gain, [10.0, -6.25])
    for i, rows in enumerate(spelled_out(pair)):
        theirs = stats.bootstrap(
            (rows,), mean_of_means, n_resamples=20_000, batch=1_000, method="percentile", rng=1
        ).confidence_interval
        one_row = 100 / len(rows)
        assert (band.low[i], band.high[i]) == pytest.approx((theirs.low, theirs.high), abs=one_row + 1e-9)


def outcomes(rng, seeds, n, ahead, behind, shared):
    """(seeds, n) of 1, -1 and 0, of a row with those chances; a part of the rows is the same for every seed."""
    draws = rng.choice([1, -1, 0], p=[ahead, behind, 1 - ahead - behind], size=(seeds, n))
    return np.where(rng.random(n) < shared, draws[:1], draws)


def coverage(seeds, shared, runs=400):
    """How often the interval holds the true gain, and how often one does that draws rows for each seed apart."""
    rng = np.random.default_rng(7)
    sizes, chances = (150, 60, 240), ((0.15, 0.05), (0.1, 0.2), (0.3, 0.1))
    truth = 100 * np.mean([ahead - behind for ahead, behind in chances])
    ours, apart = 0, 0
    for run in range(runs):
        rounds = [outcomes(rng, seeds, n, *chance, shared) for n, chance in zip(sizes, chances, strict=True)]
        pair = counted(
            sizes,
            np.stack([(rows == 1).sum(axis=1) for rows in rounds], axis=1),
            np.stack([(rows == -1).sum(axis=1) for rows in rounds], axis=1),
        )
        low, high = interval(pair, resamples=400, seed=run)
        ours += low <= truth <= high
        each = [Pairs(pair.rounds, pair.n, pair.ahead[[s]], pair.behind[[s]]) for s in range(seeds)]
        draws = np.mean([resampled(one, resamples=400, seed=seeds * run + s) for s, one in enumerate(each)], axis=0)
        low, high = np.quantile(draws.mean(axis=1), [0.025, 0.975])
        apart += low <= truth <= high
    return ours / runs, apart / runs


def test_nineteen_intervals_in_twenty_hold_the_true_gain():
    covered, _ = coverage(seeds=1, shared=0.0)
    assert 0.92 <= covered <= 0.98


@pytest.mark.parametrize("shared", [0.3, 1.0])
def test_several_seeds_on_the_same_rows_do_not_make_the_interval_too_narrow(shared):
    """Rows drawn for each seed apart would: they take three seeds for three times the data."""
    covered, apart = coverage(seeds=3, shared=shared)
    assert covered >= 0.93
    assert apart < covered
    assert apart < 0.93


def test_seeds_that_agree_on_every_row_are_worth_one():
    one, three = ([60, 20], [30, 25]), ([[60, 20]] * 3, [[30, 25]] * 3)
    assert interval(counted([300, 80], *three), resamples=20_000) == pytest.approx(
        interval(counted([300, 80], *one), resamples=20_000, seed=1), abs=0.4
    )


parts = st.tuples(st.floats(0, 1), st.floats(0, 1))
counts_of_rounds = st.integers(1, 3).flatmap(
    lambda seeds: st.lists(
        st.tuples(st.integers(1, 60), st.lists(parts, min_size=seeds, max_size=seeds)), min_size=1, max_size=4
    )
)


@given(counts_of_rounds)
@settings(max_examples=60, deadline=None)
def test_resamples_average_to_the_gain_and_vary_as_seeds_in_step_would(rounds):
    n = np.array([n for n, _ in rounds])
    ahead = np.array([[int(a * n) for a, _ in parts] for n, parts in rounds]).T
    behind = np.array([[int(b * (n - int(a * n))) for a, b in parts] for n, parts in rounds]).T
    pair = counted(n, ahead, behind)
    draws = resampled(pair, resamples=4_000)
    spread = np.zeros(len(n))
    for i in range(len(n)):
        per_row = [
            np.repeat([1.0, 0.0, -1.0], [a, n[i] - a - b, b]) for a, b in zip(ahead[:, i], behind[:, i], strict=True)
        ]
        spread[i] = 100 * np.mean(per_row, axis=0).std() / np.sqrt(n[i])
    np.testing.assert_allclose(draws.mean(axis=0), pair.gains, atol=5 * spread.max() / np.sqrt(4_000) + 1e-9)
    np.testing.assert_allclose(draws.std(axis=0), spread, rtol=0.12, atol=1e-9)


def test_two_schemes_that_say_the_same_have_no_gain_and_no_doubt_about_it():
    pair = counted([50, 20, 3], [[0, 0, 0]] * 2, [[0, 0, 0]] * 2)
    assert interval(pair) == (0.0, 0.0)
    band = bands(pair)
    assert band.gain.tolist() == band.low.tolist() == band.high.tolist() == [0.0] * 3


def test_always_ahead_on_every_row_is_certain_as_well():
    assert interval(counted([40], [40], [0])) == (100.0, 100.0)


def test_one_seed_of_the_generator_makes_an_interval_repeatable_and_another_changes_it():
    pair = counted([100, 70], [20, 9], [10, 12])
    assert interval(pair) == interval(pair) != interval(pair, seed=1)


def rows_of(scheme, seed=0, sizes=(10, 20), **counts):
    return [
        Row(1, scheme, seed=seed, n=5),
        *(
            Row(t, scheme, seed=seed, n=n, accuracy=0.5, **{name: values[t - 2] for name, values in counts.items()})
            for t, n in enumerate(sizes, start=2)
        ),
    ]


def evaluation(seed=0, sizes=(10, 20), **counts):
    return Evaluation([*rows_of("plain", seed, sizes), *rows_of("awe", seed, sizes, **counts)])


def test_pairs_are_taken_from_scored_rounds_and_seeds():
    found = pairs([evaluation(0, ahead=[3, 4], behind=[1, 6]), evaluation(1, ahead=[2, 2], behind=[2, 0])], "awe")
    assert (found.rounds.tolist(), found.n.tolist()) == ([2, 3], [10, 20])
    assert (found.ahead.tolist(), found.behind.tolist()) == ([[3, 4], [2, 2]], [[1, 6], [2, 0]])
    assert found.gains.tolist() == [10.0, 0.0]


def test_the_plain_learner_is_neither_ahead_of_itself_nor_behind():
    assert interval(pairs([evaluation(ahead=[3, 4], behind=[1, 6])], "plain")) == (0.0, 0.0)


@pytest.mark.parametrize(
    "rows",
    [rows_of("plain") + rows_of("awe"), rows_of("awe", ahead=[1, 1], behind=[0, 0]), [Row(1, "plain"), Row(1, "awe")]],
    ids=["a record without counts", "no plain learner", "nothing scored"],
)
def test_without_counts_there_is_nothing_to_resample(rows):
    assert pairs([Evaluation(rows)], "awe") is None


def test_seeds_of_different_length_or_data_are_refused():
    whole = evaluation(0, ahead=[1, 1], behind=[0, 0])
    torn = evaluation(1, sizes=(10,), ahead=[1], behind=[0])
    other = evaluation(1, sizes=(10, 21), ahead=[1, 1], behind=[0, 0])
    with pytest.raises(SettingError, match=r"2 rounds of 30 rows in all with seed 0, but on 1 rounds of 10 rows"):
        pairs([whole, torn], "awe")
    with pytest.raises(SettingError, match=r"but on 2 rounds of 31 rows in all with seed 1"):
        pairs([whole, other], "awe")
    with pytest.raises(SettingError, match="pass one a seed"):
        pairs([], "awe")


def test_deviation_is_that_of_a_sample():
    assert deviation([0.5]) is None
    assert deviation([]) is None
    assert deviation([1.0, 2.0, 4.0]) == pytest.approx(np.std([1, 2, 4], ddof=1))


def test_fractions_that_do_not_cancel_are_a_draw():
    thirds = [1 / 3 - 2 / 3, 2 / 3 - 1 / 3 + 1e-17, 0.1 + 0.2 - 0.3]
    assert standing([sum(thirds[:2]), thirds[2], 1e-6, -1e-6]) == (1, 2, 1)


def test_all_but_ranks_is_there_without_scipy():
    code = """
import sys
sys.modules["scipy"] = None
import spanwise.evaluate, spanwise.evaluate.statistics, spanwise.evaluate.seeds
try:
    import spanwise.evaluate.ranks
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "pip install 'spanwise[sklearn]'" in done.stdout
