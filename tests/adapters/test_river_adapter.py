"""Any River classifier as a learner: the laws of `Learner`, what is refused, and what survives a snapshot."""

import sys
from argparse import Namespace
from collections import deque
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import (
    active,
    anomaly,
    compose,
    ensemble,
    forest,
    linear_model,
    multiclass,
    naive_bayes,
    neighbors,
    preprocessing,
    tree,
)

from spanwise.adapters.river import RiverLearner
from spanwise.adapters.river_saving import _same
from spanwise.core.awe import AWE
from spanwise.errors import LearnerError, MissingExtraError, SnapshotError
from spanwise.learner import Learner, Stateful, adapt

BINARY = {
    "logistic": linear_model.LogisticRegression,
    "scaled": lambda: preprocessing.StandardScaler() | linear_model.LogisticRegression(),
    "passive-aggressive": linear_model.PAClassifier,
}
MULTICLASS = {
    "gaussian": naive_bayes.GaussianNB,
    "multinomial": naive_bayes.MultinomialNB,
    "softmax": linear_model.SoftmaxRegression,
    "one-vs-rest": lambda: multiclass.OneVsRestClassifier(linear_model.LogisticRegression()),
    "one-vs-one": lambda: multiclass.OneVsOneClassifier(linear_model.LogisticRegression()),
    "tree": lambda: tree.HoeffdingTreeClassifier(grace_period=20),
    "adaptive-tree": lambda: tree.HoeffdingAdaptiveTreeClassifier(grace_period=20),
    "forest": lambda: forest.ARFClassifier(n_models=2, grace_period=20),
    "neighbours": neighbors.KNNClassifier,
    "votes": lambda: ensemble.VotingClassifier([naive_bayes.GaussianNB(), tree.HoeffdingAdaptiveTreeClassifier()]),
    "bag": lambda: ensemble.BaggingClassifier(naive_bayes.GaussianNB(), n_models=2),
}
EVERY = {**BINARY, **MULTICLASS}
SAVED = {name: EVERY[name] for name in ("logistic", "scaled", "multinomial", "one-vs-rest")} | {
    "tree": lambda: tree.HoeffdingTreeClassifier(grace_period=10, max_depth=1)
}
NOT_SAVED = {name: EVERY[name] for name in ("gaussian", "softmax", "forest", "neighbours")}

every = pytest.mark.parametrize("make", EVERY.values(), ids=EVERY)


