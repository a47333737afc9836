"""The recommended scheme: never without its fall-back, away from it only for what is surely better."""

import re
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

from spanwise import Plain, PlainEnsemble, Spanwise
from spanwise.adapters.sklearn import SklearnLearner
from spanwise.checks import centroids, toy_batches
from spanwise.core.awe import Algorithm
from spanwise.core.evidence import Unjudged
from spanwise.core.scheme import Scheme
from spanwise.core.spans import MRI, Span
from spanwise.errors import SettingError
from spanwise.learner import adapt
from spanwise.schemes.covers import Geometric
from spanwise.schemes.guard import LEAST, Advantage
from spanwise.schemes.spanwise import COPIES, MANY, Averaged, Guarded, trained_by_start
from spanwise.streams import Abrupt, Recurring, Stationary


def advantage(rounds, decay):
    """Mean and standard error as the docstring has them, from all rounds at once."""
    differences = [np.array(ours, float) - np.array(theirs, float) for ours, theirs, _ in rounds]
    counts = [counts for *_, counts in rounds]
    means = [d.mean() for d in differences]

    def fades(now):  # of the rounds before `now`, times what they count
        return [decay ** sum(counts[s + 1 : now]) * counts[s] for s in range(now)]

    def mean(now):
        return sum(f * m for f, m in zip(fades(now), means, strict=False)) / sum(fades(now))

    last = len(rounds)
    spread = [
        max(d.var() / len(d), (d.mean() - mean(s)) ** 2) if s else d.var() / len(d) for s, d in enumerate(differences)
    ]
    return mean(last), sqrt(sum(f**2 * v for f, v in zip(fades(last), spread, strict=True))) / sum(fades(last))


@pytest.mark.parametrize("decay", [0.5, 0.95, 1.0])
def test_an_advantage_is_the_decayed_mean_and_its_error(decay):
    rng = np.random.default_rng(0)
    sizes = {30: 1.0, 7: 0.4, 1: 0.05, 50: 1.0, 12: 0.7}
    rounds = [(rng.random(n) < 0.7, rng.random(n) < 0.5, counts) for n, counts in sizes.items()]
    ahead = Advantage(decay)
    for ours, theirs, counts in rounds:
        ahead = ahead.after(ours, theirs, counts)
    assert (ahead.mean, ahead.error) == pytest.approx(advantage(rounds, decay))
    if ahead.weight > LEAST:
        assert ahead.sure(1.5) == pytest.approx(ahead.mean - 1.5 * ahead.error)


def test_nothing_is_sure_before_more_than_three_rounds_are_counted():
    ahead, known = Advantage(), []
    for _ in range(4):
        ahead = ahead.after(np.ones(100), np.zeros(100))
        known.append(ahead.sure(1.0))
    assert known[:3] == [-np.inf] * 3
    assert known[3] > 0.9
    small = Advantage()
    for _ in range(100):
        small = small.after(np.ones(1), np.zeros(1), 0.01)
    assert small.sure(1.0) == -np.inf


@pytest.mark.parametrize(("n", "differ"), [(50, 0.5), (20, 0.02), (100, 0.005), (1, 0.3)])
def test_on_differences_that_are_noise_the_guard_fires_no_more_often_than_the_page_says(n, differ):
    """Where they are symmetric: one way in one round of six at most, one of two in three of ten."""
    rng = np.random.default_rng(1)
    fired = []
    for _ in range(100):
        ways = [Advantage()] * 2
        for _ in range(150):
            theirs = rng.random(n) < 0.5
            ways = [way.after(theirs ^ (rng.random(n) < differ), theirs) for way in ways]
            fired.append([way.sure(1.0) > 0 for way in ways])
    assert np.mean(fired) < 1 / 6
    assert np.mean(np.any(fired, axis=1)) < 0.3


def test_an_advantage_is_told_with_as_many_digits_as_tell_it_from_its_error():
    same = np.array([True, False])
    assert str(Advantage().after(same, same)) == "no better and no worse"
    assert str(Advantage().after(same, ~same)) == "no better and no worse (± 70.7 points)"
    assert str(Advantage().after(same, ~same).after(same, same)).startswith("no better and no worse (± ")
    assert str(Advantage(total=0.0273, weight=1.0, variance=0.0037**2, rounds=1)) == "2.7 ± 0.4 points better"
    assert str(Advantage(total=-0.0131, weight=1.0, variance=0.0126**2, rounds=1)) == "1.31 ± 1.26 points worse"


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
    for X, y in Stationary(rounds=40, size=30, seed=5):
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
    assert [report.chosen for report in reports[:4]] == ["copies"] * 4
    later = [report for report in reports[24:] if report.chosen != "copies"]
    assert later
    assert "points better than the average of 2 plain learners over 39 rounds, newer ones count" in later[-1].why
    assert reports[0].why == "the average of 2 plain learners plays, as nothing else was tried yet"
    assert reports[1].why == (
        "the mixture (now 95% start 1) has been no better and no worse than the average of 2 plain learners over 1 "
        "round; so the average of 2 plain learners plays; the regression has been no better and no worse"
    )


