"""What any learner must satisfy."""

from tempfile import TemporaryDirectory

import numpy as np

from spanwise import snapshot
from spanwise.checks.toys import same, toy_batches
from spanwise.core.loop import copy_learner, dump_learner, load_learner
from spanwise.core.pool import complete
from spanwise.core.spans import Span
from spanwise.learner import Learner


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


def check_a_copy_shares_nothing(learner: Learner) -> None:
    """Training a copy leaves the original as it was, and it answers as the original would have."""
    made, twin = trained(learner), trained(learner)
    for X, y in toy_batches(3, seed=8):
        before = made.logits(X)
        copied = copy_learner(made)
        same(copied.logits(X), before, "a copy answers otherwise than the original")
        copied.learn(X, y)
        same(made.logits(X), before, "training a copy changed the original")
        twin.learn(X, y)
        same(copied.logits(X), twin.logits(X), "a copy learns otherwise than the original would have")
        made = copied


def check_seed_repeats_a_learner(learner: Learner) -> None:
    """The same seed and the same batches give the same answers, bit for bit; any seed, of one that is `seedless`."""
    (X, _), *_ = toy_batches(1, seed=7)
    same(trained(learner, seed=5).logits(X), trained(learner, seed=5).logits(X), "a seed does not repeat a run")
    if getattr(learner, "seedless", False):
        same(trained(learner, seed=5).logits(X), trained(learner, seed=6).logits(X), "it is not `seedless`")


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
    """A learner that is written to a folder and read back answers and learns on as the original does."""
    made = trained(learner)
    with TemporaryDirectory() as folder:
        snapshot.write(folder, dump_learner(made, allow_pickle=True))
        again = load_learner(learner, 1, snapshot.read(folder), allow_pickle=True)
    for X, y in toy_batches(3, seed=9):
        same(again.logits(X), made.logits(X), "a learner read back answers otherwise")
        made.learn(X, y)
        again.learn(X, y)
