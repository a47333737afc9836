"""The face that all schemes share: bad input is refused and nothing is changed; odd but legal input works."""

import copy
import pickle

import numpy as np
import pytest

from spanwise import (
    ARW,
    AWE,
    FLH,
    Algorithm,
    Best,
    EnsembleOrBest,
    FunctionLearner,
    HoldOut,
    Plain,
    Prequential,
    Scheme,
    Uniform,
    checks,
)
from spanwise.adapters.functions import majority_class
from spanwise.core.choice import Weighted
from spanwise.errors import (
    BrokenModelError,
    DataError,
    FeatureError,
    HorizonError,
    LabelError,
    LearnerError,
    SettingError,
    SpanwiseError,
)

BATCHES = list(checks.toy_batches(6))


def taught(**settings):
    model = AWE(checks.centroids(), **settings)
    for X, y in BATCHES[:4]:
        model.learn(X, y)
    return model


def nan_at(row, column):
    X = BATCHES[4].X.copy()
    X[row, column] = np.nan
    return X


X, Y = BATCHES[4]
BAD = {
    "empty": (X[:0], Y[:0], DataError, "empty"),
    "NaN": (nan_at(3, 2), Y, FeatureError, "row 3, column 2"),
    "infinity": (np.where(X > 3, np.inf, X), Y, FeatureError, "infinity"),
    "lengths": (X, Y[:-1], DataError, "24 rows of features but 23 labels"),
    "width": (X[:, :3], Y, FeatureError, r"\(3,\), earlier rounds had \(4,\)"),
    "no label": (X, [None] * len(Y), LabelError, "missing"),
    "all NaN labels": (X, np.full(len(Y), np.nan), LabelError, "missing"),
    "unhashable labels": (X, [[label] for label in Y.tolist()], LabelError, "hashable"),
    "two-dimensional labels": (X, Y[:, None], LabelError, r"shape \(24, 1\)"),
    "complex labels": (X, Y + 1j, LabelError, "complex"),
    "labels that are one string": (X, "a" * 24, LabelError, "str"),
    "other container": (X.tolist(), Y, FeatureError, "list"),
    "ragged rows": ([[1.0] * 4] * 23 + [[1.0]], Y, FeatureError, "list|differ in length"),
    "no rows at all": (5, Y, FeatureError, "no rows to count"),
    "poison": (np.full_like(X, checks.POISON), Y, LearnerError, "started at round 1 failed while learning"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_a_clear_error_and_changes_nothing(name):
    X, y, error, message = BAD[name]
    model, twin = taught(), taught()
    with pytest.raises(error, match=message) as caught:
        model.learn(X, y)
    assert isinstance(caught.value, SpanwiseError)
    for batch in BATCHES[4:]:
        checks.assert_same_report(model.learn(*batch), twin.learn(*batch))


@pytest.mark.parametrize("name", ["empty", "NaN", "infinity", "width", "ragged rows", "no rows at all"])
def test_bad_features_are_refused_when_predicting_too(name):
    X, _, error, message = BAD[name]
    with pytest.raises(error, match=message):
        taught().predict(X)


def test_feature_names_must_stay_and_stay_in_order():
    pandas = pytest.importorskip("pandas")
    learner = FunctionLearner(lambda s: 0, lambda s, X, y: s, lambda s, X: np.zeros((len(X), 1)))
    frame = pandas.DataFrame({"age": [1.0, 2.0], "pay": [3.0, 4.0]})
    model = AWE(learner)
    model.learn(frame, ["a", "b"])
    with pytest.raises(FeatureError, match=r"missing \['pay'\], unexpected \['wage'\]"):
        model.learn(frame.rename(columns={"pay": "wage"}), ["a", "b"])
    with pytest.raises(FeatureError, match="another order"):
        model.predict(frame[["pay", "age"]])
    assert model.round == 2


@pytest.mark.parametrize(
    ("logits", "message"),
    [
        (lambda X: np.zeros(len(X)), r"shape \(24,\)"),
        (lambda X: np.zeros((len(X) - 1, 3)), r"expected \(24, k\)"),
        (lambda X: np.full((len(X), 3), np.nan), "must be finite"),
        (lambda X: np.where(np.arange(3) == 1, np.inf, np.zeros((len(X), 3))), "class 1"),
    ],
)
def test_logits_of_the_wrong_shape_or_not_finite_are_refused(logits, message):
    broken = {"now": False}

    def answer(state, X):
        return logits(X) if broken["now"] else np.zeros((len(X), 3))

    def learner():
        return FunctionLearner(lambda seed: 0, lambda state, X, y: state + 1, answer)

    model, twin = Plain(learner(), classes=[0, 1, 2]), Plain(learner(), classes=[0, 1, 2])
    model.learn(X, Y)
    twin.learn(X, Y)
    broken["now"] = True
    with pytest.raises(LearnerError, match=message):
        model.learn(X, Y)
    with pytest.raises(LearnerError, match=message):
        model.predict(X)
    broken["now"] = False
    checks.assert_same_report(model.learn(X, Y), twin.learn(X, Y))


def test_a_learner_that_takes_nan_is_given_nan():
    learner = majority_class()
    learner.accepts_nan = True
    model = AWE(learner)
    model.learn(nan_at(0, 0), Y)
    assert len(model.predict(nan_at(0, 0))) == len(X)


@pytest.mark.parametrize("evidence", [HoldOut, Prequential])
def test_odd_but_legal_rounds(evidence):
    model = AWE(checks.centroids(), evidence=evidence())
    model.learn(X, np.zeros(len(X), dtype=int))  # one class only
    model.learn(X[:1], Y[:1])  # one row
    model.learn(X, [None, *Y[1:].tolist()])  # some labels missing
    report = model.learn(X, ["new", *Y[1:].tolist()])  # a class that comes late
    assert report.round == 4
    assert model.predict_proba(X).shape == (24, 4)


def test_before_any_class_is_known_no_label_is_given():
    assert AWE(checks.centroids()).predict(X).tolist() == [None] * 24
    assert AWE(checks.centroids()).predict_proba(X).shape == (24, 0)


def test_given_classes_are_predicted_from_the_start():
    assert AWE(checks.centroids(), classes=["a", "b"]).predict(X).tolist() == ["a"] * 24


def test_given_classes_are_all_there_are():
    model = AWE(checks.centroids(), classes=[0, 1, 2])
    model.learn(X, Y)
    with pytest.raises(LabelError, match="7 is not among the classes given"):
        model.learn(X, np.full(len(X), 7))
    assert model.classes == [0, 1, 2]


def test_the_literal_pool_ends_at_its_padded_horizon():
    model = AWE(checks.centroids(), horizon=6, literal=True)
    for _ in range(8):
        report = model.learn(X, Y)
    assert {span.end for span in report.instances if span.start == 1} == {8}
    before = model.predict_proba(X)
    with pytest.raises(HorizonError, match="round 9 is past the horizon"):
        model.learn(X, Y)
    assert np.array_equal(model.predict_proba(X), before)
    assert model.round == 9


def test_without_copies_a_failure_marks_the_model_broken(tmp_path):
    model = taught(transactional=False)
    model.save(tmp_path)
    with pytest.raises(LearnerError):
        model.learn(np.full_like(X, checks.POISON), Y)
    for call in (lambda: model.predict(X), lambda: model.learn(X, Y), lambda: model.save(tmp_path)):
        with pytest.raises(BrokenModelError, match="poisoned"):
            call()
    again = AWE.load(tmp_path, checks.centroids())
    checks.assert_same_report(again.learn(X, Y), taught().learn(X, Y))


def test_without_copies_a_round_past_the_horizon_breaks_nothing():
    model = AWE(checks.centroids(), horizon=2, literal=True, transactional=False)
    model.learn(X, Y)
    model.learn(X, Y)
    before = model.predict_proba(X)
    with pytest.raises(HorizonError):
        model.learn(X, Y)
    assert np.array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("transactional", [True, False])
def test_seconds_are_those_of_one_round(transactional):
    model = AWE(checks.centroids(), transactional=transactional)
    for batch in BATCHES * 5:
        report = model.learn(*batch)
        model.predict(X)
        assert report.seconds["learn"] + report.seconds["score"] <= report.seconds["total"]


def test_without_copies_bad_input_still_changes_nothing():
    model = taught(transactional=False)
    with pytest.raises(FeatureError):
        model.learn(nan_at(0, 0), Y)
    checks.assert_same_report(model.learn(X, Y), taught().learn(X, Y))


def test_copies_are_what_transactions_cost():
    copied = []

    class Counting:
        def fresh(self, seed):
            return Counting()

        def learn(self, X, y):
            pass

        def logits(self, X):
            return np.zeros((len(X), 1))

        def copy(self):
            copied.append(1)
            return Counting()

    for transactional in (True, False):
        model = AWE(Counting(), transactional=transactional)
        copied.clear()
        model.learn(X, Y)
        assert bool(copied) == transactional


@pytest.mark.parametrize(
    "settings",
    [
        {"literal": True},
        {"train_fraction": 0},
        {"train_fraction": 1.1},
        {"delta": 0},
        {"classes": ["a", "a"]},
        {"evidence": Prequential(), "train_fraction": 0.5},
        {"evidence": Prequential},
        {"seed": -1},
        {"seed": None},
        {"horizon": 0},
    ],
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(SettingError):
        AWE(checks.centroids(), **settings)


@pytest.mark.parametrize("thing", [object(), 3, "sgd", FunctionLearner])
def test_what_is_no_learner_is_refused(thing):
    with pytest.raises(LearnerError, match="not a learner"):
        AWE(thing)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_scheme_can_be_copied_and_pickled(duplicate):
    model = Plain(Pickled())
    model.learn(X, Y)
    twin = duplicate(model)
    checks.assert_same_report(twin.learn(X, Y), model.learn(X, Y))


class Pickled:
    def fresh(self, seed):
        return Pickled()

    def learn(self, X, y):
        pass

    def logits(self, X):
        return np.zeros((len(X), 3))


class TwoOfAName(EnsembleOrBest):
    def candidates(self, estimates, pool, round):
        return [Weighted(dict.fromkeys(pool.spans, 1.0))] * 2


def test_candidates_of_the_same_name_are_refused():
    with pytest.raises(SettingError, match="same name"):
        Scheme(Algorithm(checks.centroids(), choice=TwoOfAName())).learn(X, Y)


@pytest.mark.parametrize("make", [lambda: EnsembleOrBest("sofmax"), lambda: Uniform("raww")])
def test_an_unknown_way_to_combine_is_refused(make):
    with pytest.raises(SettingError, match="choose from raw, log-softmax, softmax"):
        make()


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32])
def test_logits_of_any_number_type_make_probabilities(dtype):
    def logits(state, X):
        return np.tile(np.array([1, 0, 1]).astype(dtype), (len(X), 1))

    model = Plain(FunctionLearner(lambda seed: 0, lambda state, X, y: state, logits))
    model.learn(X, Y)
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)


