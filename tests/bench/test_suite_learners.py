"""Every learner of the suite learns every kind of data it suits, with the settings that were agreed on."""

import subprocess
import sys

import numpy as np
import pytest

from spanwise.bench.suite.learners import COLUMNS, LEARNERS, RIVER, ROWS, SEEDS, make, suits
from spanwise.errors import SettingError, UnknownNameError
from spanwise.learner import Learner

KINDS = ("array", "text", "columns")


def toy(kind):
    """Sixty rows of two classes that are easy to tell apart."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    if kind == "array":
        return np.where(y[:, None], 100.0, 200.0) + rng.normal(size=(60, 3)), y
    words = [f"{('rain', 'goal')[k]} {rng.integers(9)}" for k in y]
    if kind == "text":
        return words, y
    temp = np.where(np.arange(60) < 3, np.nan, y * 10.0)
    return {"temp": temp, "carrier": np.array([word.split()[0] for word in words], dtype=object)}, y


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LEARNERS)
def test_learns_what_it_suits_and_repeats_itself(name, kind):
    if name in RIVER:
        pytest.importorskip("river")
    if not suits(name, kind, rows=60):
        with pytest.raises(SettingError, match=kind):
            make(name, kind, classes=2)
        return
    X, y = toy(kind)
    twins = [make(name, kind, classes=2).fresh(seed=3) for _ in range(2)]
    for learner in twins:
        assert isinstance(learner, Learner)
        for _ in range(40 if name == "mlp-slow" else 8):
            learner.learn(X, y)
    logits = twins[0].logits(X)
    assert logits.shape == (60, 2)
    assert np.isfinite(logits).all()
    assert (logits.argmax(axis=1) == y).mean() > 0.9
    assert np.array_equal(logits, twins[1].logits(X))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "rate"), [("mlp-fast", 0.01), ("mlp-slow", 0.001)])
def test_networks_differ_in_their_rate_alone(name, rate, kind):
    learner = make(name, kind, classes=2)
    while not hasattr(learner, "classifier"):
        learner = learner.learner
    told = {key: getattr(learner.classifier, key) for key in ("hidden_layer_sizes", "batch_size", "learning_rate_init")}
    assert told == {"hidden_layer_sizes": (32,), "batch_size": 32, "learning_rate_init": rate}


@pytest.mark.parametrize("name", ["linear", "mlp-fast", "mlp-slow", "naive-bayes"])
def test_arrays_are_scaled_by_what_was_seen(name):
    assert [type(step).__name__ for step in make(name, "array", classes=2).before] == ["StandardScaler"]


def test_many_classes_get_fewer_columns_of_words():
    widths = [make("linear", "text", classes).features.features.width for classes in (11, 116)]
    assert widths == [2**18, 2**15]


def test_texts_are_512_columns_to_all_but_the_linear_learner():
    for name in ("mlp-fast", "mlp-slow", "naive-bayes"):
        words = make(name, "text", classes=116).features.features
        assert (words.width, words.dense) == (512, True)


def test_the_forest_has_three_trees_and_two_seeds_all_others_five_seeds():
    pytest.importorskip("river")
    assert make("adaptive-forest", "array", classes=2).model.n_models == 3
    assert {name: 2 if name == "adaptive-forest" else 5 for name in LEARNERS} == SEEDS


@pytest.mark.parametrize("name", sorted(RIVER))
def test_river_learns_arrays_that_are_not_too_large(name):
    assert suits(name, "array", ROWS)
    assert suits(name, "array", ROWS, COLUMNS)
    assert not suits(name, "array", ROWS + 1)
    assert not suits(name, "array", ROWS, COLUMNS + 1)
    assert not suits(name, "columns", 10)


@pytest.mark.parametrize("name", sorted(set(LEARNERS) - RIVER))
def test_all_others_learn_anything(name):
    assert all(suits(name, kind, 10**6, 3072) for kind in KINDS)


def test_a_name_that_is_none_is_refused():
    with pytest.raises(UnknownNameError, match=r"'mlp'.*mlp-fast"):
        make("mlp", "array", classes=2)


def test_neither_library_is_imported_before_a_learner_is_made():
    code = (
        "import sys; import spanwise.bench.suite.learners; "
        "assert not {'sklearn', 'river', 'torch', 'scipy', 'pyarrow'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
