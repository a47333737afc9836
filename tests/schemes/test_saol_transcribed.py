"""SAOL and CBCE against direct, slow transcriptions of PAPER.md C.1 and C.2, on scripted learners.

A scripted instance's logits are a formula of its seed, its age and the point, so that the test can
work out what everybody says without the library's help.
"""

from math import exp, floor, log2, sin, sqrt

import numpy as np
import pytest

from spanwise import CBCE, MRI, SAOL
from spanwise.adapters.functions import majority_class
from spanwise.core.pool import seed_of
from spanwise.core.spans import Span

CLASSES = 3
ROUNDS = 20


class Scripted:
    def __init__(self, seed=0):
        self.seed, self.age = seed, 0

    def fresh(self, seed):
        return Scripted(seed)

    def learn(self, X, y):
        self.age += 1

    def logits(self, X):
        return np.array([formula(self.seed, self.age, x) for x in X[:, 0]])


def formula(seed, age, x):
    if age == 0:
        return [0.0] * CLASSES
    return [3 * sin((seed % 97) * (k + 1) + age * 0.7 + x * (k + 2)) for k in range(CLASSES)]


def stream():
    rng = np.random.default_rng(4)
    for t in range(1, ROUNDS + 1):
        X = rng.normal(size=(7 + t % 4, 1))
        yield X, rng.integers(0, CLASSES, size=len(X))


def softmax(row):
    top = max(row)
    powers = [exp(v - top) for v in row]
    return [p / sum(powers) for p in powers]


def geometric_intervals(t):
    return [(t // 2**k * 2**k, t // 2**k * 2**k + 2**k - 1) for k in range(floor(log2(t)) + 1)]


def says(start, t, X, run_seed):
    """What the instance started at `start` says at round t, before training on it."""
    seed = seed_of(run_seed, Span(start))
    return [formula(seed, t - start, x) for x in X[:, 0]]


def argmax(row):
    return row.index(max(row))


def error_of(rows, y):
    return sum(argmax(row) != label for row, label in zip(rows, y, strict=True)) / len(y)


def mixed(weights, t, X, run_seed):
    total = sum(weights.values())
    rows = []
    for i in range(len(X)):
        row = [0.0] * CLASSES
        for (start, _), weight in weights.items():
            probabilities = softmax(says(start, t, X, run_seed)[i])
            row = [a + weight / total * p for a, p in zip(row, probabilities, strict=True)]
        rows.append(row)
    return rows


def by_start(weights):
    total, merged = sum(weights.values()), {}
    for (start, _), weight in weights.items():
        merged[start] = merged.get(start, 0.0) + weight / total
    return merged


def eta(interval):
    return min(0.5, 1 / sqrt(interval[1] - interval[0] + 1))


@pytest.mark.parametrize("random", [False, True])
def test_saol_weights_and_predictions_are_those_of_the_paper(random):
    model = SAOL(Scripted(), seed=3, random=random, classes=range(CLASSES))
    weights = {interval: eta(interval) for interval in geometric_intervals(1)}
    for t, (X, y) in enumerate(stream(), start=1):
        if t > 1 and not random:
            assert np.allclose(model.predict_proba(X), mixed(weights, t, X, 3), atol=1e-12)
        losses = {interval: error_of(says(interval[0], t, X, 3), y) for interval in weights}
        expected = sum(w * losses[i] for i, w in weights.items()) / sum(weights.values())
        played = expected if random else error_of(mixed(weights, t, X, 3), y)
        moved = {i: w * (1 + eta(i) * (played - losses[i])) for i, w in weights.items()}
        weights = {i: moved.get(i, eta(i)) for i in geometric_intervals(t + 1)}
        report = model.learn(X, y)
        if random:
            assert report.chosen in {start for start, _ in weights}
        else:
            assert report.weights == pytest.approx(by_start(weights), abs=1e-12)


def test_a_random_saol_draws_each_instance_as_often_as_its_weight_says():
    draws, shares = [], []
    for seed in range(300):
        model = SAOL(Scripted(), seed=0, random=True, classes=range(CLASSES))
        model.method.choice.seed = seed
        mean = SAOL(Scripted(), seed=0, classes=range(CLASSES))
        for X, y in list(stream())[:6]:
            drawn, whole = model.learn(X, y), mean.learn(X, y)
        draws.append(drawn.chosen)
        shares.append(whole.weights)
    starts = sorted(shares[0])
    frequencies = np.array([draws.count(start) / len(draws) for start in starts])
    assert len(set(draws)) > 1
    assert np.abs(frequencies - np.array([shares[0][start] for start in starts])).max() < 0.12


def test_saol_falls_back_to_the_plain_learner_where_the_papers_draws_are():
    """PAPER.md F16: while nobody gains, untrained intervals hold most of the weight at every even round to 16."""
    model = SAOL(majority_class(), fallback=True)
    chosen = [model.learn(np.zeros((5, 1)), [0] * 5).chosen for _ in range(15)]
    assert [t for t, who in enumerate(chosen, start=2) if who == 1] == [2, 4, 6, 8, 10, 12, 14, 16]


def test_saol_runs_on_the_papers_own_cover_too():
    model = SAOL(Scripted(), cover=MRI(), classes=range(CLASSES))
    for X, y in stream():
        report = model.learn(X, y)
    assert set(report.weights) == set(MRI().starts(ROUNDS + 1))
    assert sum(report.weights.values()) == pytest.approx(1)


def test_cbce_weights_are_those_of_the_paper():
    model = CBCE(Scripted(), seed=3, classes=range(CLASSES))
    past = {}  # interval -> lists of g and of g * v

    def stake(interval):
        g, gv = past.get(interval, ([], []))
        return sum(g) / (1 + len(g)) * (1 + sum(gv))

    def probabilities(t):
        prior = {i: 1 / (i[0] ** 2 * (1 + floor(log2(i[0])))) for i in geometric_intervals(t)}
        raw = {i: prior[i] * max(stake(i), 0) for i in prior}
        raw = raw if any(raw.values()) else prior
        return {i: w / sum(raw.values()) for i, w in raw.items()}

    for t, (X, y) in enumerate(stream(), start=1):
        p = probabilities(t)
        if t > 1:
            assert np.allclose(model.predict_proba(X), mixed(p, t, X, 3), atol=1e-12)
        losses = {i: error_of(says(i[0], t, X, 3), y) for i in p}
        average = sum(p[i] * losses[i] for i in p)
        for i in p:
            v, r = stake(i), average - losses[i]
            g = r if v > 0 else max(r, 0)
            gs, gvs = past.setdefault(i, ([], []))
            gs.append(g)
            gvs.append(g * v)
        report = model.learn(X, y)
        merged = by_start(probabilities(t + 1))
        assert report.weights == pytest.approx(merged, abs=1e-12)