def told_in(why):
    """The two advantages of a sentence, in points, and their errors; the one it begins with first."""
    found = re.findall(r"([\d.]+) ± ([\d.]+) points (better|worse)|no better and no worse", why)
    assert len(found) == 2, "both ways are told"
    sign = {"better": 1, "worse": -1, "": 0}
    return [(sign[way] * float(mean or 0), float(error or 0)) for mean, error, way in found]


DOUBTS = "they count for less than three whole rounds", "that is not sure enough"


def test_why_says_what_plays_and_begins_with_what_decided():
    seen = set()
    for stream in (Abrupt(rounds=40, every=20, size=60), Recurring(rounds=80, every=20, size=60)):
        model = Spanwise(centroids(), copies=2)
        for X, y in stream:
            report = model.learn(np.round(X[:, :4] * 4), y)
            if report.round > 1:
                (mean, error), (other, _) = told_in(report.why)
                stays = "so the average of 2 plain learners plays" in report.why
                assert stays == (report.chosen == "copies")
                doubts = re.findall("that is not sure enough|they count for less than three whole rounds", report.why)
                assert doubts == ([DOUBTS[report.round > 4]] if stays and "points better than" in report.why else [])
                if stays:
                    assert mean >= other, "the better of the two that are not sure"
                else:
                    assert report.why.startswith(f"the {report.chosen} ")
                    assert mean > error
                seen.add(report.chosen)
    assert seen == {"copies", "mixture", "regression"}, "not all was put to the test"


def test_its_settings_are_those_that_were_measured():
    choice, ahead = Guarded(), Advantage()
    assert (choice.memory, choice.margin, choice.decay, ahead.decay) == (0.5, 1.0, 0.95, 0.95)


def test_a_round_that_is_smaller_than_the_last_ones_on_average_counts_less():
    choice = Guarded()
    assert [choice._counts(n) for n in (40, 40, 10, 90, 40, 1)] == [1.0, 1.0, 1 / 3, 1.0, 10 / 11, 6 / 221]
    assert [choice._counts(n) for n in 9 * [10]][5:] == [80 / 101, 1.0, 1.0, 1.0], (
        "what is eight rounds back is forgotten"
    )


@pytest.mark.parametrize("large", [{2}, {18}, {1, 2, 3, 4}], ids=["early", "just before", "history first"])
def test_a_large_delivery_does_not_make_it_deaf_to_the_rounds_after_it(large):
    """Small rounds count as whole ones again when it is eight rounds back."""
    rng = np.random.default_rng(0)
    model, chosen = Spanwise(GaussianNB()), []
    for t in range(1, 40):
        X = rng.normal(size=(20_000 if t in large else 100, 4))
        y = (X @ [1.5, -1.0, 0.5, 0.0]) * (1 if t < 20 else -1) > 0
        chosen.append(model.learn(X, y).chosen)
    left = next(t for t, name in enumerate(chosen, start=1) if t >= 20 and name != 1)
    assert left <= max(20, max(large) + 8) + 4


def test_few_rows_now_and_then_do_not_make_it_leave_its_fall_back():
    """Nothing shifts; seven rounds of ten have a single row."""
    behind = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        model, plain, rows, lost = Spanwise(GaussianNB()), Plain(GaussianNB()), 0, 0
        for t in range(100):
            n = 300 if rng.random() < 0.3 else 1
            X = rng.normal(size=(n, 8))
            y = X[:, :3] @ [1.5, -1, 0.5] + rng.normal(size=n) > 0
            if t > 1:
                rows, lost = rows + n, lost + ((plain.predict(X) == y).sum() - (model.predict(X) == y).sum())
            model.learn(X, y)
            plain.learn(X, y)
        behind.append(100 * lost / rows)
    assert np.mean(behind) < 0.1


def test_what_is_forgotten_is_forgotten_for_instances_that_are_gone():
    model = Spanwise(centroids(), copies=2)
    for X, y in toy_batches(40):
        model.learn(X, y)
    alive = tuple(trained_by_start(model.method.pool))
    assert model.method.choice.proportions.starts == model.method.choice.fit.starts == alive
    assert len(alive) < 40


