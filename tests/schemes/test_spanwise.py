"""The recommended scheme: never without its fall-back, away from it only for what is surely better."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

from spanwise import Plain, PlainEnsemble, Spanwise
from spanwise.adapters.functions import FunctionLearner
from spanwise.adapters.sklearn import SklearnLearner
from spanwise.checks import centroids, toy_batches
from spanwise.core.choice import Weighted
from spanwise.core.pool import Scores
from spanwise.core.spans import MRI, Span
from spanwise.errors import SettingError
from spanwise.schemes.guard import Advantage
from spanwise.schemes.spanwise import COPIES, MANY, Averaged, Guarded, Mixed, trained_by_start
from spanwise.streams import Abrupt, Stationary


def advantage(pairs, decay):
    """Mean and standard error as the docstring has them, from all rounds at once."""
    differences = [np.array(a, float) - np.array(b, float) for a, b in pairs]
    means = [d.mean() for d in differences]
    fades = [decay ** (len(pairs) - 1 - s) for s in range(len(pairs))]
    mean = sum(f * m for f, m in zip(fades, means, strict=True)) / sum(fades)
    variance = 0.0
    for s, (fade, d) in enumerate(zip(fades, differences, strict=True)):
        earlier = [decay ** (s - 1 - r) for r in range(s)]
        before = sum(e * m for e, m in zip(earlier, means[:s], strict=True)) / sum(earlier) if s else d.mean()
        variance += fade**2 * max(d.var() / len(d), (d.mean() - before) ** 2)
    return mean, sqrt(variance) / sum(fades)


@pytest.mark.parametrize("decay", [0.5, 0.95, 1.0])
def test_an_advantage_is_the_decayed_mean_and_its_error(decay):
    rng = np.random.default_rng(0)
    pairs = [(rng.random(n) < 0.7, rng.random(n) < 0.5) for n in (30, 7, 1, 50, 12)]
    ahead = Advantage(decay)
    for ours, theirs in pairs:
        ahead = ahead.after(ours, theirs)
    assert (ahead.mean, ahead.error) == pytest.approx(advantage(pairs, decay))
    assert ahead.sure(1.5) == pytest.approx(ahead.mean - 1.5 * ahead.error)


def test_one_round_makes_nothing_sure():
    once = Advantage().after(np.ones(100), np.zeros(100))
    assert once.sure(1.0) == -np.inf
    assert once.after(np.ones(100), np.zeros(100)).sure(1.0) > 0.9


@pytest.mark.parametrize(("n", "differ"), [(50, 0.5), (20, 0.02), (100, 0.005), (1, 0.3)])
def test_on_differences_that_are_noise_the_guard_seldom_fires(n, differ):
    """The page says: one way in one round of six at most, one of three in little more than a third."""
    rng = np.random.default_rng(1)
    fired = []
    for _ in range(100):
        ways = [Advantage()] * 3
        for _ in range(60):
            theirs = rng.random(n) < 0.5
            ways = [way.after(theirs ^ (rng.random(n) < differ), theirs) for way in ways]
            fired.append([way.sure(1.0) > 0 for way in ways])
    assert np.mean(fired) < 1 / 6
    assert np.mean(np.any(fired, axis=1)) < 0.38


def test_two_that_never_differ_are_told_so():
    same = np.array([True, False])
    assert str(Advantage().after(same, same)) == "no better"
    assert str(Advantage().after(same, ~same).after(same, same)).endswith("points better")


@pytest.mark.parametrize("copies", [1, 3, 6, 7])
def test_until_the_guard_fires_it_is_the_average_of_its_copies_bit_for_bit(copies):
    model, fallback = Spanwise(centroids(), copies=copies, seed=4), PlainEnsemble(centroids(), copies=copies, seed=4)
    for t, (X, y) in enumerate(toy_batches(30, seed=2), start=1):
        if t > 1:
            assert np.array_equal(model.predict_proba(X), fallback.predict_proba(X))
        report = model.learn(X, y)
        if report.chosen not in (1, "copies"):
            return
        assert copies == 1 or report.weights == pytest.approx({1: 1.0})
        fallback.learn(X, y)
    pytest.fail("the shift half-way was never noticed, so the law was not put to the test")


def test_whenever_the_fall_back_plays_it_is_the_average_of_its_copies_bit_for_bit():
    learner = SGDClassifier(loss="log_loss", average=True)
    model, fallback = Spanwise(learner), PlainEnsemble(learner, copies=MANY)
    chosen = [COPIES]
    for X, y in Stationary(rounds=40, size=30, seed=3):
        if len(chosen) > 1 and chosen[-1] == COPIES:
            assert np.array_equal(model.predict_proba(X), fallback.predict_proba(X))
        chosen.append(model.learn(X, y).chosen)
        fallback.learn(X, y)
    left = next(t for t, name in enumerate(chosen) if name != COPIES)
    assert COPIES in chosen[left:-1], "it never came back, so the law was not put to the test"


@pytest.mark.parametrize("copies", [1, 3])
def test_the_weights_it_reports_are_those_of_what_predicts(copies):
    model, seen = Spanwise(centroids(), copies=copies, seed=4), set()
    for X, y in toy_batches(30, seed=2):
        report = model.learn(X, y)
        seen.add("start" if isinstance(report.chosen, int) else report.chosen)
        expected = {}
        for span, weight in model.method.current.weights.items():
            expected[span.start] = expected.get(span.start, 0.0) + weight
        assert report.weights == pytest.approx(expected)
    assert len(seen) > 1, "one thing played all the time, so the law was not put to the test"


def test_where_nothing_shifts_one_copy_is_the_plain_learner():
    model, plain = Spanwise(centroids(), copies=1), Plain(centroids())
    differ = 0
    for X, y in Stationary(rounds=60, size=40):
        X = np.round(X[:, :4] * 4)
        if plain.round > 1:
            differ += int((model.predict(X) != plain.predict(X)).sum())
        model.learn(X, y)
        plain.learn(X, y)
    assert differ < 0.05 * 60 * 40


def test_after_a_shift_it_leaves_the_past_behind_and_says_why():
    model = Spanwise(centroids(), copies=2)
    reports = [model.learn(np.round(X[:, :4] * 4), y) for X, y in Abrupt(rounds=40, every=20, size=60)]
    assert [report.chosen for report in reports[:2]] == ["copies", "copies"]
    later = [report for report in reports[24:] if report.chosen != "copies"]
    assert later
    assert "points better than the average of 2 plain learners over 39 rounds, newer ones count" in later[-1].why
    assert reports[0].why == "the average of 2 plain learners, as nothing else was tried yet"
    assert reports[1].why == (
        "the average of all starts has been no better than the average of 2 plain learners over 1 round; so "
        "the average of 2 plain learners plays (the mixture no better, whoever leads (now start 1) no better)"
    )
    for report in reports[2:]:
        assert report.why.count("better") + report.why.count("worse") == 3, "all three ways are told"
        assert ("so the average of 2 plain learners plays" in report.why) == (report.chosen == "copies")
        assert ("that is not sure enough" in report.why) <= ("points better" in report.why)


def outdated_after(age):
    """Tells the truth while it has learned at most so many rounds, and then the opposite."""
    return FunctionLearner(
        lambda seed: 0,
        lambda rounds, X, y: rounds + 1,
        lambda rounds, X: (1.0 if rounds <= age else -1.0) * np.stack([-X[:, 0], X[:, 0]], axis=1),
    )


def test_the_leader_is_the_start_that_was_right_lately_and_the_earliest_of_equals():
    """At round 12, starts 9, 11 and 12 have never been wrong, and start 1 has been since round 5."""
    model = Spanwise(outdated_after(3), copies=1, classes=[0, 1])
    rng = np.random.default_rng(0)
    for _ in range(12):
        X = rng.choice([-1.0, 1.0], size=(50, 1))
        report = model.learn(X, (X[:, 0] > 0).astype(int))
    assert report.starts == (1, 9, 11, 12, 13)
    assert report.chosen == 9


def test_proportions_sum_to_one_and_begin_with_half_on_start_one():
    choice = Guarded()
    assert choice._proportions([1]) == {1: 1.0}
    assert choice._proportions([1, 5, 7]) == {1: 0.5, 5: 0.25, 7: 0.25}
    choice.shares = {1: 0.2, 5: 0.8}
    assert sum(choice._proportions([1, 5, 7]).values()) == pytest.approx(1.0)


def test_what_is_forgotten_is_forgotten_for_instances_that_are_gone():
    model = Spanwise(centroids(), copies=2)
    for X, y in toy_batches(40):
        model.learn(X, y)
    alive = set(model.method.cover.starts(41))
    choice = model.method.choice
    assert set(choice.shares) <= alive
    assert set(choice.right) == set(choice.rounds) <= alive


def test_the_cover_has_copies_of_start_one_only():
    cover = Spanwise(centroids(), copies=3).method.cover
    assert cover.active(1) == [Span(1, copy=copy) for copy in range(3)]
    assert cover.active(9) == [*(Span(1, copy=copy) for copy in range(3)), *MRI(2).active(9)[1:]]
    with pytest.raises(SettingError, match="at least one"):
        Spanwise(centroids(), copies=0)


def test_all_starts_in_proportions_are_the_weighted_sum_of_their_instances():
    model = Spanwise(centroids(), copies=2, seed=1)
    batches = list(toy_batches(6, seed=3))
    for X, y in batches[:5]:
        model.learn(X, y)
    said = Scores(model.method.pool, batches[5][0])
    groups = trained_by_start(model.method.pool)
    mixed = Mixed("mixture", dict(zip(groups.values(), (0.5, 0.3, 0.2), strict=True)))
    assert sum(mixed.weights.values()) == pytest.approx(1.0)
    assert mixed.proba(said) == pytest.approx(Weighted(mixed.weights, "softmax").proba(said))


@pytest.mark.parametrize("copies", [1, 3])
def test_rows_worked_on_in_parts_choose_the_same_bit_for_bit(monkeypatch, copies):
    def run():
        model, told = Spanwise(GaussianNB(), copies=copies, classes=range(4)), []
        for X, y in Abrupt(rounds=24, every=12, size=61, classes=range(4)):
            guess = model.predict(X)
            report = model.learn(X, y)
            told.append((guess.tolist(), report.chosen, report.accuracy, report.weights, report.why))
        return told

    whole = run()
    monkeypatch.setattr("spanwise.core.probabilities.ROWS", 7)
    monkeypatch.setattr("spanwise.core.probabilities.CACHED", 1)
    assert run() == whole
    assert {chosen for _, chosen, *_ in whole} > {whole[0][1]}


@pytest.mark.parametrize("learner", [GaussianNB(), SGDClassifier()], ids=["one copy", "many"])
def test_the_accuracy_told_is_that_of_the_predictions_made(learner):
    model = Spanwise(learner, classes=range(4))
    for X, y in Abrupt(rounds=14, every=7, size=50, classes=range(4)):
        guess = model.predict(X)
        report = model.learn(X, y)
        assert report.accuracy in (None, (guess == y).mean())


def test_one_copy_is_kept_of_a_learner_without_randomness():
    assert len(Spanwise(SklearnLearner(GaussianNB())).method.cover.active(1)) == 1
    assert len(Spanwise(SklearnLearner(SGDClassifier())).method.cover.active(1)) == 18
    assert len(Spanwise(GaussianNB(), copies=3).method.cover.active(1)) == 3


def test_beside_one_copy_another_starts_every_round_and_beside_several_every_fourth_after_the_first_16():
    one, two = (Spanwise(centroids(), copies=copies).method.cover for copies in (1, 2))
    for t in range(1, 100):
        assert one.starts(t) == MRI(2).starts(t)
        assert set(two.starts(t)) == {start for start in MRI(2).starts(t) if start <= 16 or start % 4 == 1}


def test_an_average_of_one_goes_by_its_span():
    spans = (Span(1), Span(1, copy=1))
    assert Averaged(spans).name == "copies"
    assert Averaged(spans[:1]).name == Span(1)
    assert Averaged(spans).weights == {Span(1): 0.5, Span(1, copy=1): 0.5}


class Guard:
    """Three ways and the fall-back, which is number 3, as in the proofs of the docs, after each round from 0 on."""

    def __init__(self, rounds, decay):
        self.decay, ways = decay, [Advantage(decay)] * 3
        self.played, self.sums, self.errors, self.ahead = [], [], [], []
        for fallback, *ours in [(4, 4, 4, 4), *rounds]:  # of 8 rows, who got how many right; the first difference is 0
            ways = [way.after(np.arange(8) < n, np.arange(8) < fallback) for way, n in zip(ways, ours, strict=True)]
            best = max(range(3), key=lambda i: ways[i].sure(1.0))
            self.played.append(best if ways[best].sure(1.0) > 0 else 3)  # in the round after this one
            self.sums.append([*(way.mean * way.weight for way in ways), 0.0])
            self.errors.append([*(way.error * way.weight for way in ways), 0.0])
            self.ahead.append([*((n - fallback) / 8 for n in ours), 0.0])

    def moved(self, t, way):
        """What round `t` adds to its error."""
        return sqrt(max(0.0, self.errors[t][way] ** 2 - (self.decay * self.errors[t - 1][way]) ** 2))


guards = st.builds(
    Guard,
    st.lists(st.tuples(*[st.integers(0, 8)] * 4), min_size=3, max_size=40),
    st.sampled_from([0.5, 0.95]),
)


@given(guards)
def test_each_time_the_fall_back_is_left_no_more_is_lost_than_the_page_says(guard):
    played, ahead = guard.played, guard.ahead
    for a in range(1, len(played) - 1):
        if played[a] != 3 and played[a - 1] == 3:
            gained, allowed = 0.0, 2.0
            for t in range(a + 1, len(played)):
                now, then = played[t], played[t - 1]
                gained += ahead[t][then]
                assert gained > -allowed - 1e-9
                if now == 3:
                    break
                if now != then:
                    allowed += ahead[t][now] - ahead[t][then] + guard.moved(t, then)


@given(guards, st.sampled_from([0, 1, 2, 3]))
def test_on_no_interval_does_any_way_gain_more_on_what_plays_than_the_page_says(guard, way):
    played, ahead, sums, errors = guard.played, guard.ahead, guard.sums, guard.errors
    decay = guard.decay
    for a in range(len(played) - 1):
        gained, changes = 0.0, 0.0
        for b in range(a + 1, len(played)):
            gained += ahead[b][way] - ahead[b][played[b - 1]]
            behind = sums[a][played[a]] - sums[a][way]
            doubts = (1 - decay) * sum(errors[t][way] for t in range(a, b - 1))
            assert gained <= 1 + behind + errors[b - 1][way] + doubts + changes + 1e-9
            new, old = played[b], played[b - 1]
            if new != old:
                changes += ahead[b][new] - ahead[b][old] + decay * errors[b - 1][new]