def test_text_is_not_turned_into_one_wide_array():
    tracemalloc = pytest.importorskip("tracemalloc")
    texts = ["short"] * 999 + ["x" * 100_000]
    model = Plain(majority_class())
    tracemalloc.start()
    model.learn(texts, [0, 1] * 500)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6


def test_a_list_of_texts_may_be_predicted_by_a_model_of_an_array_of_texts():
    model = Plain(majority_class())
    model.learn(np.array(["a", "b"]), [0, 1])
    assert len(model.predict(["c"])) == 1


DATES = np.array(["2020-01-01", "2021-01-01"] * 12, dtype="datetime64[ns]")


@pytest.mark.parametrize(
    ("labels", "known", "dtype"),
    [
        ([2**63, -1] * 12, {2**63, -1}, object),
        (DATES, set(DATES), object),
        (np.array([1.0, np.nan, 0.0] * 8), {0, 1}, int),
        ([True, False] * 12, {True, False}, bool),
        ([0.5, 1.5] * 12, {0.5, 1.5}, float),
        ([("a", 1), "b"] * 12, {("a", 1), "b"}, object),
    ],
)
def test_labels_come_back_as_they_went_in(labels, known, dtype):
    model = AWE(checks.centroids())
    for _ in range(3):
        model.learn(X, labels)
        guess = model.predict(X)
        assert guess.dtype == dtype
        assert set(guess.tolist()) <= known


def test_a_scheme_of_your_own_shares_the_face():
    model = Scheme(Algorithm(checks.centroids(), cover=FLH(), evidence=Prequential(), window=ARW(), choice=Best()))
    for batch in BATCHES:
        report = model.learn(*batch)
    assert report.chosen in report.starts


class Misbehaving(Pickled):
    def __init__(self, made):
        self.made = made

    def fresh(self, *seed):
        return self.made(self)


@pytest.mark.parametrize(
    ("made", "message"), [(lambda self: self, "returned itself"), (lambda self: None, "returned a NoneType")]
)
def test_a_fresh_that_makes_no_new_learner_is_refused(made, message):
    with pytest.raises(LearnerError, match=message):
        AWE(Misbehaving(made))


def test_a_fresh_that_takes_no_seed_is_named():
    class NoSeed(Pickled):
        def fresh(self):
            return NoSeed()

    with pytest.raises(LearnerError, match="started at round 1 failed while starting: TypeError"):
        AWE(NoSeed())


def test_a_scheme_says_what_it_is():
    assert repr(taught()) == "<AWE around FunctionLearner, at round 5>"
