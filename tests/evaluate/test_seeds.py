"""Several seeds as one line a scheme, and one seed as the summary has it."""

from dataclasses import asdict

import numpy as np
import pytest

from spanwise.adapters.functions import FunctionLearner
from spanwise.core.awe import AWE
from spanwise.errors import SettingError
from spanwise.evaluate import compare, evaluate, read
from spanwise.evaluate.record import Row
from spanwise.evaluate.seeds import across, by_seed
from spanwise.evaluate.statistics import interval, pairs
from spanwise.evaluate.summary import Evaluation
from spanwise.schemes.plain import Plain
from spanwise.schemes.saol import SAOL
from spanwise.streams import Abrupt


def noisy_means(noise=0.5):
    """The nearest mean of a class over all rounds, from a start that differs by seed."""

    def fresh(seed):
        return noise * np.random.default_rng(seed).normal(size=(4, 10)), np.ones(4)

    def learn(sums, X, y):
        total, count = np.zeros((4, 10)), np.zeros(4)
        np.add.at(total, y, X)
        np.add.at(count, y, 1)
        return sums[0] + total, sums[1] + count

    def logits(sums, X):
        means = sums[0] / sums[1][:, None]
        return X @ means.T - (means**2).sum(axis=1) / 2

    return FunctionLearner(fresh, learn, logits)


STREAM = Abrupt(rounds=12, every=5, size=40)


def run(seed, **settings):
    return compare(noisy_means(), STREAM, {"awe": AWE, "saol": SAOL}, seed=seed, **settings)


@pytest.fixture(scope="module")
def runs():
    return [run(seed) for seed in (0, 1, 2)]


def test_one_seed_says_what_the_summary_says(runs):
    for line, summary in zip(across(runs[:1]), runs[0].summary(), strict=True):
        theirs = asdict(summary)
        for name, value in asdict(line).items():
            if name in theirs:
                assert value == (pytest.approx(theirs[name]) if isinstance(value, float) else theirs[name]), name
        assert (line.seeds, line.accuracy_sd, line.gain_sd) == (1, None, None)
        assert line.gain_low <= line.gain <= line.gain_high


def test_several_seeds_are_averaged_and_their_spread_is_told(runs):
    for line in across(runs):
        lines = [next(one for one in run.summary() if one.scheme == line.scheme) for run in runs]
        assert (line.seeds, line.rounds) == (3, 11)
        for name in ("accuracy", "gain", "gain_same_fold", "seconds"):
            assert getattr(line, name) == pytest.approx(np.mean([getattr(one, name) for one in lines])), name
        for name in ("accuracy", "gain"):
            spread = np.std([getattr(one, name) for one in lines], ddof=1)
            assert getattr(line, f"{name}_sd") == pytest.approx(spread), name
        assert (line.gain_low, line.gain_high) == interval(pairs(runs, line.scheme))
        means = np.mean([run.accuracy_of(line.scheme) - run.accuracy_of("plain") for run in runs], axis=0).round(9)
        assert (line.wins, line.draws, line.losses) == tuple((np.sign(means) == s).sum() for s in (1, 0, -1))
    assert line.accuracy_sd > 0


def test_wins_are_counted_on_means_over_seeds_and_not_seed_by_seed():
    def rows(seed, awe):
        for t, (plain, ours) in enumerate(zip((0.3, 0.3), awe, strict=True), start=2):
            yield Row(t, "plain", seed=seed, n=10, accuracy=plain)
            yield Row(t, "awe", seed=seed, n=10, accuracy=ours)

    seeds = [Evaluation(rows(0, (0.5, 0.4))), Evaluation(rows(1, (0.2, 0.2)))]
    line = across(seeds)[1]
    assert (line.wins, line.draws, line.losses) == (1, 1, 0)
    assert (line.gain, line.gain_low, line.gain_high) == (pytest.approx(2.5), None, None)


def test_the_plain_learner_has_a_gain_of_nothing_for_certain(runs):
    plain = across(runs)[0]
    assert (plain.scheme, plain.gain, plain.gain_sd, plain.gain_low, plain.gain_high) == ("plain", 0, 0, 0, 0)
    assert (plain.wins, plain.draws, plain.losses) == (0, 11, 0)


def test_without_a_baseline_nothing_is_said_of_gains():
    (line,) = across([evaluate(Plain(noisy_means(), seed=seed), STREAM, seed=seed) for seed in (0, 1)])
    assert line.accuracy is not None
    assert (line.gain, line.gain_sd, line.gain_low, line.gain_high, line.gain_same_fold) == (None,) * 5
    assert (line.wins, line.draws, line.losses) == (None,) * 3


def test_a_scheme_that_some_seeds_lack_is_averaged_over_the_others(runs):
    short = Evaluation(row for row in runs[1].rows if row.scheme != "saol")
    lines = {line.scheme: line for line in across([runs[0], short])}
    assert (lines["awe"].seeds, lines["saol"].seeds) == (2, 1)
    assert lines["saol"].accuracy == pytest.approx(runs[0].accuracy_of("saol").mean())


def test_one_record_of_several_seeds_is_taken_apart_again(tmp_path):
    path = tmp_path / "run.jsonl"
    made = [run(seed, record=path) for seed in (2, 0)]
    assert [one.rows for one in by_seed(read(path))] == [made[1].rows, made[0].rows]
    assert across(by_seed(read(path))) == across(made[::-1])


def test_two_evaluations_of_one_seed_are_refused(runs):
    with pytest.raises(SettingError, match="two of these evaluations are of one seed, among 0, 1, 0"):
        across([runs[0], runs[1], runs[0]])


def test_nothing_comes_of_nothing():
    assert across([]) == across([Evaluation([])]) == by_seed([]) == []
