"""A batch, a stream and a learner small enough to think about, and how laws say that they are broken."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from spanwise.adapters.functions import FunctionLearner
from spanwise.core.report import RoundReport
from spanwise.errors import LearnerError
from spanwise.learner import Array


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

    Its seed makes it lean towards later classes by a little, so that a law about seeds can be broken.

    It raises on a batch that holds `POISON`, after having learned it, for the law about failed rounds.
    """

    def learn(state: dict[str, Array], X: Array, y: Array) -> dict[str, Array]:
        sums = state["sums"]
        more = max(0, int(y.max()) + 1 - len(sums))
        sums = np.vstack([sums, np.zeros((more, X.shape[1] + 1))]) if more else sums
        np.add.at(sums, y, np.column_stack([X, np.ones(len(X))]))
        if (X == POISON).any():
            raise RuntimeError("poisoned")
        return {**state, "sums": sums}

    def logits(state: dict[str, Array], X: Array) -> Array:
        means = state["sums"][:, :-1] / np.maximum(state["sums"][:, -1:], 1)
        return np.asarray(2 * X @ means.T - (means**2).sum(axis=1) + state["lean"] * np.arange(len(means)))

    return FunctionLearner(lambda seed: {"sums": np.zeros((0, 5)), "lean": np.array(seed % 7)}, learn, logits)


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
