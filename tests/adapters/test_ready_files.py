"""Learners for what files hold: the laws of learners, whatever is missing, new or of another kind."""

from types import SimpleNamespace

import numpy as np
import pytest

from spanwise import AWE, catalog, checks
from spanwise.adapters.features import Featured
from spanwise.adapters.functions import majority_class
from spanwise.adapters.ready_files import columns_linear, columns_mlp, for_columns, for_text, words_linear
from spanwise.errors import FeatureError
from spanwise.schemes.plain import Plain

SMALL = {"width": 8}
TREE = {"width": 12}
NAMES = {"mlp": SMALL, "naive-bayes": SMALL, "hoeffding-tree": TREE, "ft": SMALL, "si": SMALL}


def as_texts(X):
    """A word for each number, so that texts tell what rows of numbers do."""
    return [" ".join(f"{'abcd'[j]}{50 + value:.0f}" for j, value in enumerate(row)) for row in X]


def as_columns(X):
    """Two columns of numbers, one of them with holes; two of categories, one with holes; a text."""
    words = np.array(as_texts(X), dtype=object)
    return {
        "whole": X[:, 0],
        "holed": np.where(X[:, 1] > 3, np.nan, X[:, 1]),
        "kind": np.array([f"{value:.0f}" for value in X[:, 2]], dtype=object),
        "rare": np.array([None if value < 0 else f"{value:.0f}" for value in X[:, 3]], dtype=object),
        "never": np.full(len(X), None, dtype=object),
        "nothing": np.full(len(X), np.nan),
        "always": np.ones(len(X)),
        "said": words,
    }


TEXT = {"words-linear": words_linear, **{n: lambda n=n: for_text(catalog.learner(n), **NAMES[n]) for n in NAMES}}
COLUMNS = {
    "columns-linear": columns_linear,
    "columns-linear with text": lambda: columns_linear("said"),
    "columns-mlp": columns_mlp,
    "mlp with text": lambda: for_columns(catalog.learner("mlp"), "said", **SMALL),
    **{n: lambda n=n: for_columns(catalog.learner(n), **NAMES[n]) for n in NAMES},
}
SLOW = {"hoeffding-tree", "si"}
"""Their own laws are tested elsewhere."""


@pytest.mark.parametrize("check", checks.LEARNER, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", [name for name in TEXT if name not in SLOW])
def test_every_learner_of_texts(name, check):
    """On texts that the rows of numbers of the checks are turned into."""
    check(Featured(as_texts, TEXT[name]()))


@pytest.mark.parametrize("check", checks.LEARNER, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", [name for name in COLUMNS if name not in SLOW])
def test_every_learner_of_columns(name, check):
    check(Featured(as_columns, COLUMNS[name]()))


@pytest.mark.parametrize("name", ["columns-linear", "columns-mlp"])
@pytest.mark.parametrize("check", checks.LEARNER, ids=lambda check: check.__name__)
def test_columns_may_come_as_an_array_too(name, check):
    check(COLUMNS[name]())


@pytest.mark.parametrize("name", TEXT)
def test_texts_that_are_missing_empty_or_new_are_no_trouble(name, tmp_path):
    learner = TEXT[name]()
    model, y = AWE(learner), np.array(["a", "b", "a", "b"])
    for texts in (["x y", "z", "", "y z"], [None, "", None, ""], ["ü", "...", "x " * 500, "new"]):
        model.learn(texts, y)
        assert set(model.predict([*texts, None])) <= {"a", "b"}
    assert_loads_the_same(model, learner, ["x y", None], tmp_path)


@pytest.mark.parametrize("name", COLUMNS)
def test_values_that_are_missing_infinite_or_new_are_no_trouble(name, tmp_path):
    learner = COLUMNS[name]()
    model = AWE(learner)
    for t, (X, y) in enumerate(checks.toy_batches(6)):
        columns = as_columns(X)
        if t == 2:
            columns = {
                n: np.full(len(X), np.nan if c.dtype == float else None, dtype=c.dtype) for n, c in columns.items()
            }
        if t == 3:
            columns["whole"][:4] = [np.inf, -np.inf, 1e300, np.nan]
            columns["kind"][:] = "never seen"
            columns["nothing"][1] = 3.0
        model.predict(columns)
        model.learn(columns, y)
    assert_loads_the_same(model, learner, columns, tmp_path)


def assert_loads_the_same(model, learner, X, folder):
    """Without pickle; a pool of trees would take its time."""
    if learner.features.features.width == TREE["width"]:
        return
    model.save(folder / "model")
    assert np.array_equal(AWE.load(folder / "model", learner).predict_proba(X), model.predict_proba(X))


def test_the_order_of_columns_makes_no_difference():
    one, other = AWE(columns_linear("said")), AWE(columns_linear("said"))
    for X, y in checks.toy_batches(6):
        columns = as_columns(X)
        turned = dict(reversed(columns.items()))
        checks.assert_same_report(one.learn(columns, y), other.learn(turned, y))
        assert np.array_equal(one.predict_proba(columns), other.predict_proba(turned))


def test_a_column_that_comes_or_goes_is_refused():
    model = AWE(columns_linear())
    (X, y), *_ = checks.toy_batches(1)
    columns = as_columns(X)
    model.learn(columns, y)
    del columns["kind"]
    with pytest.raises(FeatureError, match=r"missing \['kind'\]"):
        model.learn(columns, y)


def test_a_class_that_comes_late_is_learned_from_words_and_categories():
    for learner, turn in ((words_linear(), as_texts), (columns_linear(), as_columns)):
        model = Plain(learner)
        for t, (X, y) in enumerate(checks.toy_batches(40)):
            seen = slice(None) if t > 5 else y < 2
            model.learn(turn(X[seen]), y[seen])
        assert 2 in model.predict(turn(X))


def test_networks_on_texts_stay_stacked(monkeypatch):
    from spanwise.deep.learner import TorchLearner

    together = []
    learn = TorchLearner.learn_together
    monkeypatch.setattr(
        TorchLearner, "learn_together", lambda self, all, *rest: together.append(len(all)) or learn(self, all, *rest)
    )
    model = AWE(for_text(catalog.learner("ft"), **SMALL))
    for X, y in checks.toy_batches(4):
        model.learn(as_texts(X), y)
    assert together == [1, 2, 3, 4]


def test_words_tell_classes_apart():
    """Two topics with words of their own: nearly all right after a few rounds."""
    rng = np.random.default_rng(0)
    topics = {"sport": ["goal", "match", "team", "win"], "trade": ["price", "oil", "market", "bank"]}
    batch = SimpleNamespace(X=[], y=rng.choice(list(topics), size=200))
    batch.X = [" ".join(rng.choice(topics[topic], size=3)) for topic in batch.y]
    for make in (words_linear, lambda: for_text(catalog.learner("naive-bayes"))):
        model = Plain(make())
        model.learn(batch.X[:100], batch.y[:100])
        assert (model.predict(batch.X[100:]) == batch.y[100:]).mean() > 0.95


def test_a_learner_that_looks_at_no_features_can_be_wrapped_too():
    model = Plain(for_columns(majority_class()))
    model.learn({"a": np.array([1.0, np.nan])}, ["x", "x"])
    assert model.predict({"a": np.array([np.nan])}).tolist() == ["x"]
