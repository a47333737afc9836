"""Rows to features: made once a batch, the same whatever the batch, and whole where values are missing."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import SGDClassifier

from spanwise import AWE, checks
from spanwise.adapters.features import BATCHES, Featured, FeaturedLoop, Remembered, content
from spanwise.adapters.functions import majority_class
from spanwise.adapters.hashing import Columns, Words, one_hot, strings, texts
from spanwise.adapters.missing import FARTHEST, Filled, Moments, Table
from spanwise.core import rows
from spanwise.core.loop import Threaded
from spanwise.errors import FeatureError, SettingError


class Counting:
    """Twice the rows; counts how often it was asked."""

    def __init__(self):
        self.asked = 0

    def __call__(self, X):
        self.asked += 1
        return 2 * np.asarray(X)


def halved(X):
    return np.asarray(X) / 2


def objects(*values):
    return np.array(values, dtype=object)


# A learner behind features is a learner


@pytest.mark.parametrize("check", checks.LEARNER, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "within",
    [checks.centroids(), SGDClassifier(), Threaded(SGDClassifier(), 2)],
    ids=["centroids", "SGDClassifier", "Threaded"],
)
def test_features_before_a_learner_keep_its_laws(check, within):
    check(Featured(halved, within))


@pytest.mark.parametrize("check", checks.SCHEME, ids=lambda check: check.__name__)
def test_a_scheme_around_features_keeps_its_laws(check, monkeypatch):
    whole = checks.centroids
    monkeypatch.setattr("spanwise.checks.schemes.centroids", lambda: Featured(np.asarray, whole()))
    check(lambda learner, seed: AWE(learner, seed=seed))


def test_a_pool_says_what_it_would_say_of_the_features_themselves():
    behind, bare = AWE(Featured(halved, SGDClassifier())), AWE(SGDClassifier())
    for X, y in checks.toy_batches(12):
        checks.assert_same_report(behind.learn(X, y), bare.learn(X / 2, y))
        assert np.array_equal(behind.predict_proba(X), bare.predict_proba(X / 2))


def test_a_saved_model_goes_on_the_same_without_pickle(tmp_path):
    learner = Featured(halved, SGDClassifier())
    model = AWE(learner)
    batches = list(checks.toy_batches(10))
    for X, y in batches[:6]:
        model.learn(X, y)
    model.save(tmp_path / "model")
    again = AWE.load(tmp_path / "model", learner)
    for X, y in batches[6:]:
        checks.assert_same_report(again.learn(X, y), model.learn(X, y))


def test_missing_values_are_welcome_where_the_learner_within_takes_them():
    assert not Featured(halved, majority_class()).accepts_nan
    assert Featured(halved, Filled(majority_class())).accepts_nan


# Each batch once


def test_a_pool_and_several_schemes_ask_for_the_features_of_a_batch_once():
    """Of 9 rounds, each has a batch, its training fold, and the hold-out so far."""
    features = Counting()
    learner = Featured(features, SGDClassifier())
    models = [AWE(learner), AWE(learner, delta=0.2)]
    for X, y in checks.toy_batches(9):
        for model in models:
            model.predict(X)
            model.learn(X, y)
    assert features.asked <= 3 * 9


def test_fresh_ones_and_copies_share_what_is_remembered():
    features = Counting()
    learner = Featured(features, majority_class())
    X = np.ones((3, 2))
    for one in (learner, learner.fresh(1), learner.copy(), deepcopy(learner), learner.fresh(1).copy()):
        one.logits(X)
    assert features.asked == 1


def test_what_is_remembered_equals_what_would_be_made_anew():
    rng = np.random.default_rng(0)
    features = Remembered(halved)
    for batch in [rng.integers(3, size=(2, 2)) for _ in range(60)]:
        assert np.array_equal(features(batch), halved(batch))


def test_a_batch_that_was_changed_is_another():
    features, X = Remembered(Counting()), np.ones((2, 2))
    assert features(X)[0, 0] == 2
    X[0, 0] = 5
    assert features(X)[0, 0] == 10


def test_the_batches_not_asked_for_longest_are_forgotten(monkeypatch):
    features = Counting()
    remembered = Remembered(features)
    batches = [np.full((2, 1), float(i)) for i in range(BATCHES + 1)]
    for batch in batches:
        remembered(batch)
    remembered(batches[1])
    assert features.asked == BATCHES + 1
    remembered(batches[0])
    assert features.asked == BATCHES + 2
    monkeypatch.setattr("spanwise.adapters.features.ROWS", 5)
    remembered(batches[3])
    assert len(remembered.known) == 2
    remembered(np.ones((9, 1)))
    assert len(remembered.known) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["ab", "c"], ["a", "bc"]),
        (["a", None], ["a", "null"]),
        ({"a": np.ones(2)}, {"b": np.ones(2)}),
        ({"a": ["x"], "b": ["y"]}, {"a": ["y"], "b": ["x"]}),
        (np.ones((4, 1)), np.ones((2, 2))),
        (np.zeros(2, dtype=np.int64), np.zeros(2)),
        (np.zeros((0, 2)), np.zeros((0, 3))),
    ],
)
def test_batches_that_differ_are_not_mistaken_for_each_other(one, other):
    assert content(one) == content(deepcopy(one))
    assert content(one) != content(other)


@pytest.mark.parametrize("X", [[1, True], [["a"]], objects({}), pd.DataFrame({"a": [1]}), {"a": [1.0]}], ids=str)
def test_what_cannot_be_told_apart_is_not_remembered(X):
    asked = []
    remembered = Remembered(asked.append)
    remembered(X)
    remembered(X)
    assert len(asked) == 2


def test_threads_that_ask_at_once_get_one_answer():
    features = Counting()
    remembered = Remembered(features)
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: remembered(np.ones((500, 20))), range(40)))
    assert features.asked == 1
    assert all(answer is answers[0] for answer in answers)


def test_a_failure_leaves_nothing_behind():
    remembered = Remembered(texts)
    for _ in range(2):
        with pytest.raises(FeatureError, match="row 1 is not a text but int"):
            remembered(["a", 3])
    assert not remembered.known


def test_a_pickle_comes_back_empty_but_works():
    learner = Featured(Words(64), SGDClassifier()).fresh(0)
    learner.learn(["good day", "bad night"], np.array([0, 1]))
    again = pickle.loads(pickle.dumps(learner))
    assert not again.features.known
    assert np.array_equal(again.logits(["good"]), learner.logits(["good"]))


def test_the_loop_within_is_the_learners_own():
    calls = []

    class Together(majority_class().__class__):
        def engine(self):
            return Own(self)

    class Own(FeaturedLoop.__base__):
        def logits(self, spans, X):
            calls.append(len(spans))
            return super().logits(spans, X)

    counts = majority_class()
    model = AWE(Featured(np.asarray, Together(*counts.functions)))
    for X, y in checks.toy_batches(5):
        model.learn(X, y)
    assert max(calls) > 1
    assert Featured(np.asarray, Elsewhere()).engine() is None


class Elsewhere:
    """A learner whose instances do not live in a loop."""

    fresh = learn = logits = lambda *_: None

    def engine(self):
        return object()


# Words


@pytest.mark.parametrize("words", [Words(2**18), Words(64, dense=True)], ids=str)
def test_words_of_a_text_do_not_depend_on_the_batch(words):
    batch = ["Oil price falls", "", None, "Oil", "the price of oil, the price", "Öl fällt"]
    together = rows_of(words(batch))
    assert np.array_equal(together, np.concatenate([rows_of(words([text])) for text in batch]))
    assert not together[1:3].any()
    assert np.array_equal(rows_of(words(objects(*batch))), together)
    assert np.array_equal(rows_of(words(pd.Series(batch))), together)


def rows_of(X):
    return X.toarray() if hasattr(X, "toarray") else X


def test_sparse_rows_have_length_1_and_dense_ones_numbers_of_about_1():
    batch = ["Oil price falls again today", "Oil"]
    assert np.allclose(np.linalg.norm(Words(2**18)(batch).toarray(), axis=1), 1)
    assert np.allclose((Words(128, dense=True)(batch) ** 2).mean(axis=1), 1)


@pytest.mark.parametrize("X", ["a text", {"a": ["b"]}, pd.DataFrame({"a": ["b"]}), np.array([["a"]])], ids=str)
def test_what_is_no_list_of_texts_is_refused(X):
    with pytest.raises(FeatureError, match="pass one column"):
        Words(8)(X)


def test_no_columns_to_hash_into_are_refused():
    for make in (Words, Columns):
        with pytest.raises(SettingError, match="width=0"):
            make(0)


# Columns

FLIGHTS = {
    "carrier": objects("UA", None, "AA", "UA"),
    "temp": np.array([39.0, np.nan, np.inf, 20.0]),
    "hour": np.array([5, 6, 7, 8]),
    "said": objects("late again", None, "", "on time"),
}


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("text", [None, "said"])
def test_rows_do_not_depend_on_the_batch_or_on_the_order_of_columns(dense, text):
    columns = Columns(64, dense=dense, text=text)
    whole = columns(FLIGHTS)
    turned = columns(dict(reversed(FLIGHTS.items())))
    assert np.array_equal(rows_of(whole.frame), rows_of(turned.frame))
    assert np.array_equal(whole.numbers, turned.numbers, equal_nan=True)
    for i in range(4):
        one = columns(rows.take(FLIGHTS, [i]))
        assert np.array_equal(rows_of(one.frame), rows_of(whole.frame)[[i]])
        assert np.array_equal(one.numbers, whole.numbers[[i]], equal_nan=True)


def test_numbers_keep_a_column_each_and_another_marks_those_missing():
    table = Columns(16, dense=True)(FLIGHTS)
    assert table.numbers[:, 0].tolist() == [5, 6, 7, 8]  # by name, hour before temp
    assert table.frame[:, 2:4].tolist() == [[0, 0], [0, 1], [0, 1], [0, 0]]
    assert table.frame.shape == (4, 2 + 2 + 16)


def test_a_category_has_a_place_of_its_own_and_so_has_a_missing_one():
    hot = one_hot({"a": objects("x", None, "y", "x"), "b": objects("x", "x", "x", "x")}, 4, 2**16, 0.5).toarray()
    assert hot.sum(axis=1).tolist() == [1.0] * 4
    assert np.array_equal(hot[0], hot[3])
    assert len(np.unique(hot, axis=0)) == 3
    assert (hot != 0).any(axis=0).sum() == 4  # x, y and none of a; x of b


def test_frames_arrays_and_dicts_give_the_same_rows():
    frame = pd.DataFrame({"a": [1.5, np.nan], "b": pd.array([1, None], dtype="Int64"), "c": ["u", None]})
    columns = {"a": [1.5, np.nan], "b": np.array([1.0, np.nan]), "c": objects("u", None)}
    for dense in (False, True):
        one, other = Columns(8, dense=dense)(frame), Columns(8, dense=dense)(columns)
        assert np.array_equal(one.numbers, other.numbers, equal_nan=True)
        assert np.array_equal(rows_of(one.frame), rows_of(other.frame))
    assert Columns(8)(np.arange(24.0).reshape(2, 12)).numbers[1].tolist() == list(range(12, 24))


def test_values_of_any_type_are_categories_where_they_are_no_column_of_numbers():
    assert strings(objects(1, True, "1", None, float("nan"), pd.NA, pd.NaT)) == ["1", "True", "1", *[None] * 4]


def test_columns_that_are_none_are_refused():
    with pytest.raises(FeatureError, match=r"rows of shape \(2, 2\) are no columns"):
        Columns(8)(np.zeros((3, 2, 2)))
    with pytest.raises(FeatureError, match="one value a row"):
        Columns(8)({"a": np.zeros((3, 2))})
    with pytest.raises(FeatureError, match="in column 'b'; there are a"):
        Columns(8, text="b")({"a": np.zeros(3)})


# Missing values


def table(numbers, dense=True):
    numbers = np.asarray(numbers, dtype=float).reshape(len(numbers), -1)
    return Columns(4, dense=dense)(numbers)


def test_moments_of_parts_add_up_to_those_of_the_whole():
    rng = np.random.default_rng(0)
    numbers = np.where(rng.random((50, 4)) < 0.3, np.nan, rng.normal(100, 5, size=(50, 4)))
    numbers[:, 3] = np.nan
    parts = [table(part).moments for part in np.split(numbers, [1, 7, 30])]
    total = parts[0] + parts[1] + parts[2] + parts[3]
    there = numbers[:, :3]
    assert np.allclose(total.mean[:3], np.nanmean(there, axis=0))
    assert np.allclose(total.squares[:3] / total.count[:3], np.nanvar(there, axis=0))
    assert total.count[3] == total.mean[3] == total.squares[3] == 0


def test_numbers_are_scaled_and_what_is_missing_becomes_the_mean():
    past = Moments(np.array([4.0]), np.array([10.0]), np.array([16.0]))
    scaled = past.scaled(np.array([[10.0], [12.0], [np.nan], [-np.inf], [1e9], [1e200]]))
    assert scaled.ravel().tolist() == [0, 1, 0, 0, FARTHEST, 0]


def test_columns_that_never_vary_or_were_never_seen_do_no_harm():
    past = table([[0.1, np.nan, 1e9]] * 3).moments
    scaled = past.scaled(np.array([[0.1, 7.0, 1e9], [0.6, np.nan, 1e9 + 2]]))
    assert np.allclose(scaled, [[0, 0, 0], [0.5, 0, 2]])


@pytest.mark.parametrize("dense", [False, True])
def test_the_learner_within_gets_scaled_rows_and_marks(dense):
    got = []

    class Listening:
        def fresh(self, seed):
            return self

        def learn(self, X, y):
            got.append(rows_of(X))

        def logits(self, X):
            return np.zeros((X.shape[0], 1))

    Filled(Listening()).learn(table([[1.0, 5.0], [3.0, np.nan]], dense), np.zeros(2, dtype=int))
    unit = 1 if dense else 0.5**0.5
    assert np.allclose(got[0][:, :4], unit * np.array([[-1, 0, 0, 0], [1, 0, 0, 1]]))


def test_an_instance_is_scaled_by_its_own_past_alone():
    old, new = Filled(SGDClassifier()).fresh(0), Filled(SGDClassifier()).fresh(0)
    old.learn(table([0.0, 1.0]), np.array([0, 1]))
    for one in (old, new):
        one.learn(table([100.0, 102.0]), np.array([0, 1]))
    assert new.past.mean.tolist() == [101.0]
    assert old.past.mean.tolist() == [50.75]


def test_a_column_that_turns_from_numbers_to_strings_is_refused():
    learner = Featured(Columns(8), Filled(SGDClassifier()))
    learner.learn({"a": np.zeros(2), "b": np.zeros(2)}, np.array([0, 1]))
    with pytest.raises(FeatureError, match="1 columns of numbers, earlier rounds had 2"):
        learner.learn({"a": objects("x", "y"), "b": np.zeros(2)}, np.array([0, 1]))


def test_a_table_has_as_many_rows_as_its_numbers():
    assert len(Table(np.zeros((3, 0)), np.zeros((3, 2)))) == rows.count(Table(np.zeros((3, 0)), np.zeros((3, 2)))) == 3


@pytest.mark.parametrize("check", checks.LEARNER, ids=lambda check: check.__name__)
@pytest.mark.parametrize("dense", [False, True])
def test_a_learner_of_filled_tables_keeps_its_laws(check, dense):
    check(Featured(Columns(16, dense=dense), Filled(SGDClassifier())))
