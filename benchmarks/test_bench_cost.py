"""What a scheme costs: how many learners a round calls, what it adds to them, and what it keeps in memory."""

import gc
from math import ceil, log2
from time import perf_counter

import numpy as np
import psutil
import pytest
from sklearn.linear_model import SGDClassifier

from spanwise import AWE, HoldOut, Plain, Prequential, Spanwise
from spanwise.bench.suite.learners import make
from spanwise.learner import adapt
from spanwise.schemes.spanwise import copies_of

X = np.zeros((2, 1))
Y = np.array([0, 1])

PLAYS = 5
"""Of which the middle one counts, as clocks swing."""


class Counting:
    """Does nothing, and counts who asked it to."""

    learned = scored = rows = 0

    def fresh(self, seed):
        return Counting()

    def learn(self, X, y):
        Counting.learned += 1

    def logits(self, X):
        Counting.scored += 1
        Counting.rows += len(X)
        return np.zeros((len(X), 2))

    def copy(self):
        return self


class Timed:
    """Another learner, and the seconds spent inside its own `learn` and `logits`."""

    seconds = 0.0

    def __init__(self, learner):
        self.learner = learner

    def fresh(self, seed):
        return Timed(self.learner.fresh(seed))

    def learn(self, X, y):
        begin = perf_counter()
        self.learner.learn(X, y)
        Timed.seconds += perf_counter() - begin

    def logits(self, X):
        begin = perf_counter()
        logits = self.learner.logits(X)
        Timed.seconds += perf_counter() - begin
        return logits

    def copy(self):
        return Timed(self.learner.copy())


class TimedWhole(Timed):
    """The same, and apart from them the seconds of starting and copying it."""

    kept = 0.0

    def fresh(self, seed):
        return self._timed(lambda: TimedWhole(self.learner.fresh(seed)))

    def copy(self):
        return self._timed(lambda: TimedWhole(self.learner.copy()))

    def _timed(self, work):
        begin = perf_counter()
        twin = work()
        TimedWhole.kept += perf_counter() - begin
        return twin


def test_calls_and_memory_up_to_100_000_rounds(record):
    """Alive instances and learner calls grow as log t; what is kept is bounded when the evidence is capped."""
    cap, process = 1024, psutil.Process()
    model = AWE(Counting(), evidence=Prequential(rounds=cap), classes=[0, 1])
    megabytes, worst, begin = {}, 0.0, perf_counter()
    for t in range(1, 100_001):
        Counting.learned = Counting.scored = 0
        report = model.learn(X, Y)
        alive = len(report.instances)
        assert alive <= 2 * ceil(log2(t + 1))
        assert Counting.learned <= alive + 1
        assert Counting.scored <= alive + 1
        worst = max(worst, alive / log2(t + 1))
        if t in (1_000, 10_000, 50_000, 100_000):
            tallies = model.method.evidence.tallies
            assert len(tallies) <= alive + 1
            assert max(map(len, tallies.values())) <= 2 * cap
            gc.collect()
            megabytes[t] = round(process.memory_info().rss / 1e6, 1)
    record(
        benchmark="rounds_to_100_000",
        most_alive_over_log2_t=round(worst, 3),
        alive_at_the_end=alive,
        rounds_of_counts_kept=sum(map(len, tallies.values())),
        megabytes_of_the_process=megabytes,
        milliseconds_a_round=round(1000 * (perf_counter() - begin) / 100_000, 3),
        note="prequential evidence capped at 1,024 rounds, a learner that does nothing",
    )


@pytest.mark.parametrize("points", [200, 1000])
def test_a_capped_hold_out_costs_the_same_in_every_round(record, points):
    """A hold-out capped at n points is n points for each instance to answer, however long the stream."""
    model = AWE(Counting(), evidence=HoldOut(0.5, points=points), classes=[0, 1])
    batch = np.zeros((40, 1)), np.arange(40) % 2
    for _ in range(2_000):
        Counting.rows = 0
        report = model.learn(*batch)
        assert Counting.rows <= (points + 40) * len(report.instances)
    record(
        benchmark=f"hold_out_capped_at_{points}",
        rounds=2_000,
        rows_scored_in_the_last_round=Counting.rows,
        instances=len(report.instances),
    )


def test_what_the_scheme_adds_to_its_learners(record):
    """All time outside the learners' own `learn` and `logits`, at 1,000 x 50, two classes, t up to 1,024."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=50)
    model = AWE(Timed(adapt(SGDClassifier(loss="log_loss"))), evidence=Prequential(), classes=[0, 1])
    plain = Plain(adapt(SGDClassifier(loss="log_loss")), classes=[0, 1])
    Timed.seconds = whole = alone = 0.0
    for _ in range(1024):
        X = rng.normal(size=(1000, 50))
        y = (X @ weights > 0).astype(int)
        begin = perf_counter()
        model.learn(X, y)
        middle = perf_counter()
        plain.learn(X, y)
        whole, alone = whole + middle - begin, alone + perf_counter() - middle
    added = (whole - Timed.seconds) / Timed.seconds
    record(
        benchmark="what_the_scheme_adds",
        rounds=1024,
        rows=1000,
        features=50,
        seconds_in_learners=round(Timed.seconds, 2),
        seconds_in_all=round(whole, 2),
        added=round(added, 4),
        times_the_plain_learner=round(whole / alone, 1),
    )
    assert added < 0.15


@pytest.mark.parametrize(("rows", "features", "classes"), [(336, 8, 2), (1000, 20, 40)], ids=["", "many classes"])
@pytest.mark.parametrize("name", ["linear", "mlp-fast", "naive-bayes"])
def test_what_spanwise_adds_to_its_pool(record, name, rows, features, classes):
    """All time in which no instance is started, copied, trained or asked; with learners of the suite.

    Batches are as electricity's, 336 rows, 8 features and two classes, or larger; each is predicted and then learned.
    """
    np.ones(3_500_000)  # the C library keeps such memory from now on, as it does in a process that has read its data
    plays = sorted(spanwise_adds(make(name, "array", classes), rows, features, classes) for _ in range(PLAYS))
    added, strictly, learners, kept, instances = plays[PLAYS // 2]
    record(
        benchmark=f"what_spanwise_adds_to_{name}" + ("_with_many_classes" if classes > 2 else ""),
        rounds=135,
        rows=rows,
        features=features,
        classes=classes,
        instances=instances,
        seconds_training_and_scoring=round(learners, 2),
        seconds_starting_and_copying=round(kept, 2),
        added=round(added, 4),
        added_to_training_and_scoring=round(strictly, 4),
        added_in_each_play=[round(one, 4) for one, *_ in plays],
        added_to_training_and_scoring_in_each_play=[round(one, 4) for _, one, *_ in plays],
    )
    assert added < 0.10


def spanwise_adds(learner, rows, features, classes):
    """What all else adds to the pool's own time; to training and scoring alone; their seconds; instances at the end."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(2, features, classes))
    model = Spanwise(TimedWhole(learner), copies=copies_of(learner), classes=range(classes))
    Timed.seconds = TimedWhole.kept = whole = 0.0
    for t in range(135):
        X = rng.normal(size=(rows, features))
        y = (X @ weights[t // 68]).argmax(axis=1)
        begin = perf_counter()
        if t:
            model.predict(X)
        model.learn(X, y)
        whole += perf_counter() - begin
    learners, kept = Timed.seconds, TimedWhole.kept
    pool = learners + kept
    return (whole - pool) / pool, (whole - learners) / learners, learners, kept, len(model.method.pool.spans)
