"""Predicting while another thread learns: no wait, no half-trained model."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import numpy as np
import pytest

from spanwise import AWE, FunctionLearner, Threaded, checks
from spanwise.core.loop import Loop
from spanwise.core.spans import Span
from spanwise.errors import SettingError

BATCHES = list(checks.toy_batches(30))
X = BATCHES[0].X


def slow_learner(entered, go_on):
    """Counts rounds, and stops half-way through learning one until told to go on."""

    def learn(counts, X, y):
        counts = counts + 1
        if counts.size and counts[0] > 1:
            entered.set()
            assert go_on.wait(10)
        return counts

    return FunctionLearner(lambda seed: np.zeros(3), learn, lambda counts, X: np.tile(counts, (len(X), 1)))


def test_predicting_does_not_wait_for_a_round_and_sees_the_model_before_it():
    entered, go_on = Event(), Event()
    model = AWE(slow_learner(entered, go_on), classes=[0, 1, 2])
    model.learn(*BATCHES[0])
    before = model.predict_proba(X)
    learning = Thread(target=model.learn, args=BATCHES[1])
    learning.start()
    assert entered.wait(10)
    assert np.array_equal(model.predict_proba(X), before)
    assert model.round == 2
    go_on.set()
    learning.join(10)
    assert model.round == 3


@pytest.mark.parametrize("transactional", [True, False])
def test_every_prediction_is_one_that_some_whole_round_would_make(transactional):
    model = AWE(checks.centroids(), classes=[0, 1, 2], transactional=transactional)
    twin = AWE(checks.centroids(), classes=[0, 1, 2])
    whole = {twin.predict_proba(X).tobytes()}
    for batch in BATCHES:
        twin.learn(*batch)
        whole.add(twin.predict_proba(X).tobytes())
    done = Event()

    def predict():
        seen = set()
        while not done.is_set():
            seen.add(model.predict_proba(X).tobytes())
        return seen

    with ThreadPoolExecutor(2) as threads:
        seen = [threads.submit(predict) for _ in range(2)]
        for batch in BATCHES:
            model.learn(*batch)
        done.set()
        for one in seen:
            assert one.result(10) <= whole


def test_without_copies_a_prediction_never_meets_a_round_half_way():
    """Each learn brings a class of its own, so that labels and answers of different rounds would not fit."""
    model = AWE(checks.centroids(), transactional=False)
    model.learn(X, np.zeros(len(X), dtype=int))
    done = Event()

    def predict():
        while not done.is_set():
            assert model.predict_proba(X).shape[0] == len(model.predict(X))
        return True

    with ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(predict) for _ in range(2)]
        for label in range(1, 60):
            model.learn(X, np.where(np.arange(len(X)) < 3, label, 0))
        done.set()
        assert all(one.result(10) for one in asked)


def test_two_threads_that_learn_take_turns():
    model = AWE(checks.centroids(), classes=[0, 1, 2])
    with ThreadPoolExecutor(4) as threads:
        rounds = sorted(report.round for report in threads.map(lambda batch: model.learn(*batch), BATCHES))
    assert rounds == list(range(1, len(BATCHES) + 1))


def test_a_threaded_learner_gives_what_the_plain_one_gives(tmp_path):
    plain, threaded = AWE(checks.centroids()), AWE(Threaded(checks.centroids(), threads=2))
    for batch in BATCHES[:9]:
        checks.assert_same_report(threaded.learn(*batch), plain.learn(*batch))
    threaded.save(tmp_path)
    again = AWE.load(tmp_path, Threaded(checks.centroids(), threads=2))
    checks.assert_same_report(again.learn(*BATCHES[9]), plain.learn(*BATCHES[9]))


@pytest.mark.parametrize("check", checks.LEARNER, ids=lambda check: check.__name__)
def test_a_threaded_learner_is_a_learner(check):
    check(Threaded(checks.centroids(), threads=2))


def test_at_least_one_thread_is_needed():
    with pytest.raises(SettingError, match="threads=0"):
        Threaded(checks.centroids(), threads=0)


def test_a_threaded_loop_gives_what_the_plain_one_gives():
    loops = [Loop(checks.centroids()), Loop(checks.centroids(), threads=3)]
    spans = [Span(start) for start in range(1, 6)]
    answers = []
    for loop in loops:
        for span in spans:
            loop.start(span, span.start)
        for X, y in BATCHES[:3]:
            loop.learn(spans, X, y)
        answers.append(loop.logits(spans, X))
    assert all(np.array_equal(one, two) for one, two in zip(*answers, strict=True))
