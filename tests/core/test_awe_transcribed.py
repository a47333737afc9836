"""Algorithms 1 and 2, written out once more the slow way, agree with `AWE` on every figure of every round.

The transcription was written from the paper and the design before its author had read the code; it uses lists and
loops alone. The learners are scripted: what one says is a formula of its seed, of what it trained on, and of the point.
"""

import math
from functools import cache

import numpy as np
import pytest

from spanwise.core.awe import AWE, Algorithm
from spanwise.core.evidence import HoldOut, Prequential
from spanwise.core.refine import Doubling
from spanwise.core.scheme import Scheme
from spanwise.core.spans import LiteralMRI

CLASSES, DELTA = 4, 0.1
SIZES = [9, 1, 1, 14, 6, 1, 1, 1, 12, 20, 3, 8, 1, 11, 2, 16, 7, 9, 5, 1, 13, 4, 10, 6]  # one row: nothing is held out


# --- The script: points, labels, folds, and what a learner says.
def batch(t):
    return [(t, j) for j in range(SIZES[t - 1])]


def name(t, j):
    """The raw label; some classes first appear in later rounds."""
    return "wxyz"[(7 * t + 3 * j + j * j) % min(CLASSES, 2 + t // 4)]


ORDER = list(dict.fromkeys(name(*point) for t in range(1, len(SIZES) + 1) for point in batch(t)))


def label(t, j):
    """The class number, in the order of first appearance."""
    return ORDER.index(name(t, j))


def folds(n, rng=None):
    return [j for j in range(n) if j % 3 != 1], [j for j in range(n) if j % 3 == 1]


@cache
def spoken(mark, age, seen, point):
    """A wave for noise, and some skill at the true class that comes and goes."""
    t, j = point
    skill = 0.9 + 1.1 * math.sin(0.61 * mark + 0.45 * age - 0.8 * (t // 5))
    wave = [math.sin(1.7 * mark + 0.9 * age + 0.01 * seen + 2.3 * t + 4.1 * j + 1.9 * k) for k in range(CLASSES)]
    return [w + (skill if k == label(t, j) else 0.0) for k, w in enumerate(wave)]


class Scripted:
    """Knows itself by its seed, and writes every seed it is given into a list that all copies share.

    A growing one answers for the classes up to the highest it has trained on, as a real learner may.
    """

    def __init__(self, born, growing, mark=0, age=0, seen=0, top=0):
        self.born, self.growing = born, growing
        self.mark, self.age, self.seen, self.top = mark, age, seen, top

    def fresh(self, seed):
        self.born.append(seed)
        return Scripted(self.born, self.growing, mark=seed % 97)

    def learn(self, X, y):
        self.age += 1
        self.seen += sum(1 + int(j) + int(k) for (_, j), k in zip(X, y, strict=True))
        self.top = max(self.top, 1 + int(max(y)))

    def logits(self, X):
        width = self.top if self.growing else CLASSES
        points = [(int(t), int(j)) for t, j in X]
        return np.array([spoken(self.mark, self.age, self.seen, point)[:width] for point in points])

    def copy(self):
        return Scripted(self.born, self.growing, self.mark, self.age, self.seen, self.top)


# --- Section 4.1, as printed. A span is (kind, resolution, start).
def padded(horizon):
    power = 1
    while power < horizon:
        power *= 2
    return power


@cache
def literal_active(t, horizon):
    found = []
    for i in range(1, int(math.log2(horizon)) + 1):
        length = horizon // 2 ** (i - 1)
        for k in range(1, horizon + 1):
            r = (1 + (k - 1) * length, k * length)
            b = (1 + (k - 1) * length + length // 2, k * length + 3 * length // 2)
            found += [("R", i, r[0])] if r[0] <= t <= min(r[1], horizon) else []
            found += [("B", i, b[0])] if b[0] <= t <= min(b[1], horizon) else []
    return found


def merged_active(t):
    """One instance per distinct start, taken from the literal spans of a horizon far enough away."""
    return [("", 0, start) for start in sorted({span[2] for span in literal_active(t, padded(4 * t + 4))})]


# --- Algorithm 2.
def refine(scores, horizon, scale):
    """(accuracy, window) from (correct, total) of each round, newest first; None where no point is in the window."""

    def correct(r):
        return sum(c for c, _ in scores[:r])

    def points(r):
        return sum(n for _, n in scores[:r])

    def noise(n):
        return math.sqrt(math.log(horizon / DELTA) / n) + math.sqrt(20 * math.log(horizon) / n)

    r = 1
    while r <= len(scores) / 2:
        if points(r) > 0 and abs(correct(r) / points(r) - correct(2 * r) / points(2 * r)) > scale * noise(points(r)):
            break
        r = 2 * r
    return (correct(r) / points(r), r) if points(r) > 0 else None


# --- Algorithm 1. A model is a span, or a dict from spans to weights (the ensemble).
class Transcription:
    def __init__(self, born, *, literal=False, prequential=False, horizon=None, scale=4.0, growing=False):
        self.born = born  # round -> seeds of the instances that start there, coarsest first
        self.literal, self.prequential, self.scale, self.growing = literal, prequential, scale, growing
        self.horizon = padded(horizon) if literal else horizon
        self.marks, self.trained = {}, {}  # span -> identity; span -> age, sum of what it saw, classes it answers for
        self.current = self.first = ("R", 1, 1) if literal else ("", 0, 1)
        self.ensemble = None
        self.known = 0
        self.kept = []  # hold-out folds, a list of points a round
        self.scored = {}  # prequential: span or "ensemble" -> {round: (correct, total)}
        self.christen(1)

    def active(self, t):
        return literal_active(min(t, self.horizon), self.horizon) if self.literal else merged_active(t)

    def christen(self, t):
        new = sorted((span for span in self.active(t) if span not in self.marks), key=lambda span: span[1])
        self.marks |= {span: seed % 97 for span, seed in zip(new, self.born[t], strict=True)}

    def logits(self, span, point):
        age, seen, top = self.trained.get(span, (0, 0, 0))
        said = spoken(self.marks[span], age, seen, point)
        if not self.growing:
            return said
        least = min(said[:top]) - 1 if top else 0.0
        return said[:top] + [least] * (self.known - top)

    def says(self, model, point):
        if isinstance(model, dict):
            said = [(weight, self.logits(span, point)) for span, weight in model.items()]
            total = [sum(weight * logits[k] for weight, logits in said) for k in range(len(said[0][1]))]
        else:
            total = self.logits(model, point)
        return total.index(max(total))

    def score(self, model, points):
        return sum(self.says(model, point) == label(*point) for point in points), len(points)

    def estimate(self, model, t):
        if self.prequential:
            by_round = self.scored.get("ensemble" if isinstance(model, dict) else model, {})
            scores = [by_round[s] for s in sorted(by_round, reverse=True)]
        else:
            scores = [self.score(model, points) for points in reversed(self.kept)]
        return refine(scores, self.horizon or max(2, padded(t)), self.scale) if scores else None

    def round(self, t):
        points = batch(t)
        self.known = max(self.known, 1 + max(label(*point) for point in points))
        answers = [self.says(self.current, point) for point in points]  # 4-8
        right = sum(k == label(*point) for k, point in zip(answers, points, strict=True))
        accuracy = right / len(points) if t > 1 else None  # PAPER F19: the untrained first model is not scored
        train, held = folds(len(points))  # 9
        if self.prequential:
            self.look_before_training(points, t)
            train = list(range(len(points)))
        self.kept.append([points[j] for j in held])
        for span in self.active(t):  # 10
            age, seen, top = self.trained.get(span, (0, 0, 0))
            top = max([top] + [1 + label(t, j) for j in train])
            self.trained[span] = (age + 1, seen + sum(1 + j + label(t, j) for j in train), top)
        self.christen(t + 1)
        judged = [span for span in self.active(t + 1) if self.literal or span in self.trained]  # 11
        found = {span: self.estimate(span, t) for span in judged}  # 12
        estimates = {span: estimate for span, estimate in found.items() if estimate is not None}
        self.choose(estimates, t)
        chosen = "ensemble" if isinstance(self.current, dict) else self.current[2]
        report = {"answers": [ORDER[k] for k in answers], "accuracy": accuracy, "chosen": chosen}
        return report | self.by_start(estimates)

    def look_before_training(self, points, t):
        for span in self.active(t):
            if span in self.trained:  # open in the design; `Prequential` says that who is untrained is not judged
                self.scored.setdefault(span, {})[t] = self.score(span, points)
        if self.ensemble is not None:
            self.scored.setdefault("ensemble", {})[t] = self.score(self.ensemble, points)

    def choose(self, estimates, t):
        self.ensemble = {span: accuracy for span, (accuracy, _) in estimates.items()} or None  # 13-14
        trained = [span for span in estimates if span in self.trained]
        if not trained:
            self.current = self.first
            return
        best = min(trained, key=lambda span: (-estimates[span][0], span[2], span[1]))  # 15
        together = self.estimate(self.ensemble, t)
        wins = together is not None and together[0] > estimates[best][0]  # 16
        self.current = self.ensemble if wins else best

    def by_start(self, estimates):
        if not estimates:  # open in the design: no ensemble was considered, so all the weight is on who plays
            return {"estimates": {}, "windows": {}, "weights": {1: 1.0}}
        found = {"estimates": {}, "windows": {}, "weights": {}}
        for start in sorted({span[2] for span in estimates}):
            spans = [span for span in estimates if span[2] == start]
            best = min(spans, key=lambda span: (-estimates[span][0], span[1]))
            found["estimates"][start], found["windows"][start] = estimates[best]
            found["weights"][start] = sum(estimates[span][0] for span in spans)
        return found


# --- The comparison.
def build(learner, *, literal=False, prequential=False, horizon=None, scale=4.0, growing=False):
    classes = None if growing else ORDER
    if scale == 4.0:
        how = {"evidence": Prequential()} if prequential else {"split": folds}
        return AWE(learner, horizon=horizon, literal=literal, delta=DELTA, classes=classes, **how)
    algorithm = Algorithm(
        learner,
        cover=LiteralMRI(horizon) if literal else None,
        evidence=Prequential() if prequential else HoldOut(split=folds),
        window=Doubling(DELTA, padded(horizon) if literal else horizon, scale),
        untrained=literal,
    )
    return Scheme(algorithm, classes=classes)


def play(rounds, **how):
    """The library's run: seeds of those who start at each round, reports, and answers given before each round."""
    seeds, born, reports, answers = [], {}, [], []
    model = build(Scripted(seeds, how.get("growing", False)), **how)
    for t in range(1, rounds + 1):
        born[t], seeds[:] = list(seeds), []
        X = np.array(batch(t), dtype=float)
        answers.append(model.predict(X).tolist() if model.classes else None)
        reports.append(model.learn(X, [name(*point) for point in batch(t)]))
    born[rounds + 1] = list(seeds)
    return born, reports, answers


RUNS = {
    "merged": ({}, 24),
    "merged, small thresholds": ({"scale": 0.1}, 24),
    "merged, horizon given": ({"horizon": 20}, 24),
    "merged, horizon given, small thresholds": ({"horizon": 10**6, "scale": 0.05}, 24),
    "merged, classes grow": ({"growing": True, "scale": 0.1}, 24),
    "literal, a power of two": ({"literal": True, "horizon": 16}, 16),
    "literal, padded": ({"literal": True, "horizon": 11}, 16),
    "literal, padded, small thresholds": ({"literal": True, "horizon": 20, "scale": 0.1}, 24),
    "literal, classes grow": ({"literal": True, "horizon": 20, "growing": True}, 20),
    "prequential": ({"prequential": True}, 24),
    "prequential, small thresholds": ({"prequential": True, "scale": 0.1, "growing": True}, 24),
}


@pytest.mark.parametrize(("how", "rounds"), RUNS.values(), ids=RUNS)
def test_every_figure_of_every_round_is_what_the_slow_transcription_works_out(how, rounds):
    born, reports, answers = play(rounds, **how)
    slow = Transcription(born, **how)
    for t, (report, answer) in enumerate(zip(reports, answers, strict=True), start=1):
        expected = slow.round(t)
        assert report.round == t
        assert answer in (None, expected["answers"])
        assert report.accuracy == pytest.approx(expected["accuracy"], abs=1e-12)
        assert report.starts == tuple(sorted({span[2] for span in slow.active(t + 1)}))
        assert sorted((s.kind, s.resolution, s.start) for s in report.instances) == sorted(slow.active(t + 1))
        assert (report.chosen, report.windows) == (expected["chosen"], expected["windows"])
        assert report.estimates == pytest.approx(expected["estimates"], abs=1e-12)
        assert report.weights == pytest.approx(expected["weights"], abs=1e-12)


@pytest.mark.parametrize(("how", "rounds"), RUNS.values(), ids=RUNS)
def test_the_script_exercises_what_it_is_there_for(how, rounds):
    """Ensembles, instances of several starts, rounds without an estimate; windows that stop early where they can."""
    _, reports, _ = play(rounds, **how)
    chosen = {report.chosen for report in reports}
    assert "ensemble" in chosen
    assert len(chosen - {"ensemble"}) >= 2
    assert any(not report.estimates for report in reports)
    of_start_1 = {(report.round, report.windows[1]) for report in reports if report.estimates}
    stopped = any(2 * window <= t - how.get("prequential", False) for t, window in of_start_1)
    assert stopped == ("scale" in how)
