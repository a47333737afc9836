"""A scheme behind scikit-learn's own interface, held to scikit-learn's own checks."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from spanwise.adapters.functions import majority_class
from spanwise.core.awe import AWE
from spanwise.core.evidence import Prequential
from spanwise.errors import SettingError, UnknownNameError
from spanwise.faces.sklearn import SpanwiseClassifier
from spanwise.schemes.spanwise import Spanwise

WEATHER = np.array(["sun", "rain", "snow"])


class PrequentialAWE(AWE):
    def __init__(self, learner, seed):
        super().__init__(learner, seed=seed, evidence=Prequential())


def stream(n=200, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    return 4 * np.eye(3)[y] + rng.normal(size=(n, 3)), WEATHER[y]


@parametrize_with_checks(
    [
        SpanwiseClassifier(),
        SpanwiseClassifier(scheme=PrequentialAWE, round_size=40),
        SpanwiseClassifier(GaussianNB(), scheme="vote", round_size=40),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_fit_is_the_scheme_on_rounds_of_so_many_rows():
    X, y = stream()
    model = SpanwiseClassifier(GaussianNB(), round_size=30, random_state=1).fit(X, y)
    scheme = Spanwise(GaussianNB(), seed=model.scheme_.method.pool.seed)
    for begin in range(0, 200, 30):
        report = scheme.learn(X[begin : begin + 30], y[begin : begin + 30])
    assert model.report_.round == report.round == 7
    assert model.report_.why == report.why
    assert np.array_equal(model.predict(X), scheme.predict(X))


def test_without_a_round_size_fit_is_one_round():
    assert SpanwiseClassifier(random_state=0).fit(*stream()).report_.round == 1


def test_partial_fit_goes_on_where_fit_begins_anew():
    X, y = stream()
    whole = SpanwiseClassifier(round_size=50, random_state=3).fit(X, y)
    parts = SpanwiseClassifier(random_state=3)
    for begin in range(0, 200, 50):
        parts.partial_fit(X[begin : begin + 50], y[begin : begin + 50])
    assert parts.report_.round == 4
    assert np.array_equal(whole.predict_proba(X), parts.predict_proba(X))
    assert parts.fit(X, y).report_.round == 1


def test_classes_are_sorted_and_so_are_the_columns():
    X, y = stream()
    model = SpanwiseClassifier(round_size=20, random_state=0).fit(X, y)
    assert model.classes_.tolist() == ["rain", "snow", "sun"]
    proba = model.predict_proba(X)
    assert np.allclose(proba.sum(axis=1), 1)
    assert np.array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
    assert model.score(X, y) > 0.9


def test_classes_named_ahead_have_probability_0_until_they_come():
    X, y = stream(classes=2)
    model = SpanwiseClassifier(random_state=0).partial_fit(X, y, classes=WEATHER)
    assert model.classes_.tolist() == sorted(WEATHER)
    assert not model.predict_proba(X)[:, 1].any()
    model.partial_fit(*stream())
    assert model.predict_proba(X)[:, 1].any()


def test_classes_that_come_late_are_added_unannounced():
    model = SpanwiseClassifier(GaussianNB(), random_state=0).partial_fit(*stream(classes=2))
    X, y = stream(seed=1)
    model.partial_fit(X, y)
    assert model.classes_.tolist() == sorted(WEATHER)
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("scheme", ["plain", "vote", AWE, PrequentialAWE, Spanwise])
def test_a_scheme_is_a_name_a_class_or_a_function(scheme):
    X, y = stream()
    assert SpanwiseClassifier(scheme=scheme, round_size=25, random_state=0).fit(X, y).score(X, y) > 0.9


def test_a_learner_need_not_come_from_scikit_learn():
    X, y = stream()
    y[:150] = "snow"
    model = SpanwiseClassifier(majority_class(), random_state=0).fit(X, y)
    assert set(model.predict(X)) == {"snow"}


def test_it_takes_what_its_learner_takes():
    X, y = stream()
    assert SpanwiseClassifier().fit(sparse.csr_array(X), y).score(sparse.csr_array(X), y) > 0.8
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        SpanwiseClassifier(GaussianNB()).fit(sparse.csr_array(X), y)


def test_it_can_be_searched_over_inside_a_pipeline():
    X, y = stream()
    pipeline = make_pipeline(StandardScaler(), SpanwiseClassifier(SGDClassifier(loss="log_loss"), random_state=0))
    grid = {"spanwiseclassifier__round_size": [20, 50], "spanwiseclassifier__learner__alpha": [1e-4, 1e-2]}
    search = GridSearchCV(pipeline, grid, cv=TimeSeriesSplit(2), error_score="raise").fit(X, y)
    assert search.best_score_ > 0.8


def test_a_clone_has_the_settings_and_none_of_the_memory():
    model = SpanwiseClassifier(SGDClassifier(alpha=0.01), scheme=PrequentialAWE, round_size=9).fit(*stream())
    twin = clone(model)
    assert (twin.learner.alpha, twin.scheme, twin.round_size) == (0.01, PrequentialAWE, 9)
    with pytest.raises(NotFittedError):
        twin.predict(np.zeros((1, 3)))


def test_pickled_it_goes_on_the_same():
    X, y = stream()
    model = SpanwiseClassifier(round_size=50, random_state=0).fit(X, y)
    twin = pickle.loads(pickle.dumps(model))
    assert np.array_equal(model.partial_fit(X, y).predict_proba(X), twin.partial_fit(X, y).predict_proba(X))


def test_bad_settings_are_refused():
    with pytest.raises(SettingError, match="round_size=0"):
        SpanwiseClassifier(round_size=0).fit(*stream())
    with pytest.raises(UnknownNameError, match="did you mean saol"):
        SpanwiseClassifier(scheme="soal").fit(*stream())


def test_missing_labels_are_refused_as_scikit_learn_demands():
    X, _ = stream()
    with pytest.raises(ValueError, match="NaN"):
        SpanwiseClassifier().fit(X, np.where(np.arange(200) % 3, 1.0, np.nan))
