"""Schemes as shipped around a learner that learns, on a stream whose truth is known without sampling.

Two Gaussian classes and a learner of class means: whatever is played is a linear classifier, as in the paper's
proofs, and the accuracy of a linear classifier on Gaussian classes has a closed form. So a regret here is that of the
population, and no test points hide a rate. SAOL draws an instance by its weight; its accuracy is the mean over draws.
"""

from collections.abc import Callable, Sequence
from math import erf, sqrt
from typing import Any

import numpy as np

from spanwise.adapters.functions import FunctionLearner
from spanwise.core.awe import Algorithm
from spanwise.core.choice import Model, Single
from spanwise.core.evidence import HoldOut, Unjudged
from spanwise.core.scheme import Scheme
from spanwise.core.spans import Span
from spanwise.learner import Array
from spanwise.schemes.choices import First
from spanwise.schemes.covers import Copies, Geometric
from spanwise.schemes.losses import mixture
from spanwise.schemes.saol import SAOLWeights
from spanwise.schemes.windows import Hoeffding
from spanwise.streams.concepts import Gaussians
from spanwise.streams.synthetic import Abrupt

TRAINING = 20
"""Rows a round that instances train on; as many more are held out as is asked for."""

FEATURES = 10


def centroids() -> FunctionLearner:
    """The mean of each of two classes; the nearest one wins, which is a linear classifier.

    >>> learner = centroids()
    >>> learner.learn(np.array([[0.0], [2.0]]), np.array([0, 1]))
    >>> learner.logits(np.array([[0.9], [1.1]])).argmax(axis=1).tolist()
    [0, 1]
    """

    def add(state: Array | None, X: Array, y: Array) -> Array:
        sums = np.zeros((2, X.shape[1] + 1)) if state is None else state
        total: Array = sums + np.stack([np.append(X[y == k].sum(axis=0), (y == k).sum()) for k in range(2)])
        return total

    def logits(state: Array | None, X: Array) -> Array:
        if state is None or not state[:, -1].all():
            return np.zeros((len(X), 2))
        means = state[:, :-1] / state[:, -1:]
        return np.asarray(X @ means.T - (means**2).sum(axis=1) / 2)

    return FunctionLearner(lambda seed: None, add, logits)


def first_rows(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Train on the first `TRAINING` rows and hold the others out."""
    return np.arange(TRAINING), np.arange(TRAINING, n)


def awe(learner: Any, seed: int) -> Algorithm:
    return Algorithm(learner, evidence=HoldOut(split=first_rows), seed=seed)


def awe_hoeffding(learner: Any, seed: int) -> Algorithm:
    return Algorithm(learner, evidence=HoldOut(split=first_rows), window=Hoeffding(), seed=seed)


def saol(learner: Any, seed: int) -> Algorithm:
    evidence = Unjudged(split=first_rows)  # it weighs by the error on the whole batch, and trains on the same rows
    return Algorithm(learner, cover=Geometric(), evidence=evidence, choice=SAOLWeights(random=True), seed=seed)


def plain(learner: Any, seed: int) -> Algorithm:
    return Algorithm(learner, cover=Copies(), evidence=Unjudged(split=first_rows), choice=First(), seed=seed)


SCHEMES: dict[str, Callable[[Any, int], Algorithm]] = {
    "awe": awe,
    "awe-hoeffding": awe_hoeffding,
    "saol": saol,
    "plain": plain,
}


def regrets(scheme: str, held: int, rounds: int, shifts: Sequence[int], seed: int) -> Array:
    """(2, rounds): accuracy of the best instance alive, and of the best classifier there is, minus that of the scheme.

    Args:
        scheme: a row of `SCHEMES`.
        held: rows a round beyond those trained on.
        rounds: of the stream.
        shifts: the rounds at which the distribution jumps.
        seed: of stream and scheme.
    """
    stream = Abrupt(
        rounds=rounds, size=TRAINING + held, features=FEATURES, classes=range(2), at=tuple(shifts), seed=seed
    )
    algorithm = SCHEMES[scheme](centroids(), seed)
    model = Scheme(algorithm, classes=range(2), transactional=False)
    found = []
    for t, (X, y) in enumerate(stream, start=1):
        concept = stream.concept(t)
        assert isinstance(concept, Gaussians)
        known = {span: accuracy(Single(span), algorithm, concept) for span in algorithm.pool.spans}
        ours = expected(algorithm, concept, known)
        found.append((max(known.values()) - ours, best_accuracy(concept) - ours))
        model.learn(X, y)
    return np.array(found).T


def expected(algorithm: Algorithm, concept: Gaussians, known: dict[Span, float]) -> float:
    """How accurate the scheme is at the round to come, the mean over its own draws where it makes any."""
    choice = algorithm.choice
    if isinstance(choice, SAOLWeights) and choice.weights:
        shares = mixture(choice.weights, algorithm.pool, "saol").weights
        return sum(share * known[span] for span, share in shares.items())
    return accuracy(algorithm.current, algorithm, concept)


def accuracy(model: Model, algorithm: Algorithm, concept: Gaussians) -> float:
    r"""The accuracy of a linear classifier on two equally frequent Gaussian classes, without sampling.

    It says class 1 where $w \cdot x + b > 0$, so it is right with probability
    $\tfrac12 \Phi((w \cdot m_1 + b)/|w|) + \tfrac12 \Phi(-(w \cdot m_0 + b)/|w|)$. Asked at 0 and at the unit
    vectors, it tells b and w. What has learned nothing says one class of all points, and is right on half of them.
    """
    if not any(algorithm.pool.trained[span] for span in model.weights):
        return 0.5
    probes = np.vstack([np.zeros(FEATURES), np.eye(FEATURES)])
    logits = model.scores(algorithm.scores(probes))
    margin = logits[:, 1] - logits[:, 0]
    weights, offset = margin[1:] - margin[0], margin[0]
    length = float(np.linalg.norm(weights))
    if length == 0:
        return 0.5
    below, above = (concept.means @ weights + offset) / length
    return (normal(above) + normal(-below)) / 2


def best_accuracy(concept: Gaussians) -> float:
    """What no classifier can beat: half the way between the means."""
    return normal(float(np.linalg.norm(concept.means[1] - concept.means[0])) / 2)


def normal(z: float) -> float:
    """The share of a standard normal below `z`."""
    return (1 + erf(z / sqrt(2))) / 2