def batch(seed, classes=2, n=60):
    """Positive features, as multinomial naive Bayes wants them; the first tells the class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.random((n, 4))
    X[:, 0] += 2 * y
    return X, y


def as_rows(X):
    return [{str(i): value for i, value in enumerate(row)} for row in X.tolist()]


def trained(learner, seed=0, rounds=2, classes=2):
    instance = learner.fresh(seed)
    for round in range(rounds):
        instance.learn(*batch(round, classes))
    return instance


@every
def test_it_is_a_learner_that_can_be_saved_and_learns(make):
    learner = adapt(make())
    assert isinstance(learner, RiverLearner)
    assert isinstance(learner, Learner)
    assert isinstance(learner, Stateful)
    instance = learner.fresh(0)
    for round in range(6):
        X, y = batch(round)
        instance.learn(as_rows(X), y)
    X, y = batch(9)
    logits = instance.logits(X)
    assert logits.shape == (60, 2)
    assert np.isfinite(logits).all()
    if make is not naive_bayes.MultinomialNB:
        assert (logits.argmax(axis=1) == y).mean() > 0.7


@every
def test_fresh_is_untrained_and_shares_nothing(make):
    learner = RiverLearner(make())
    first = trained(learner)
    X, y = batch(7)
    said = first.logits(X)
    second = first.fresh(1)
    assert second.logits(X).shape == (60, 0)
    second.learn(X, 1 - y)
    assert np.array_equal(first.logits(X), said)
    assert learner.logits(X).shape == (60, 0)


@every
def test_a_seed_repeats_a_run(make):
    learner, (X, _) = RiverLearner(make()), batch(7)
    assert np.array_equal(trained(learner, seed=5).logits(X), trained(learner, seed=5).logits(X))


def test_a_model_without_a_seed_anywhere_is_seedless():
    assert RiverLearner(tree.HoeffdingTreeClassifier()).fresh(1).seedless
    assert RiverLearner(preprocessing.StandardScaler() | naive_bayes.GaussianNB()).seedless
    assert not RiverLearner(ensemble.BaggingClassifier(naive_bayes.GaussianNB())).seedless
    votes = ensemble.VotingClassifier([tree.HoeffdingAdaptiveTreeClassifier(), naive_bayes.GaussianNB()])
    assert not RiverLearner(votes).seedless


def test_seeds_reach_every_model_inside():
    leaf = tree.HoeffdingAdaptiveTreeClassifier()
    inside = RiverLearner(preprocessing.StandardScaler() | ensemble.BaggingClassifier(leaf, n_models=2)).fresh(11).model
    bag = inside["BaggingClassifier"]
    assert (bag.seed, bag.model.seed, bag[1].seed) == (11, 11, 11)
    votes = RiverLearner(ensemble.VotingClassifier([leaf, naive_bayes.GaussianNB()])).fresh(12).model
    assert votes[0].seed == 12
    assert leaf.seed is None


def test_the_model_passed_in_is_never_trained():
    model = naive_bayes.GaussianNB()
    learner = RiverLearner(model)
    learner.learn(*batch(0))
    assert not model.class_counts


@every
def test_a_copy_goes_its_own_way_from_the_same_place(make):
    first, (X, y) = trained(RiverLearner(make())), batch(7)
    said = first.logits(X)
    twin = first.copy()
    assert np.array_equal(twin.logits(X), said)
    twin.learn(X, 1 - y)
    assert np.array_equal(first.logits(X), said)


def test_a_pipeline_with_a_function_of_the_users_own_can_be_copied():
    model = compose.FuncTransformer(lambda x: {"twice": 2 * x["0"]}) | naive_bayes.GaussianNB()
    first, (X, _) = trained(RiverLearner(model)), batch(7)
    assert np.array_equal(first.copy().logits(X), first.logits(X))


@pytest.mark.parametrize("make", MULTICLASS.values(), ids=MULTICLASS)
def test_a_class_that_appears_late_is_learned(make):
    instance = trained(RiverLearner(make()), rounds=2, classes=2)
    X, y = batch(5, classes=3, n=90)
    assert instance.logits(X).shape == (90, 2)
    for seed in range(5, 9):
        instance.learn(*batch(seed, classes=3, n=90))
    logits = instance.logits(X)
    assert logits.shape == (90, 3)
    assert logits[y == 2, 2].mean() > logits[y == 0, 2].mean()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=8), min_size=1, max_size=4))
def test_logits_are_as_wide_as_the_largest_class_and_put_unseen_ones_below_all_others(rounds):
    instance = RiverLearner(naive_bayes.GaussianNB()).fresh(0)
    for numbers in rounds:
        instance.learn(np.arange(len(numbers), dtype=float)[:, None], np.array(numbers))
    seen = {number for numbers in rounds for number in numbers}
    logits = instance.logits(np.array([[0.5], [100.0]]))
    assert logits.shape == (2, 1 + max(seen))
    least = logits[:, sorted(seen)].min(axis=1)
    for unseen in set(range(max(seen))) - seen:
        assert np.array_equal(logits[:, unseen], least - 1)


@every
@pytest.mark.parametrize("only", [0, 1])
def test_one_class_only_is_legal(make, only):
    instance = RiverLearner(make()).fresh(0)
    X, _ = batch(0)
    instance.learn(X, np.full(60, only))
    logits = instance.logits(X)
    assert np.isfinite(logits).all()
    assert (logits.argmax(axis=1) == only).all()


@pytest.mark.parametrize("make", BINARY.values(), ids=BINARY)
def test_a_binary_model_refuses_a_third_class_before_it_learns_anything(make):
    instance, (X, _) = trained(RiverLearner(make())), batch(7)
    said = instance.logits(X)
    with pytest.raises(LearnerError, match="OneVsRestClassifier"):
        instance.learn(*batch(0, classes=3))
    assert np.array_equal(instance.logits(X), said)


def test_a_model_without_probabilities_puts_all_on_the_class_it_names():
    instance, (X, _) = trained(RiverLearner(multiclass.OneVsOneClassifier(linear_model.LogisticRegression()))), batch(7)
    named = [instance.model.predict_one(row) for row in as_rows(X)]
    logits = instance.logits(X)
    assert np.array_equal(logits.argmax(axis=1), named)
    assert np.array_equal(logits.max(axis=1), np.zeros(len(X)))


@pytest.mark.parametrize(
    "model",
    [
        linear_model.LinearRegression(),
        preprocessing.StandardScaler(),
        preprocessing.StandardScaler() | linear_model.LinearRegression(),
        anomaly.HalfSpaceTrees(),
        active.EntropySampler(naive_bayes.GaussianNB()),
        naive_bayes.GaussianNB,
        "GaussianNB",
    ],
    ids=str,
)
def test_what_is_no_classifier_is_refused(model):
    with pytest.raises(LearnerError, match="no River classifier"):
        RiverLearner(model)


def test_every_container_of_the_same_rows_gives_the_same_model():
    X, y = batch(0)
    ways = [X, as_rows(X), {str(i): X[:, i] for i in range(4)}, {i: X[:, i].tolist() for i in range(4)}, X.tolist()]
    learner = RiverLearner(tree.HoeffdingTreeClassifier(grace_period=20))
    answers = []
    for way in ways:
        instance = learner.fresh(0)
        instance.learn(way, y)
        answers.append(instance.logits(way))
    assert all(np.array_equal(answer, answers[0]) for answer in answers)


def test_rows_may_differ_in_features():
    rows = [{"a": 1.0}, {"a": 1.2, "b": 3.0}, {"b": 9.0}, {"b": 8.0, "c": "blue"}]
    instance = RiverLearner(tree.HoeffdingTreeClassifier()).fresh(0)
    instance.learn(rows, np.array([0, 0, 1, 1]))
    assert np.isfinite(instance.logits(rows)).all()


def test_frames_count_by_the_names_of_their_columns():
    pandas = pytest.importorskip("pandas")
    X, y = batch(0)
    frame = pandas.DataFrame(X, index=range(100, 160))
    instance = RiverLearner(tree.HoeffdingTreeClassifier()).fresh(0)
    instance.learn(frame, y)
    assert np.array_equal(instance.logits(frame), instance.logits(X))


def test_batches_are_learned_whole_only_where_every_step_can():
    pytest.importorskip("pandas")
    assert RiverLearner(preprocessing.StandardScaler() | naive_bayes.GaussianNB()).batches
    assert RiverLearner(multiclass.OneVsRestClassifier(linear_model.LogisticRegression())).batches
    assert not RiverLearner(multiclass.OneVsRestClassifier(linear_model.PAClassifier())).batches
    assert not RiverLearner(naive_bayes.MultinomialNB()).batches
    assert not RiverLearner(compose.FuncTransformer(dict) | naive_bayes.GaussianNB()).batches
    assert not RiverLearner(preprocessing.FeatureHasher() | naive_bayes.GaussianNB()).batches


def test_naive_bayes_learns_the_same_from_batches_as_from_rows():
    pytest.importorskip("pandas")
    learner, (X, _) = RiverLearner(naive_bayes.GaussianNB()), batch(7)
    whole, by_row = learner.fresh(0), learner.fresh(0)
    for round in range(3):
        X, y = batch(round, classes=2 + round, n=90)
        whole.learn(X, y)
        by_row.learn(as_rows(X), y)
    np.testing.assert_allclose(whole.logits(X), by_row.logits(as_rows(X)), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("make", SAVED.values(), ids=SAVED)
def test_a_restored_instance_goes_on_exactly(make):
    learner = RiverLearner(make())
    first = trained(learner, rounds=3)
    second = learner.fresh(99)
    second.restore(first.state())
    for seed in range(3, 6):
        first.learn(*batch(seed))
        second.learn(*batch(seed))
    X, _ = batch(7)
    assert np.array_equal(first.logits(X), second.logits(X))


@pytest.mark.parametrize("make", NOT_SAVED.values(), ids=NOT_SAVED)
def test_what_skops_cannot_write_and_read_back_is_refused_with_the_reason(make):
    with pytest.raises(SnapshotError, match="skops"):
        trained(RiverLearner(make()), rounds=1).state()


def test_parts_lost_or_no_longer_shared_do_not_count_as_the_same():
    shared = [1.0, float("nan")]
    whole = {"window": deque([1, 2], maxlen=3), "left": shared, "right": shared, "weights": np.arange(3.0)}
    assert _same(whole, deepcopy(whole), {})
    assert not _same(whole, {**deepcopy(whole), "window": deque([1, 2], maxlen=4)}, {})
    assert not _same(whole, {**deepcopy(whole), "window": deque()}, {})
    assert not _same(whole, {**deepcopy(whole), "right": list(shared)}, {})
    assert not _same([[], []], [empty := [], empty], {})
    assert not _same(whole, {**deepcopy(whole), "weights": np.arange(3)}, {})
    assert not _same({"a": 1, "b": 2}, {"b": 2, "a": 1}, {})


def test_a_snapshot_that_holds_anything_else_is_refused():
    skops_io = pytest.importorskip("skops.io")
    instance = trained(RiverLearner(naive_bayes.MultinomialNB()))
    for thing, why in [
        (Namespace(a=1), "Namespace"),
        (tree.HoeffdingTreeClassifier(), "HoeffdingTreeClassifier"),
        (None, "NoneType"),
    ]:
        with pytest.raises(SnapshotError, match=why):
            instance.restore({"model": skops_io.dumps(thing), "seen": [0]})
    with pytest.raises(SnapshotError, match="cannot be read"):
        instance.restore({"model": b"no zip", "seen": [0]})
    assert isinstance(instance.model, naive_bayes.MultinomialNB)


def test_without_skops_only_saving_fails(monkeypatch):
    instance = trained(RiverLearner(naive_bayes.MultinomialNB()))
    monkeypatch.setitem(sys.modules, "skops.io", None)
    for ask in (instance.state, lambda: instance.restore({"model": b"", "seen": []})):
        with pytest.raises(MissingExtraError, match=r"skops.*spanwise\[river\]"):
            ask()


@pytest.mark.parametrize(("make", "pickle"), [(SAVED["one-vs-rest"], False), (MULTICLASS["gaussian"], True)])
def test_a_scheme_saved_and_loaded_goes_on_exactly(make, pickle, tmp_path):
    model = AWE(make())
    for seed in range(5):
        model.learn(*batch(seed))
    if pickle:
        with pytest.raises(SnapshotError, match="pickle=True"):
            model.save(tmp_path / "refused")
    model.save(tmp_path, pickle=pickle)
    loaded = AWE.load(tmp_path, make(), pickle=pickle)
    for seed in range(5, 8):
        assert model.learn(*batch(seed)).line() | {"seconds": 0} == loaded.learn(*batch(seed)).line() | {"seconds": 0}
    X, _ = batch(9)
    assert np.array_equal(model.predict_proba(X), loaded.predict_proba(X))


def test_rows_can_be_learned_one_by_one_even_where_batches_could():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] > 0).astype(int)
    by_row, model = RiverLearner(linear_model.LogisticRegression(), by_row=True), linear_model.LogisticRegression()
    by_row.learn(X, y)
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        model.learn_one({"0": row[0], "1": row[1]}, bool(label))
    told = [model.predict_proba_one({"0": row[0], "1": row[1]})[True] for row in X.tolist()]
    assert np.allclose(np.exp(by_row.logits(X)[:, 1]), told)
