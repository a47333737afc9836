"""Schemes that share their instances do what they would have done alone, with less work."""

import gc
from dataclasses import replace
from time import sleep

import numpy as np
import pytest

from spanwise import catalog
from spanwise.adapters.functions import FunctionLearner
from spanwise.checks.toys import POISON, centroids, toy_batches
from spanwise.core.awe import AWE
from spanwise.core.loop import Loop
from spanwise.core.spans import MRI
from spanwise.engines.shared import Shared, digest
from spanwise.errors import LearnerError, SettingError
from spanwise.evaluate import evaluate
from spanwise.schemes.plain import Plain, PlainEnsemble
from spanwise.schemes.spanwise import Spanwise
from spanwise.schemes.vote import Vote

SETTINGS = {"awe-literal": {"horizon": 8}}


def schemes(learner):
    return {name: catalog.scheme(name, learner, seed=5, **SETTINGS.get(name, {})) for name in catalog.SCHEMES}


def rows(models, batches):
    return [replace(row, seconds=0.0) for row in evaluate(models, batches).rows]


class Counting:
    """Learns nothing, counts everything."""

    def __init__(self, counts=None):
        self.counts = {"learn": 0, "logits": 0} if counts is None else counts

    def fresh(self, seed):
        return Counting(self.counts)

    def copy(self):
        return Counting(self.counts)

    def learn(self, X, y):
        self.counts["learn"] += 1

    def logits(self, X):
        self.counts["logits"] += 1
        return np.zeros((len(X), 3))


@pytest.mark.parametrize("learner", [centroids, lambda: catalog.learner("linear"), lambda: catalog.learner("ft")])
def test_every_scheme_does_what_it_does_alone(learner):
    batches = list(toy_batches(7))
    together = rows(schemes(Shared(learner())), batches)
    alone = [row for name, model in schemes(learner()).items() for row in rows({name: model}, batches)]
    by_name = {(row.scheme, row.round): replace(row, ahead=None, behind=None) for row in together}
    for row in alone:
        got = by_name[row.scheme, row.round]
        assert (got.accuracy, got.chosen, got.starts) == (row.accuracy, row.chosen, row.starts)
        assert got.weights == pytest.approx(row.weights, abs=1e-6)
        assert got.log_loss == pytest.approx(row.log_loss, abs=1e-4)


def test_an_instance_that_several_schemes_want_is_trained_once():
    shared = Shared(Counting())
    models = {
        "awe": AWE(shared),
        "vote": Vote(shared, train_fraction=0.9),
        "same": Plain(shared, train_fraction=0.9),
    }
    evaluate(models, list(toy_batches(10)))
    assert shared.learner.counts["learn"] == sum(len(MRI().starts(t)) for t in range(1, 11))


def test_the_paper_s_pool_of_a_learner_without_randomness_is_the_merged_one():
    """Instances of one start differ by their seed alone, so that one of them is all of them."""
    shared = Shared(Counting())
    shared.seedless = True
    evaluate({"awe-literal": AWE(shared, horizon=10, literal=True)}, list(toy_batches(10)))
    assert shared.learner.counts["learn"] == sum(len(MRI().starts(t)) for t in range(1, 11))


def test_what_sharing_saved_is_on_the_clock():
    class Slow(Counting):
        def fresh(self, seed):
            return Slow()

        def copy(self):
            return Slow()

        def learn(self, X, y):
            begin = shared.clock()
            while shared.clock() - begin < 0.02:
                pass

    shared = Shared(Slow())
    models = {"first": Plain(shared), "second": Plain(shared)}
    first, second = (row.seconds for row in evaluate(models, list(toy_batches(1))).rows)
    assert first >= 0.02
    assert second >= 0.02
    assert shared.saved == pytest.approx(0.02, abs=0.01)


def test_what_was_trained_together_is_on_the_clock_of_everybody_who_holds_it():
    class Slow(Patient):
        def fresh(self, seed):
            return Slow(self.sizes)

        def copy(self):
            return Slow(self.sizes)

        def learn(self, X, y):
            sleep(0.02)

    shared = Shared(Slow())
    models = {"first": Plain(shared), "second": PlainEnsemble(shared, copies=2)}
    seconds = dict.fromkeys(models, 0.0)
    for row in evaluate(models, list(toy_batches(3))).rows:
        seconds[row.scheme] += row.seconds
    assert 2 * 0.02 <= seconds["first"] < 3 * 0.02 <= 4 * 0.02 <= seconds["second"]


class Together(Loop):
    """A pool that is cheaper together, and writes down how many it was given."""

    def __init__(self, learner):
        super().__init__(learner)
        self.together = learner.together

    def learn(self, spans, X, y):
        self.learner.sizes.append(len(spans))
        super().learn(spans, X, y)


class Patient(Counting):
    def __init__(self, sizes=None, together=100):
        super().__init__()
        self.sizes, self.together = [] if sizes is None else sizes, together

    def fresh(self, seed):
        return Patient(self.sizes, self.together)

    def copy(self):
        return Patient(self.sizes, self.together)

    def engine(self):
        return Together(self)


def test_where_a_pool_is_cheaper_together_schemes_train_together_once_somebody_asks():
    """Schemes on all rows wait for each other; AWE asks as soon as it has trained, about what it holds back."""
    shared = Shared(Patient())
    models = [PlainEnsemble(shared, copies=3), Spanwise(shared, copies=5), AWE(shared)]
    sizes = []
    for X, y in toy_batches(3):
        for model in models:
            model.learn(X, y)
            sizes.append(shared.learner.sizes.copy())
            shared.learner.sizes.clear()
    assert sizes == [[], [], [1], [5], [], [2], [5 + 1], [], [3]]
    assert sum(stage.waiting is not None for stage in shared.stages.values()) == 5 + 2