def test_a_cover_that_lets_start_one_go_cannot_be_guarded():
    model = Scheme(Algorithm(adapt(centroids()), cover=Geometric(), evidence=Unjudged(), choice=Guarded()))
    rounds = iter(toy_batches(12))
    model.learn(*next(rounds))
    with pytest.raises(SettingError, match="use a cover that keeps it alive"):
        model.learn(*next(rounds))


def test_the_cover_has_copies_of_start_one_only():
    cover = Spanwise(centroids(), copies=3).method.cover
    assert cover.active(1) == [Span(1, copy=copy) for copy in range(3)]
    assert cover.active(9) == [*(Span(1, copy=copy) for copy in range(3)), *MRI(2).active(9)[1:]]


@pytest.mark.parametrize("copies", [0, -1, 2.5, "3", True])
def test_copies_are_a_whole_number_and_one_at_least(copies):
    with pytest.raises(SettingError, match="at least one"):
        Spanwise(centroids(), copies=copies)


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


@pytest.mark.parametrize(("learner", "told"), [(GaussianNB(), 1), (SGDClassifier(), 0)], ids=["same", "different"])
def test_copies_that_are_all_the_same_are_told_of_once(learner, told, caplog):
    model = Spanwise(learner, copies=3)
    for X, y in toy_batches(12):
        model.learn(X, y)
    assert len([record for record in caplog.records if "seedless = True" in record.message]) == told


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
    """Two ways and the fall-back, which is number 2, as in the proofs of the docs, after each round from 0 on."""

    def __init__(self, rounds, decay):
        self.decay, ways = decay, [Advantage(decay)] * 2
        self.played, self.sums, self.errors, self.ahead, self.fades, self.acts = [], [], [], [], [], []
        for counts, fallback, *ours in rounds:
            right = [np.arange(8) < n for n in (fallback, *ours)]  # of 8 rows
            ways = [way.after(mine, right[0], counts) for way, mine in zip(ways, right[1:], strict=True)]
            best = max(range(2), key=lambda i: ways[i].sure(1.0))
            self.played.append(best if ways[best].sure(1.0) > 0 else 2)  # in the round after this one
            self.sums.append([*(way.mean * way.weight for way in ways), 0.0])
            self.errors.append([*(way.error * way.weight for way in ways), 0.0])
            self.ahead.append([*(counts * (n - fallback) / 8 for n in ours), 0.0])
            self.fades.append(decay**counts)
            self.acts.append(ways[0].weight > LEAST)

    def moved(self, t, way):
        """What round `t` adds to its error."""
        return sqrt(max(0.0, self.errors[t][way] ** 2 - (self.fades[t] * self.errors[t - 1][way]) ** 2))


guards = st.builds(
    Guard,
    st.lists(st.tuples(st.sampled_from([1.0, 0.6, 0.01]), *[st.integers(0, 8)] * 3), min_size=3, max_size=40),
    st.sampled_from([0.8, 0.95]),
)


@given(guards)
def test_each_time_the_fall_back_is_left_no_more_is_lost_than_the_page_says(guard):
    played, ahead, first = guard.played, guard.ahead, True
    for a in range(1, len(played) - 1):
        if played[a] != 2 and played[a - 1] == 2:
            begun = not guard.acts[a - 1]  # what was ahead was so before the guard might act
            gained, allowed = 0.0, 5.0 if begun else 2.0
            assert first or not begun
            first = False
            for t in range(a + 1, len(played)):
                now, then = played[t], played[t - 1]
                gained += ahead[t][then]
                assert gained > -allowed - 1e-9
                if now == 2:
                    break
                if now != then:
                    allowed += ahead[t][now] - ahead[t][then] + guard.moved(t, then)


@given(guards, st.sampled_from([0, 1, 2]))
def test_on_no_interval_does_any_way_gain_more_on_what_plays_than_the_page_says(guard, way):
    played, ahead, sums, errors = guard.played, guard.ahead, guard.sums, guard.errors
    for a in range(guard.acts.index(True) if any(guard.acts) else len(played), len(played) - 1):
        gained, changes = 0.0, 0.0
        for b in range(a + 1, len(played)):
            gained += ahead[b][way] - ahead[b][played[b - 1]]
            behind = sums[a][played[a]] - sums[a][way]
            doubts = (1 - guard.decay) * sum(errors[t][way] for t in range(a, b - 1))
            assert gained <= 1 + behind + errors[b - 1][way] + doubts + changes + 1e-9
            new, old = played[b], played[b - 1]
            if new != old:
                changes += ahead[b][new] - ahead[b][old] + guard.fades[b] * errors[b - 1][new]
