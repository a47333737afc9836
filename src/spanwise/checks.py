"""What any learner, cover, window or scheme must satisfy, ours or a stranger's.

Every law is a function that raises AssertionError with what went wrong; the lists at the end name
them all. Check your own learner with

    for check in checks.LEARNER:
        check(MyLearner())

and your own part by putting it into a scheme: a part is right when every scheme law holds with it.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from spanwise.adapters.functions import FunctionLearner
from spanwise.core.evidence import HoldOut, Unjudged
from spanwise.core.loop import dump_learner, load_learner
from spanwise.core.pool import complete
from spanwise.core.refine import Window
from spanwise.core.report import RoundReport
from spanwise.core.scheme import Scheme
from spanwise.core.spans import Cover, Span
from spanwise.core.tally import Count, Tally
from spanwise.errors import LearnerError
from spanwise.learner import Array, Learner
from spanwise.schemes.plain import Plain

MakeScheme = Callable[[object, int], Scheme]
"""(learner, seed) -> scheme."""


class Toy(NamedTuple):
    """A batch small enough to think about."""

    X: Array
    y: Array


def toy_batches(rounds: int, *, seed: int = 0, n: int = 24, classes: int = 3) -> Iterator[Toy]:
    """Integer features around a centre for each class; the centres change places half-way."""
    rng = np.random.default_rng(seed)
    centres = rng.integers(-4, 5, size=(classes, 4))
    for t in range(rounds):
        y = rng.permutation(np.arange(n) % classes)
        moved = centres if t < rounds // 2 else np.roll(centres, 1, axis=0)
        yield Toy((moved[y] + rng.integers(-3, 4, size=(n, 4))).astype(float), y)


POISON = 1e6


def centroids() -> FunctionLearner:
    """Nearest class mean on whole numbers: its sums are exact, so the order of rows cannot matter.

    It raises on a batch that holds `POISON`, after having learned it, for the law about failed rounds.
    """

    def learn(sums: Array, X: Array, y: Array) -> Array:
        more = max(0, int(y.max()) + 1 - len(sums))
        sums = np.vstack([sums, np.zeros((more, X.shape[1] + 1))]) if more else sums
        np.add.at(sums, y, np.column_stack([X, np.ones(len(X))]))
        if (X == POISON).any():
            raise RuntimeError("poisoned")
        return sums

    def logits(sums: Array, X: Array) -> Array:
        means = sums[:, :-1] / np.maximum(sums[:, -1:], 1)
        return np.asarray(2 * X @ means.T - (means**2).sum(axis=1))

    return FunctionLearner(lambda seed: np.zeros((0, 5)), learn, logits)


# -- learners ---------------------------------------------------------------------------------------


def trained(learner: Learner, *, seed: int = 1, rounds: int = 3) -> Learner:
    made = learner.fresh(seed)
    for X, y in toy_batches(rounds):
        made.learn(X, y)
    return made


def check_fresh_shares_nothing(learner: Learner) -> None:
    """Training a fresh learner leaves the one it came from as it was, and the other way round."""
    old = trained(learner)
    (X, y), *_ = toy_batches(1, seed=7)
    before = old.logits(X)
    new = old.fresh(2)
    untrained = complete(new.logits(X), len(X), 3, Span(1))
    new.learn(X, y)
    same(old.logits(X), before, "training a fresh learner changed the one it came from")
    other = old.fresh(2)
    old.learn(X, y)
    same(complete(other.logits(X), len(X), 3, Span(1)), untrained, "a fresh learner is not untrained")


def check_seed_repeats_a_learner(learner: Learner) -> None:
    """The same seed and the same batches give the same answers, bit for bit."""
    (X, _), *_ = toy_batches(1, seed=7)
    same(trained(learner, seed=5).logits(X), trained(learner, seed=5).logits(X), "a seed does not repeat a run")


def check_logits_are_finite_and_as_wide_as_the_classes_seen(learner: Learner) -> None:
    """(n, k) with k at most the classes, before training too, and for one row."""
    made = learner.fresh(1)
    for X, y in toy_batches(3):
        complete(np.asarray(made.logits(X)), len(X), 3, Span(1))
        complete(np.asarray(made.logits(X[:1])), 1, 3, Span(1))
        made.learn(X, y)
    assert made.logits(X).shape == (len(X), 3), f"three classes seen, logits of shape {made.logits(X).shape}"


def check_one_class_and_one_row_are_legal(learner: Learner) -> None:
    """A first batch of one class, and a batch of one row, are learned like any other."""
    made = learner.fresh(1)
    (X, y), *_ = toy_batches(1)
    made.learn(X, np.zeros(len(X), dtype=np.int64))
    assert (complete(np.asarray(made.logits(X)), len(X), 2, Span(1)).argmax(axis=1) == 0).all()
    made.learn(X[:1], y[:1])
    complete(np.asarray(made.logits(X)), len(X), 3, Span(1))


def check_a_class_that_comes_late_is_learned(learner: Learner) -> None:
    """After a few rounds with a new class, it is predicted for some of its points."""
    made, batches = learner.fresh(1), list(toy_batches(40, seed=3))
    for X, y in batches[:5]:
        made.learn(X[y < 2], y[y < 2])
    for X, y in batches[5:19]:
        made.learn(X, y)
    X, y = batches[19]
    found = made.logits(X)[y == 2].argmax(axis=1) == 2
    assert found.any(), "a class that came late is never predicted, not even for its own points"


def check_a_learner_saved_goes_on_the_same(learner: Learner) -> None:
    """A learner that is written down and read back answers and learns on as the original does."""
    made = trained(learner)
    again = load_learner(learner, 1, dump_learner(made, allow_pickle=True), allow_pickle=True)
    for X, y in toy_batches(3, seed=9):
        same(again.logits(X), made.logits(X), "a learner read back answers otherwise")
        made.learn(X, y)
        again.learn(X, y)


# -- covers and windows -----------------------------------------------------------------------------


def check_cover_keeps_logarithmically_many(cover: Cover) -> None:
    """Starts ascend, none lies in the future, and at most 2 log2 t + 2 are alive."""
    for t in range(1, 65):
        starts = cover.starts(t)
        assert starts, f"nobody is alive at round {t}"
        assert starts == sorted(set(starts)), f"starts at round {t} do not ascend: {starts}"
        assert set(starts) <= set(range(1, t + 1)), f"a start at round {t} is not within 1..{t}: {starts}"
        assert len(starts) <= 2 * np.log2(t) + 2, f"{len(starts)} starts are alive at round {t}"


def check_no_start_comes_back(cover: Cover) -> None:
    """Who is alive was alive the round before, or starts now; the dead stay dead."""
    for t in range(1, 64):
        now, then = set(cover.active(t)), set(cover.active(t + 1))
        late = {span for span in then - now if span.start != t + 1}
        assert not late, f"{late} turn up at round {t + 1} without having been alive at round {t}"


def check_intervals_have_an_instance_and_hold_the_round(cover: Cover) -> None:
    """Every interval contains the round, and its start is alive."""
    for t in range(1, 64):
        for span in cover.intervals(t):
            assert span.start in cover.starts(t), f"{span} has no instance at round {t}"
            assert span.start <= t <= (span.end or t), f"{span} does not contain round {t}"


def check_window_estimates_what_it_saw(window: Window) -> None:
    """No points, no estimate; a constant accuracy is estimated as it is; windows fit the evidence."""
    assert window.estimate(Tally(), None, 1) is None
    for rounds in (1, 2, 7, 64):
        tally = Tally([Count(10, 7, 0, 0)] * rounds)
        estimate = window.estimate(tally, tally, rounds)
        assert estimate is not None
        assert abs(estimate.accuracy - 0.7) < 1e-12, f"7 of 10 right in every round, estimated {estimate.accuracy}"
        assert 1 <= estimate.window <= rounds, f"a window of {estimate.window} over {rounds} rounds"


# -- schemes ----------------------------------------------------------------------------------------


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
    """Given the same logits, shuffling rows within their fold changes no estimate, window or choice."""
    one, two, rng = make(centroids(), 0), make(centroids(), 0), np.random.default_rng(0)
    for t, (X, y) in enumerate(toy_batches(12)):
        order = np.arange(len(y))
        for fold in one.method.evidence.divide(len(y), one.method.rng()):
            order[fold] = rng.permutation(fold)
        if t == 0:
            order = np.arange(len(y))  # classes are numbered as they appear
        assert_same_report(one.learn(X, y), two.learn(X[order], y[order]))


def check_start_1_equals_the_plain_learner(make: MakeScheme) -> None:
    """Whenever it falls back to start 1, it predicts as `Plain` on the same rows does, bit for bit."""
    model = make(centroids(), 5)
    if any(span.kind for span in model.method.pool.spans):
        return  # the paper's unmerged spans are trained apart, with seeds of their own
    evidence = model.method.evidence
    fraction = 1 - evidence.fraction if isinstance(evidence, HoldOut) else 1.0
    fraction = evidence.train_fraction if isinstance(evidence, Unjudged) else fraction
    plain = Plain(centroids(), train_fraction=fraction, seed=5)
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


# -- how laws say that they are broken --------------------------------------------------------------


def same(got: Any, expected: Any, broken: str) -> None:
    assert np.array_equal(got, expected), broken


def assert_same_report(got: RoundReport, expected: RoundReport) -> None:
    one, two = ({k: v for k, v in report.line().items() if k != "seconds"} for report in (got, expected))
    different = [k for k in one if one[k] != two[k]]
    assert not different, f"round {got.round}: " + "; ".join(f"{k}: {one[k]} != {two[k]}" for k in different)


def raises(work: Callable[[], Any]) -> None:
    try:
        work()
    except LearnerError:
        return
    raise AssertionError("a learner raised and the scheme went on")


LEARNER = [
    check_fresh_shares_nothing,
    check_seed_repeats_a_learner,
    check_logits_are_finite_and_as_wide_as_the_classes_seen,
    check_one_class_and_one_row_are_legal,
    check_a_class_that_comes_late_is_learned,
    check_a_learner_saved_goes_on_the_same,
]
COVER = [
    check_cover_keeps_logarithmically_many,
    check_no_start_comes_back,
    check_intervals_have_an_instance_and_hold_the_round,
]
WINDOW = [check_window_estimates_what_it_saw]
SCHEME = [
    check_seed_repeats_a_run,
    check_predictions_are_distributions,
    check_a_scheme_saved_goes_on_the_same,
    check_a_failed_round_changes_nothing,
    check_the_order_of_rows_does_not_matter,
    check_start_1_equals_the_plain_learner,
    check_rows_without_label_are_left_out,
]