def test_no_more_are_trained_at_a_time_than_a_pool_takes():
    """So that networks as they were and as they will be are not all held at once."""
    shared = Shared(Patient(together=4))
    models = [PlainEnsemble(shared, copies=3), Spanwise(shared, copies=9)]
    X, y = next(iter(toy_batches(1)))
    for model in models:
        model.learn(X, y)
    for model in models:
        model.predict_proba(X)
    assert shared.learner.sizes == [4, 4, 1]


def test_rounds_that_nobody_asked_about_are_trained_in_their_order():
    shared, batches = Shared(catalog.learner("ft")), list(toy_batches(4))
    waiting, alone = Plain(shared), Plain(catalog.learner("ft"))
    for X, y in batches:
        waiting.learn(X, y)
        alone.learn(X, y)
    X = batches[0].X
    assert np.allclose(waiting.predict_proba(X), alone.predict_proba(X), atol=1e-5)
    assert not any(stage.waiting for stage in shared.stages.values())


def test_training_that_failed_while_it_waited_is_told_to_whoever_asks_and_can_be_tried_again():
    class Broken(Patient):
        broken = True

        def fresh(self, seed):
            return Broken(self.sizes)

        def copy(self):
            return Broken(self.sizes)

        def learn(self, X, y):
            if Broken.broken:
                raise ValueError("no memory")

    shared = Shared(Broken())
    model = Plain(shared)
    X, y = next(iter(toy_batches(1)))
    model.learn(X, y)
    with pytest.raises(LearnerError, match="no memory"):
        model.predict(X)
    Broken.broken = False
    assert len(model.predict(X)) == len(X)


def test_what_nobody_holds_is_let_go_of():
    shared = Shared(centroids())
    models = [AWE(shared), Plain(shared)]
    for batch in toy_batches(9):
        for model in models:
            model.learn(*batch)
    gc.collect()
    held = {stage.key for model in models for stage in model.method.pool.engine.instances.values()}
    assert set(shared.stages) == held


def test_a_failed_round_changes_nothing():
    shared = Shared(centroids())
    model = AWE(shared)
    first, second = toy_batches(2)
    model.learn(*first)
    bad = np.full_like(second.X, POISON)
    with pytest.raises(LearnerError):
        model.learn(bad, second.y)
    model.learn(*second)
    other = AWE(centroids())
    for batch in (first, second):
        other.learn(*batch)
    assert np.array_equal(model.predict_proba(second.X), other.predict_proba(second.X))


def test_a_failed_round_of_copies_that_are_one_instance_changes_nothing_either():
    shared = Shared(centroids())
    shared.seedless = True
    model, (first, second) = PlainEnsemble(shared, copies=3), toy_batches(2)
    model.learn(*first)
    with pytest.raises(LearnerError):
        model.learn(np.full_like(second.X, POISON), second.y)
    assert model.learn(*second).round == 2


def test_what_a_failed_round_left_waiting_is_let_go_of_with_the_next_round():
    class Poisoned(Patient):
        def fresh(self, seed):
            return Poisoned(self.sizes)

        def copy(self):
            return Poisoned(self.sizes)

        def learn(self, X, y):
            if (X == POISON).any():
                raise ValueError("poison")

    shared, (first, second) = Shared(Poisoned()), toy_batches(2)
    model = AWE(shared)
    model.learn(*first)
    for _ in range(3):
        with pytest.raises(LearnerError):
            model.learn(np.full_like(second.X, POISON), second.y)
    model.learn(*second)
    gc.collect()
    assert not any(stage.waiting for stage in shared.stages.values())


def test_saved_and_loaded_they_go_on_and_share_again(tmp_path):
    shared = Shared(centroids())
    batches = list(toy_batches(8))
    models = {"awe": AWE(shared), "vote": Vote(shared, train_fraction=0.9)}
    for X, y in batches[:5]:
        for model in models.values():
            model.learn(X, y)
    again = Shared(centroids())
    loaded = {}
    for name, model in models.items():
        model.save(tmp_path / name)
        loaded[name] = type(model).load(tmp_path / name, again)
    assert len(again.stages) == len(MRI().starts(6))
    for X, y in batches[5:]:
        for name, model in models.items():
            model.learn(X, y)
            loaded[name].learn(X, y)
            assert np.array_equal(model.predict_proba(X), loaded[name].predict_proba(X))


def test_an_engine_that_keeps_its_instances_elsewhere_is_refused():
    class Elsewhere(Counting):
        def engine(self):
            return object()

    with pytest.raises(SettingError, match="cannot be shared"):
        AWE(Shared(Elsewhere()))


def test_alone_it_is_the_learner_it_holds():
    X, y = next(iter(toy_batches(1)))
    one, other = Shared(centroids()).fresh(3), centroids().fresh(3)
    for learner in (one, other):
        learner.learn(X, y)
    assert np.array_equal(one.logits(X), other.logits(X))
    assert isinstance(Shared(FunctionLearner(lambda s: 0, lambda s, X, y: s, lambda s, X: X)).loop({}), Loop)


def test_a_digest_tells_rows_apart_by_what_they_hold():
    X = np.arange(12.0).reshape(4, 3)
    assert digest(X) == digest(X.copy())
    assert len({digest(X), digest(X.T), digest(X + 1), digest(X.tolist()), digest({"a": X})}) == 5
