"""Labels regressed on what the starts said: the formulas, who comes and goes, and that nothing runs away."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise import Spanwise
from spanwise.adapters.functions import FunctionLearner
from spanwise.checks import centroids, toy_batches
from spanwise.core.pool import Scores
from spanwise.core.probabilities import softmax
from spanwise.schemes import regression
from spanwise.schemes.regression import DOUBT, Fit, Regressed
from spanwise.schemes.spanwise import trained_by_start
from spanwise.streams import Abrupt


def said_of(rng, starts, classes, n, sure=2.0):
    """Logarithms of probabilities, (starts, classes, n)."""
    logits = rng.normal(scale=sure, size=(starts, classes, n))
    return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))


def drawn(rng, proba):
    """A label for each row of (n, classes)."""
    return np.array([rng.choice(len(row), p=row / row.sum()) for row in proba])


class Slow:
    """The docstring of `Fit`, row by row and class by class."""

    def __init__(self, starts, classes):
        self.size, self.starts = starts + classes, starts
        self.first = np.zeros(self.size)
        self.first[0] = 1.0
        self.theta, self.known, self.pull = self.first, np.zeros((self.size, self.size)), np.zeros(self.size)

    def after(self, logs, y, fades):
        _, classes, n = logs.shape
        gradient, curvature = np.zeros(self.size), np.zeros((self.size, self.size))
        for row in range(n):
            z = [np.concatenate([logs[:, k, row], np.eye(classes)[k]]) for k in range(classes)]
            scores = np.array([self.theta @ one for one in z])
            proba = np.exp(scores - scores.max())
            proba /= proba.sum()
            gradient += sum(p * one for p, one in zip(proba, z, strict=True)) - z[y[row]]
            half = (proba + np.eye(classes)[y[row]]) / 2
            mean = sum(q * one for q, one in zip(half, z, strict=True))
            curvature += sum(q * np.outer(one - mean, one - mean) for q, one in zip(half, z, strict=True))
        self.known = fades * self.known + curvature
        self.pull = fades * self.pull + curvature @ self.theta - gradient
        doubt = DOUBT * np.eye(self.size)
        self.theta = np.linalg.solve(self.known + doubt, self.pull + doubt @ self.first)


@pytest.mark.parametrize(("starts", "classes"), [(1, 2), (3, 2), (4, 5)])
def test_a_fit_is_the_one_of_a_slow_transcription(starts, classes):
    rng = np.random.default_rng(starts)
    fit, slow = Fit(tuple(range(1, starts + 1)), classes), Slow(starts, classes)
    for n, fades in [(40, 0.5), (7, 0.9), (1, 0.99), (60, 0.5), (25, 0.5)]:
        logs, y = said_of(rng, starts, classes, n), rng.integers(classes, size=n)
        scores = np.array([[slow.theta[:starts] @ logs[:, k, i] for i in range(n)] for k in range(classes)])
        assert fit.scores(logs) == pytest.approx(scores + slow.theta[starts:, None], abs=1e-9)
        fit = fit.after(logs, y, fades)
        slow.after(logs, y, fades)
        assert [*fit.trust, *fit.correction] == pytest.approx(list(slow.theta), abs=1e-9)


def test_before_anything_is_known_start_one_is_believed_as_it_is():
    logs = said_of(np.random.default_rng(0), 3, 4, 20)
    assert np.array_equal(Fit((1, 5, 6), 4).scores(logs), logs[0])


def test_it_finds_how_far_each_is_to_be_trusted_and_what_all_misjudge():
    """Labels are drawn as start 1 says to the power of a half, times start 5 to the power of 2, times a correction."""
    rng, truth, correction = np.random.default_rng(1), np.array([0.5, 2.0, 0.0]), np.array([0.8, 0.0, -0.8])
    fit = Fit((1, 5, 6), 3)
    for _ in range(40):
        logs = said_of(rng, 3, 3, 500, sure=1.0)
        scores = np.einsum("s,skn->nk", truth, logs) + correction
        fit = fit.after(logs, drawn(rng, softmax(scores)), fades=0.95)
    assert fit.trust == pytest.approx(truth, abs=0.1)
    assert fit.correction == pytest.approx(correction, abs=0.1)


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_who_is_gone_is_left_out_and_who_is_new_begins_with_nothing(seed, classes):
    rng = np.random.default_rng(seed)
    fit = Fit((1, 5, 7), classes).after(said_of(rng, 3, classes, 30), rng.integers(classes, size=30), 0.5)
    found = fit.among((1, 7, 9), classes + 1)
    assert found.trust[2] == pytest.approx(0.0, abs=1e-12)
    assert found.correction[classes] == pytest.approx(0.0, abs=1e-12)
    kept = [0, 2, *range(3, 3 + classes)]  # what is known is quadratic: start 5 is not listened to any more
    known = fit.curvature[np.ix_(kept, kept)] + DOUBT * np.eye(len(kept))
    first = np.eye(1, len(kept))[0]
    expected = np.linalg.solve(known, fit.pull[kept] + DOUBT * first)
    assert [*found.trust[:2], *found.correction[:classes]] == pytest.approx(list(expected))
    assert fit.among((1, 5, 7), classes) is fit


@pytest.mark.parametrize("at_once", [1, 100, 999])
def test_rows_worked_on_in_parts_give_the_same_fit(monkeypatch, at_once):
    rng = np.random.default_rng(2)
    rounds = [(said_of(rng, 3, 4, 61), rng.integers(4, size=61)) for _ in range(4)]

    def fitted():
        fit = Fit((1, 5, 7), 4)
        for logs, y in rounds:
            fit = fit.after(logs, y, 0.5)
        return [*fit.trust, *fit.correction]

    whole = fitted()
    monkeypatch.setattr(regression, "AT_ONCE", at_once)
    assert fitted() == pytest.approx(whole, abs=1e-9)


@pytest.mark.parametrize(("classes", "n"), [(2, 100_000), (2, 16_000), (3, 60_000), (50, 640), (200, 4_000)])
def test_rounding_leaves_no_direction_in_which_the_loss_curves_down(classes, n):
    """Of learners that say the same of every row, what rounding does to the sums is most of the curvature."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        proba = np.maximum(rng.dirichlet(np.full(classes, 0.3), size=8), 1e-6).astype(np.float32)
        logs, labels = np.repeat(np.log(proba)[:, :, None], n, axis=2), rng.dirichlet(np.full(classes, 2.0))
        fit, y = Fit(tuple(range(1, 9)), classes), rng.choice(classes, size=n, p=labels)
        for _ in range(3):
            fit = fit.after(logs, y, 0.5)
        assert np.linalg.eigvalsh((fit.curvature + fit.curvature.T) / 2)[0] > -DOUBT / 2
        assert np.abs(fit.trust).max() < 2


