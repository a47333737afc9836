r"""Does a scheme win on many streams? Tests on ranks, after Demšar (2006).

Accuracies of different streams do not compare, but who came first on each does. Two schemes: Wilcoxon's
signed ranks. More: Friedman's test asks whether any differs; if so, two differ whose mean ranks are the
critical difference of Nemenyi or more apart.

References: J. Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, sqrt
from statistics import fmean
from typing import Any, TypeVar

import numpy as np

from spanwise.errors import MissingExtraError, SettingError
from spanwise.learner import Array

try:
    from scipy import stats
except ImportError as error:
    raise MissingExtraError("scipy", "sklearn") from error

Key = TypeVar("Key", bound=tuple[Any, ...])


@dataclass(frozen=True)
class SignedRanks:
    """Wilcoxon's test of two schemes.

    Attributes:
        streams: on which they differ; equal ones say nothing and are left out.
        statistic: the smaller of the two sums of ranks.
        p_value: two-sided.
    """

    streams: int
    statistic: float
    p_value: float


@dataclass(frozen=True)
class Ranking:
    """Several schemes over several streams, best first; all that a critical-difference diagram shows.

    Attributes:
        schemes: their names, by mean rank.
        ranks: mean rank of each; 1 is best, and ties share theirs.
        streams: how many there were.
        statistic: Friedman's chi-square.
        p_value: of the claim that all schemes are the same.
        alpha: the level of the critical difference.
        critical_difference: mean ranks this far apart differ.
        cliques: the largest groups of neighbours, of two or more, whose ranks all lie closer than that.
    """

    schemes: tuple[str, ...]
    ranks: tuple[float, ...]
    streams: int
    statistic: float
    p_value: float
    alpha: float
    critical_difference: float
    cliques: tuple[tuple[str, ...], ...]


def by_stream(values: Mapping[Key, float]) -> list[float]:
    """One score a stream, the mean of what it has several of: what shares a stream is no independent witness.

    >>> by_stream({("rain", "linear"): 1.0, ("rain", "mlp"): 3.0, ("sun", "mlp"): 5.0})
    [2.0, 5.0]

    Args:
        values: by a key that begins with the stream, such as stream and learner.
    """
    found: dict[Any, list[float]] = {}
    for key, value in values.items():
        found.setdefault(key[0], []).append(value)
    return [round(fmean(some), 9) for some in found.values()]


def wilcoxon(ours: Sequence[float], theirs: Sequence[float]) -> SignedRanks:
    """Whether two schemes differ over streams, by the signs and ranks of their differences.

    With five streams or fewer no p-value below 0.05 is possible: the smallest is 2 / 2^streams.

    >>> wilcoxon([81, 83, 90, 77, 85, 64], [80, 81, 87, 73, 80, 58]).p_value
    0.03125

    Args:
        ours, theirs: a score a stream, such as accuracy, in the same order.
    """
    table = _table({"ours": ours, "theirs": theirs})
    differences = table[:, 0] - table[:, 1]
    differing = int(np.count_nonzero(differences))
    if not differing:
        return SignedRanks(streams=0, statistic=0.0, p_value=1.0)
    found = stats.wilcoxon(differences)
    return SignedRanks(differing, float(found.statistic), float(found.pvalue))


def ranking(scores: Mapping[str, Sequence[float]], *, alpha: float = 0.05) -> Ranking:
    """Three schemes or more over streams: mean ranks, Friedman's test, and who differs from whom.

    >>> found = ranking({"plain": [70, 60, 80, 75], "awe": [74, 66, 81, 79], "saol": [71, 58, 79, 74]})
    >>> found.schemes, found.ranks
    (('awe', 'plain', 'saol'), (1.0, 2.25, 2.75))
    >>> found.cliques
    (('awe', 'plain'), ('plain', 'saol'))

    Args:
        scores: by scheme, a score a stream, in the same order; more is better.
        alpha: how often a difference may be found where there is none, in (0, 1).
    """
    if len(scores) < 3:
        raise SettingError(f"a ranking needs three schemes or more, and {len(scores)} came: compare two by `wilcoxon`")
    if not 0 < alpha < 1:
        raise SettingError(f"alpha={alpha} is no probability: choose it between 0 and 1, such as 0.05")
    table = _table(scores)
    places = stats.rankdata(-table, axis=1)
    mean = places.mean(axis=0)
    order = np.argsort(mean, kind="stable")
    names, ranks = tuple(list(scores)[i] for i in order), tuple(mean[order].tolist())
    differ = bool((places != places[:, :1]).any())
    statistic, p_value = stats.friedmanchisquare(*table.T) if differ else (0.0, 1.0)
    critical = critical_difference(len(scores), len(table), alpha)
    return Ranking(
        schemes=names,
        ranks=ranks,
        streams=len(table),
        statistic=float(statistic),
        p_value=float(p_value),
        alpha=alpha,
        critical_difference=critical,
        cliques=cliques(names, ranks, critical),
    )


def critical_difference(schemes: int, streams: int, alpha: float = 0.05) -> float:
    r"""How far apart two mean ranks must be to differ (Nemenyi).

    $$CD = q_\alpha \sqrt{k (k + 1) / (6 N)}$$

    with $q_\alpha$ the studentized range of k means over $\sqrt 2$.

    >>> critical_difference(5, 30)
    1.113...

    Args:
        schemes: k, at least 2.
        streams: N, at least 1.
        alpha: in (0, 1).
    """
    q = stats.studentized_range.ppf(1 - alpha, schemes, inf) / sqrt(2)
    return float(q * sqrt(schemes * (schemes + 1) / (6 * streams)))


def cliques(schemes: Sequence[str], ranks: Sequence[float], critical: float) -> tuple[tuple[str, ...], ...]:
    """The largest groups of schemes whose ranks all lie closer than `critical`; those alone are left out.

    >>> cliques(["a", "b", "c", "d"], [1.0, 1.5, 2.2, 4.0], critical=1.0)
    (('a', 'b'), ('b', 'c'))

    Args:
        schemes, ranks: best first.
        critical: the critical difference.
    """
    found: list[tuple[str, ...]] = []
    reached = 0
    for first, rank in enumerate(ranks):
        last = first + sum(other - rank < critical for other in ranks[first:])
        if last > max(reached, first + 1):
            found.append(tuple(schemes[first:last]))
        reached = max(reached, last)
    return tuple(found)


def _table(scores: Mapping[str, Sequence[float]]) -> Array:
    """(streams, schemes)."""
    lengths = {name: len(values) for name, values in scores.items()}
    if len(set(lengths.values())) > 1 or not all(lengths.values()):
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise SettingError(f"ranks need a score of every scheme on every stream, and these have {told}")
    for name, values in scores.items():
        if not all(isfinite(value) for value in values):
            raise SettingError(f"the scores of {name} hold a value that is no number: leave out that stream for all")
    return np.array(list(scores.values()), dtype=float).T
