"""What any scheme must satisfy, whatever it is made of."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from spanwise.checks.toys import POISON, assert_same_report, centroids, raises, same, toy_batches
from spanwise.core.report import RoundReport
from spanwise.core.scheme import Scheme
from spanwise.schemes.plain import Plain

MakeScheme = Callable[[object, int], Scheme]
"""(learner, seed) -> scheme."""


def check_seed_repeats_a_run(make: MakeScheme) -> None:
    """One seed makes a run repeatable: same predictions, same reports."""
    one, two = make(centroids(), 3), make(centroids(), 3)
    for X, y in toy_batches(12):
        assert_same_report(one.learn(X, y), two.learn(X, y))
        same(one.predict_proba(X), two.predict_proba(X), "a seed does not repeat a run")


def check_predictions_are_distributions(make: MakeScheme) -> None:
    """Probabilities are not negative and sum to 1, and `predict` is their highest."""
    model = make(centroids(), 0)
    for X, y in toy_batches(12):
        model.learn(X, y)
        proba = model.predict_proba(X)
        assert proba.shape == (len(X), len(model.classes))
        assert (proba >= 0).all(), "a probability is negative"
        assert np.allclose(proba.sum(axis=1), 1), "probabilities do not sum to 1"
        same(model.predict(X), np.array(model.classes)[proba.argmax(axis=1)], "predict is not the most probable class")


def check_a_scheme_saved_goes_on_the_same(make: MakeScheme) -> None:
    """Saved at any round and loaded, it reports and predicts as the original does from there on."""
    model, batches = make(centroids(), 0), list(toy_batches(12))
    for t, (X, y) in enumerate(batches):
        if t in (0, 1, 5, 9):
            with TemporaryDirectory() as folder:
                model.save(Path(folder) / "model")
                twin = type(model).load(Path(folder) / "model", centroids())
        assert_same_report(twin.learn(X, y), model.learn(X, y))
        same(twin.predict_proba(X), model.predict_proba(X), "a loaded model predicts otherwise")


def check_a_failed_round_changes_nothing(make: MakeScheme) -> None:
    """After a round in which a learner raised, all is as if it had not been tried."""
    model, twin = make(centroids(), 0), make(centroids(), 0)
    for t, (X, y) in enumerate(toy_batches(12)):
        if t % 3 == 2:
            raises(partial(model.learn, np.where(X > 3, POISON, X), np.where(y == 0, 9, y)))
            assert model.classes == twin.classes, "a failed round has left its classes behind"
        assert_same_report(model.learn(X, y), twin.learn(X, y))
        same(model.predict_proba(X), twin.predict_proba(X), "a failed round has left a trace")


def check_the_order_of_rows_does_not_matter(make: MakeScheme) -> None:
    """Given the same logits, shuffling rows within their fold changes no estimate, window or choice.

    Nor a weight, but for the rounding of sums in another order.
    """
    one, two, rng = make(centroids(), 0), make(centroids(), 0), np.random.default_rng(0)
    for t, (X, y) in enumerate(toy_batches(12)):
        order = np.arange(len(y))
        for fold in one.method.evidence.divide(len(y), one.method.rng):
            order[fold] = rng.permutation(fold)
        if t == 0:
            order = np.arange(len(y))  # classes are numbered as they appear
        assert_same_report(_rounded(one.learn(X, y)), _rounded(two.learn(X[order], y[order])))


def _rounded(report: RoundReport) -> RoundReport:
    return replace(report, weights={start: round(weight, 9) for start, weight in report.weights.items()})


def check_start_1_equals_the_plain_learner(make: MakeScheme) -> None:
    """Whenever it falls back to start 1, it predicts as `Plain` on the same rows does, bit for bit."""
    model = make(centroids(), 5)
    if any(span.kind for span in model.method.pool.spans):
        return  # the paper's unmerged spans are trained apart, with seeds of their own
    plain = Plain(centroids(), train_fraction=model.method.evidence.train_fraction, seed=5)
    for X, y in toy_batches(12):
        report = model.learn(X, y)
        plain.learn(X, y)
        if report.chosen == 1:
            same(model.predict_proba(X), plain.predict_proba(X), "start 1 is not the plain learner")


def check_rows_without_label_are_left_out(make: MakeScheme) -> None:
    """A batch with labels missing is learned as the batch without those rows."""
    one, two = make(centroids(), 0), make(centroids(), 0)
    for X, y in toy_batches(8):
        some = np.where(np.arange(len(y)) % 4 == 1, np.nan, y)
        keep = ~np.isnan(some)
        assert_same_report(one.learn(X, some), two.learn(X[keep], some[keep]))
