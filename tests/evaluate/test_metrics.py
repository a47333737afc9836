"""Our metrics against scikit-learn's, and where we differ on purpose."""

import warnings
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as theirs

from spanwise.errors import DataError
from spanwise.evaluate import metrics as ours

labels = st.integers(0, 4)
pairs = st.lists(st.tuples(labels, labels), min_size=1, max_size=30)


def columns(pairs):
    y, predicted = zip(*pairs, strict=True)
    return np.array(y), np.array(predicted)


def quietly(score, *arguments, **settings):
    """scikit-learn warns of classes that are absent on one side; here they are the point."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return score(*arguments, **settings)


@settings(deadline=None, max_examples=60)
@given(pairs)
def test_scores_of_labels_equal_scikit_learns_whatever_classes_are_absent(pairs):
    y, predicted = columns(pairs)
    assert ours.accuracy(y, predicted) == pytest.approx(quietly(theirs.accuracy_score, y, predicted))
    assert ours.balanced_accuracy(y, predicted) == pytest.approx(quietly(theirs.balanced_accuracy_score, y, predicted))
    assert ours.macro_f1(y, predicted) == pytest.approx(quietly(theirs.f1_score, y, predicted, average="macro"))


@settings(deadline=None, max_examples=60)
@given(pairs)
def test_scores_do_not_depend_on_what_the_labels_are_called(pairs):
    y, predicted = columns(pairs)
    names = np.array(["e", "c", "a", "d", "b"])
    for score in (ours.accuracy, ours.balanced_accuracy, ours.macro_f1):
        assert score(names[y], names[predicted]) == pytest.approx(score(y, predicted))


@settings(deadline=None, max_examples=60)
@given(st.lists(labels, min_size=1, max_size=30), st.integers(0, 2**32 - 1), st.sampled_from([0.05, 1.0]))
def test_log_loss_equals_scikit_learns_even_at_probability_0(y, seed, spread):
    proba = np.random.default_rng(seed).dirichlet(np.full(5, spread), size=len(y))
    proba[proba < 1e-3] = 0.0
    proba /= proba.sum(axis=1, keepdims=True)
    assert ours.log_loss(np.array(y), proba) == pytest.approx(theirs.log_loss(y, proba, labels=range(5)), abs=1e-12)


def test_a_class_without_a_column_counts_as_probability_0_where_scikit_learn_refuses():
    proba = np.array([[0.25, 0.75], [0.5, 0.5]])
    assert ours.log_loss(np.array([1, 2]), proba) == pytest.approx(-(log(0.75) + log(ours.LEAST)) / 2)
    with pytest.raises(ValueError):
        theirs.log_loss([1, 2], proba, labels=[0, 1])


def test_one_class_alone_is_certain_where_scikit_learn_reads_the_column_as_the_second_of_two():
    assert ours.log_loss(np.array([0, 0]), np.ones((2, 1))) == 0.0


@pytest.mark.parametrize("score", [ours.accuracy, ours.balanced_accuracy, ours.macro_f1])
def test_nothing_to_score_and_lengths_that_differ_are_refused(score):
    for y, predicted in (([], []), ([1, 2], [1])):
        with pytest.raises(DataError, match="a score needs"):
            score(np.array(y), np.array(predicted))
