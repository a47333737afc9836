"""Tests on ranks: scipy's where it has them, and the figures that Demšar (2006) prints."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from spanwise.errors import SettingError
from spanwise.evaluate.ranks import cliques, critical_difference, ranking, wilcoxon

C45 = [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.000, 0.940, 0.619, 0.972, 0.957]
C45_M = [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.000, 0.962, 0.666, 0.981, 0.978]
C45_CF = [0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1.000, 0.965, 0.614, 0.9751, 0.946]
C45_M_CF = [0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1.000, 0.962, 0.669, 0.975, 0.970]
DEMSAR = {"C4.5": C45, "C4.5+m": C45_M, "C4.5+cf": C45_CF, "C4.5+m+cf": C45_M_CF}


@pytest.mark.parametrize(
    ("schemes", "alpha", "q"),
    [(2, 0.05, 1.960), (3, 0.05, 2.343), (5, 0.05, 2.728), (10, 0.05, 3.164), (5, 0.1, 2.459), (10, 0.1, 2.920)],
)
def test_the_critical_difference_is_the_printed_one(schemes, alpha, q):
    """Table 5(a) of Demšar (2006)."""
    for streams in (4, 30):
        expected = q * np.sqrt(schemes * (schemes + 1) / (6 * streams))
        assert critical_difference(schemes, streams, alpha) == pytest.approx(expected, rel=5e-4)


def test_five_schemes_on_thirty_streams():
    assert critical_difference(5, 30) == pytest.approx(2.728 * np.sqrt(5 * 6 / (6 * 30)), abs=1e-3)


def test_the_worked_example_of_the_literature_comes_out_again():
    """Table 6 of Demšar (2006): four variants of C4.5 on fourteen data sets.

    It prints 0.975 twice on the data set before the last and yet ranks C4.5+cf higher, hence 0.9751.
    """
    found = ranking(DEMSAR)
    ranks = dict(zip(found.schemes, found.ranks, strict=True))
    assert found.streams == 14
    assert found.schemes[0] == "C4.5+m+cf"
    assert ranks["C4.5"] == pytest.approx(3.143, abs=2e-3)
    assert ranks["C4.5+m"] == pytest.approx(2.000, abs=2e-3)
    assert ranks["C4.5+cf"] == pytest.approx(2.893, abs=2e-3)
    assert ranks["C4.5+m+cf"] == pytest.approx(1.964, abs=2e-3)
    assert found.critical_difference == pytest.approx(1.25, abs=0.01)
    looser = ranking(DEMSAR, alpha=0.1)
    assert looser.critical_difference == pytest.approx(1.12, abs=0.01)
    assert looser.cliques == (("C4.5+m+cf", "C4.5+m", "C4.5+cf"), ("C4.5+cf", "C4.5"))


def tables(least_schemes):
    scores = st.integers(0, 5)
    return st.tuples(st.integers(least_schemes, 6), st.integers(2, 8)).flatmap(
        lambda shape: st.lists(
            st.lists(scores, min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
        )
    )


@given(tables(3))
@settings(max_examples=60, deadline=None)
def test_the_friedman_test_is_scipys_and_ranks_add_up(table):
    found = ranking({str(i): column for i, column in enumerate(table)})
    k = len(table)
    assert sum(found.ranks) == pytest.approx(k * (k + 1) / 2)
    assert list(found.ranks) == sorted(found.ranks)
    if any(len(set(scores)) > 1 for scores in zip(*table, strict=True)):
        theirs = stats.friedmanchisquare(*table)
        assert (found.statistic, found.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))
    else:
        assert (found.statistic, found.p_value) == (0.0, 1.0)


@given(tables(3))
@settings(max_examples=60, deadline=None)
def test_two_schemes_share_a_clique_exactly_when_they_do_not_differ(table):
    found = ranking({str(i): column for i, column in enumerate(table)})
    rank = dict(zip(found.schemes, found.ranks, strict=True))
    for a, b in combinations(found.schemes, 2):
        together = any({a, b} <= set(clique) for clique in found.cliques)
        assert together == (abs(rank[a] - rank[b]) < found.critical_difference)
    assert all(not set(a) <= set(b) for a in found.cliques for b in found.cliques if a != b)


def test_cliques_may_overlap_and_loners_are_in_none():
    names = ["a", "b", "c", "d", "e"]
    assert cliques(names, [1.0, 1.9, 2.4, 4.0, 4.1], critical=1.0) == (("a", "b"), ("b", "c"), ("d", "e"))
    assert cliques(names, [1.0, 2.0, 3.0, 4.0, 5.0], critical=1.0) == ()
    assert cliques(names, [3.0] * 5, critical=1.0) == (tuple(names),)


def test_a_scheme_that_is_best_everywhere_ranks_first_and_stands_alone():
    rng = np.random.default_rng(0)
    others = {name: rng.uniform(50, 60, size=12).tolist() for name in ("plain", "saol", "vote")}
    found = ranking({**others, "awe": [70.0] * 12})
    assert (found.schemes[0], found.ranks[0]) == ("awe", 1.0)
    assert found.p_value < 0.01
    assert all("awe" not in clique for clique in found.cliques)


@given(tables(2))
@settings(max_examples=60, deadline=None)
def test_the_signed_rank_test_is_scipys(table):
    ours, theirs = table[:2]
    differing = [a - b for a, b in zip(ours, theirs, strict=True) if a != b]
    found = wilcoxon(ours, theirs)
    assert found.streams == len(differing)
    if differing:
        expected = stats.wilcoxon(ours, theirs)
        assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    else:
        assert found.p_value == 1.0
    assert wilcoxon(theirs, ours).p_value == pytest.approx(found.p_value)


@pytest.mark.parametrize("streams", [3, 5, 6])
def test_few_streams_cannot_show_much_however_clear_they_are(streams):
    ours = np.arange(1, streams + 1, dtype=float)
    assert wilcoxon(ours.tolist(), [0.0] * streams).p_value == pytest.approx(2 / 2**streams)


def test_what_cannot_be_ranked_is_refused():
    with pytest.raises(SettingError, match="three schemes or more, and 2 came"):
        ranking({"a": [1.0], "b": [2.0]})
    with pytest.raises(SettingError, match="these have a 2, b 1, c 2"):
        ranking({"a": [1.0, 2.0], "b": [2.0], "c": [1.0, 2.0]})
    with pytest.raises(SettingError, match="alpha=5 is no probability"):
        ranking({name: [1.0] for name in "abc"}, alpha=5)
    with pytest.raises(SettingError, match="scores of theirs hold a value that is no number"):
        wilcoxon([1.0, 2.0], [1.0, float("nan")])
    with pytest.raises(SettingError, match="these have ours 0, theirs 0"):
        wilcoxon([], [])