def test_of_very_many_classes_none_is_corrected(monkeypatch):
    monkeypatch.setattr(regression, "MANY_CLASSES", 5)
    rng = np.random.default_rng(4)
    few, many = Fit((1, 3), 5), Fit((1, 3), 6)
    few = few.after(said_of(rng, 2, 5, 50), rng.integers(5, size=50), 0.5)
    many = many.after(said_of(rng, 2, 6, 50), rng.integers(6, size=50), 0.5)
    assert few.correction.any()
    assert not many.correction.any()
    assert many.curvature.shape == (2, 2)
    grown = few.among((1, 3), 6)
    assert not grown.correction.any()
    assert grown.scores(said_of(rng, 2, 6, 9)).shape == (6, 9)


def test_a_class_that_is_new_in_a_round_can_be_scored_before_it_is_fitted():
    model = Spanwise(centroids(), copies=2)
    for X, y in toy_batches(6, seed=3):
        model.learn(X, y)
    groups = trained_by_start(model.method.pool)
    way = Regressed(tuple(groups.values()), Fit(tuple(groups), 2))
    model.method.pool.classes = 3
    proba = way.proba(Scores(model.method.pool, np.zeros((4, 4))))
    assert proba.shape == (4, 3)
    assert proba.sum(axis=1) == pytest.approx(1.0)


def liar(sure):
    """Tells the truth in odd rounds and the opposite in even ones, as surely as can be said."""
    return FunctionLearner(
        lambda seed: 0,
        lambda rounds, X, y: rounds + 1,
        lambda rounds, X: sure * (-1.0) ** rounds * np.stack([-X[:, 0], X[:, 0]], axis=1),
    )


@pytest.mark.parametrize("sure", [1.0, 1e3, 1e30])
def test_learners_that_are_sure_and_wrong_do_not_make_it_run_away(sure):
    model = Spanwise(liar(sure), copies=1, classes=[0, 1])
    rng = np.random.default_rng(0)
    for _ in range(40):
        X = rng.choice([-1.0, 1.0], size=(50, 1))
        model.learn(X, (X[:, 0] > 0).astype(int))
        assert np.abs(model.method.choice.fit.trust).max() < 10
        assert np.isfinite(model.predict_proba(X)).all()


def test_its_weights_are_the_powers_and_a_round_more_leaves_the_old_fit_as_it_was():
    model, before = Spanwise(centroids(), copies=2), None
    for X, y in Abrupt(rounds=12, every=6, size=60):
        X = np.round(X[:, :4] * 4)
        if before is not None:
            way, trust, curvature = before
            model.learn(X, y)
            assert np.array_equal(way.fit.trust, trust)
            assert np.array_equal(way.fit.curvature, curvature)
            total = [sum(way.weights[span] for span in spans) for spans in way.groups]
            assert total == pytest.approx(trust.tolist())
        else:
            model.learn(X, y)
        way = model.method.choice.offered["regression"]
        before = (way, way.fit.trust.copy(), way.fit.curvature.copy()) if way.fit.curvature is not None else None
