"""A scheme as a River classifier: River's own checks, rounds, labels, features."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import checks, dummy, linear_model, naive_bayes, tree
from sklearn.linear_model import SGDClassifier

from spanwise.adapters.functions import FunctionLearner
from spanwise.adapters.river import RiverLearner
from spanwise.core.awe import AWE
from spanwise.core.evidence import Prequential
from spanwise.errors import FeatureError, LearnerError, SettingError
from spanwise.faces.river import SpanwiseClassifier
from spanwise.schemes.spanwise import Spanwise

LEARNERS = {"naive-bayes": naive_bayes.GaussianNB(), "tree": tree.HoeffdingTreeClassifier(grace_period=20)}
QUICK = {"prior": dummy.PriorClassifier()}
SKLEARN = {"sgd": SGDClassifier(loss="log_loss")}
HOLDS_EVERY_ROW_OF_A_LONG_STREAM = "check_bounded_memory_growth"


def prequential(learner, seed):
    return AWE(learner, seed=seed, evidence=Prequential())


def rows_of(seed, n=40):
    rng = np.random.default_rng(seed)
    return [({"a": float(a), "b": float(b)}, "high" if a > 0 else "low") for a, b in rng.normal(size=(n, 2))]


@pytest.mark.parametrize("learner", [*QUICK.values(), *SKLEARN.values()], ids=[*QUICK, *SKLEARN])
def test_it_passes_all_of_rivers_own_checks(learner):
    checks.check_estimator(SpanwiseClassifier(learner))


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_it_passes_rivers_checks_with_many_rounds_in_each(learner):
    model = SpanwiseClassifier(learner, round_size=50)
    for check in checks.yield_checks(model):
        if check.__name__ != HOLDS_EVERY_ROW_OF_A_LONG_STREAM:
            check(model.clone())


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_it_passes_all_of_rivers_own_checks_with_slower_learners_too(learner):
    checks.check_estimator(SpanwiseClassifier(learner))


def test_its_own_test_parameters_make_a_model():
    for parameters in SpanwiseClassifier._unit_test_params():
        assert SpanwiseClassifier(**parameters)._multiclass


def test_it_skips_none_of_the_checks():
    assert not SpanwiseClassifier(naive_bayes.GaussianNB())._unit_test_skips()


@pytest.mark.parametrize("learner", [*LEARNERS.values(), *SKLEARN.values()], ids=[*LEARNERS, *SKLEARN])
def test_it_says_what_the_scheme_says_of_the_same_rounds(learner):
    model = SpanwiseClassifier(learner, round_size=10, seed=3)
    data = rows_of(0)
    for x, y in data:
        model.learn_one(x, y)
    scheme = Spanwise(learner, seed=3)
    for begin in range(0, 40, 10):
        part = data[begin : begin + 10]
        rows = [x for x, _ in part]
        arrays = np.array([[x["a"], x["b"]] for x in rows])
        scheme.learn(arrays if learner in SKLEARN.values() else rows, [y for _, y in part])
    for x, _ in rows_of(1, 10):
        row = np.array([[x["a"], x["b"]]]) if learner in SKLEARN.values() else [x]
        assert list(model.predict_proba_one(x).values()) == scheme.predict_proba(row)[0].tolist()
        assert model.predict_one(x) == scheme.predict(row)[0]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "c", 4]), max_size=12), st.integers(1, 5))
def test_probabilities_sum_to_1_over_all_labels_seen_at_any_time(labels, round_size):
    model = SpanwiseClassifier(dummy.PriorClassifier(), round_size=round_size)
    assert model.predict_proba_one({"x": 1.0}) == {}
    assert model.predict_one({"x": 1.0}) is None
    for i, label in enumerate(labels, 1):
        model.learn_one({"x": float(i)}, label)
        probabilities = model.predict_proba_one({"x": 1.0})
        assert set(probabilities) == set(labels[:i])
        assert sum(probabilities.values()) == pytest.approx(1)
        assert model.predict_one({"x": 1.0}) in probabilities


def test_a_label_of_the_open_round_has_probability_0():
    model = SpanwiseClassifier(naive_bayes.GaussianNB(), round_size=2)
    for x, label in enumerate("aab"):
        model.learn_one({"x": float(x)}, label)
    assert model.predict_proba_one({"x": 2.0}) == {"a": 1.0, "b": 0.0}


@pytest.mark.parametrize("scheme", [AWE, prequential, Spanwise])
def test_a_class_or_a_function_makes_the_scheme(scheme):
    model = SpanwiseClassifier(naive_bayes.GaussianNB(), scheme=scheme, round_size=5)
    for x, y in rows_of(0):
        model.learn_one(x, y)
    right = [model.predict_one(x) == y for x, y in rows_of(1)]
    assert np.mean(right) > 0.7


@pytest.mark.parametrize("twin", [deepcopy, lambda model: pickle.loads(pickle.dumps(model))], ids=["copy", "pickle"])
def test_a_twin_goes_on_exactly_and_on_its_own(twin):
    model = SpanwiseClassifier(tree.HoeffdingTreeClassifier(grace_period=5), round_size=7)
    for x, y in rows_of(0):
        model.learn_one(x, y)
    other = twin(model)
    for x, y in rows_of(1):
        other.learn_one(x, y)
    kept = [model.predict_proba_one(x) for x, _ in rows_of(2)]
    for x, y in rows_of(1):
        model.learn_one(x, y)
    assert [model.predict_proba_one(x) for x, _ in rows_of(2)] == [other.predict_proba_one(x) for x, _ in rows_of(2)]
    assert kept != [model.predict_proba_one(x) for x, _ in rows_of(2)]


def test_learners_that_take_arrays_get_the_features_of_the_first_round_by_name():
    got = []
    learner = FunctionLearner(
        lambda seed: None, lambda state, X, y: got.append(X), lambda state, X: np.tile([0.0, 1.0], (len(X), 1))
    )
    model = SpanwiseClassifier(learner, scheme=lambda learner, seed: AWE(learner, train_fraction=1.0), round_size=2)
    for x, y in [({"b": 2.0}, 0), ({"a": 1.0}, 1), ({"c": 9.0, "b": 4.0, "a": 3.0}, 0), ({}, 1)]:
        model.learn_one(x, y)
    assert got[0].tolist() == [[0.0, 2.0], [1.0, 0.0]]
    assert got[-1].tolist() == [[3.0, 4.0], [0.0, 0.0]]


def test_learners_that_take_arrays_refuse_features_that_are_no_numbers():
    model = SpanwiseClassifier(SGDClassifier(loss="log_loss"), round_size=1)
    with pytest.raises(FeatureError, match="River"):
        model.learn_one({"colour": "blue"}, 1)


def test_a_round_that_is_refused_is_dropped_and_leaves_the_model_as_it_was():
    model = SpanwiseClassifier(linear_model.LogisticRegression(), round_size=2)
    for x, y in [(0.0, "a"), (1.0, "b")] * 3:
        model.learn_one({"x": x}, y)
    before = model.predict_proba_one({"x": 1.0})
    model.learn_one({"x": 2.0}, "c")
    with pytest.raises(LearnerError, match="OneVsRest"):
        model.learn_one({"x": 0.0}, "a")
    assert model.predict_proba_one({"x": 1.0}) == {**before, "c": 0.0}
    for x, y in [(0.0, "a"), (1.0, "b")]:
        model.learn_one({"x": x}, y)


def test_a_river_learner_already_adapted_makes_no_difference():
    bare, adapted = (
        SpanwiseClassifier(learner, round_size=4)
        for learner in (naive_bayes.GaussianNB(), RiverLearner(naive_bayes.GaussianNB()))
    )
    for i, (x, y) in enumerate(rows_of(0)):
        row = {**x, f"sometimes {i % 3}": float(i)}
        assert bare.predict_proba_one(row) == adapted.predict_proba_one(row)
        bare.learn_one(row, y)
        adapted.learn_one(row, y)


def test_bad_settings_are_refused_at_once():
    with pytest.raises(SettingError, match="round_size=0"):
        SpanwiseClassifier(naive_bayes.GaussianNB(), round_size=0)
    with pytest.raises(LearnerError, match="no River classifier"):
        SpanwiseClassifier(linear_model.LinearRegression())


def test_a_scheme_goes_by_its_name_and_rows_without_label_are_left_out():
    model = SpanwiseClassifier(naive_bayes.GaussianNB(), scheme="vote", round_size=3)
    for x, y in [(0.0, "low"), (9.0, None), (5.0, "high"), (0.1, "low")]:
        model.learn_one({"height": x}, y)
    assert set(model.predict_proba_one({"height": 5.0})) == {"low", "high"}


@pytest.mark.parametrize("size", [0, 1.5, "x"])
def test_a_round_has_a_whole_number_of_rows(size):
    with pytest.raises(SettingError, match="round_size"):
        SpanwiseClassifier(naive_bayes.GaussianNB(), round_size=size)
