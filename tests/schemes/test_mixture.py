"""Starts in proportions: who explained the labels, and that nobody is ever out of the running."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.checks import centroids, toy_batches
from spanwise.core.choice import Weighted
from spanwise.core.pool import Scores
from spanwise.core.probabilities import UNLIKELY
from spanwise.core.spans import MRI
from spanwise.schemes.mixture import SHARED, Mixed, Proportions
from spanwise.schemes.spanwise import Spanwise, trained_by_start


def one_step(shares, likely, counts):
    """As the docstring has it, row by row."""
    found = dict.fromkeys(shares, 0.0)
    for n in range(len(likely[1])):
        said = {start: max(p[n], UNLIKELY) for start, p in likely.items()}
        whole = sum(shares[start] * said[start] for start in shares)
        for start, share in shares.items():
            found[start] += share * said[start] / whole / len(likely[1])
    return {start: counts * found[start] + (1 - counts) * share for start, share in shares.items()}


def divided(shares, starts, counts):
    kept = {start: 0.9**counts * shares.get(start, 0.0) for start in starts}
    rest = 1 - sum(kept.values())
    if len(starts) == 1:
        return {1: 1.0}
    return {start: kept[start] + rest * (0.5 if start == 1 else 0.5 / (len(starts) - 1)) for start in starts}


def rounds_of(rng, rounds, counts=(1.0,)):
    """Who is alive in each, how likely each of them found its labels, and what the round counts."""
    for t in range(2, 2 + rounds):
        starts = [start for start in MRI(2).starts(t) if start < t]
        likely = {start: rng.beta(0.4, 0.4, size=6) for start in starts}  # often next to 0 or to 1
        yield starts, likely, float(rng.choice(counts))


@pytest.mark.parametrize("counts", [(1.0,), (1.0, 0.5, 0.01)])
def test_proportions_are_those_of_a_slow_transcription(counts):
    proportions, slow = Proportions(), {}
    before = 1.0
    for starts, likely, now in rounds_of(np.random.default_rng(3), 60, counts):
        proportions, slow = proportions.among(starts, before), divided(slow, starts, before)
        assert dict(zip(proportions.starts, proportions.shares, strict=True)) == pytest.approx(slow)
        proportions, slow = proportions.after(np.array(list(likely.values())), now), one_step(slow, likely, now)
        assert dict(zip(proportions.starts, proportions.shares, strict=True)) == pytest.approx(slow)
        before = now


def test_they_begin_with_half_on_start_one():
    assert Proportions().among((1,), 1.0).shares == (1.0,)
    assert Proportions().among((1, 5, 7), 1.0).shares == (0.5, 0.25, 0.25)


def test_the_largest_is_the_earliest_among_equals():
    assert Proportions((1, 5, 7), (0.2, 0.4, 0.4)).largest == (5, 0.4)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_they_sum_to_one_and_leave_nobody_out(seed, rounds):
    proportions, before = Proportions(), 1.0
    for starts, likely, counts in rounds_of(np.random.default_rng(seed), rounds, (1.0, 0.3)):
        proportions = proportions.among(starts, before)
        assert sum(proportions.shares) == pytest.approx(1.0)
        fair = [0.5 if start == 1 else 0.5 / (len(starts) - 1) for start in starts]
        least = 1.0 - (1.0 - SHARED) ** before
        assert all(share >= least * part - 1e-12 for share, part in zip(proportions.shares, fair, strict=True))
        proportions, before = proportions.after(np.array(list(likely.values())), counts), counts


@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_on_no_interval_is_it_further_behind_any_start_than_the_page_says(seed, rounds):
    """In logarithmic loss, of which a row's is that of its floored probability; rounds that count less, count less."""
    proportions, before, told = Proportions(), 1.0, []
    for starts, likely, counts in rounds_of(np.random.default_rng(seed), rounds, (1.0, 0.3)):
        proportions = proportions.among(starts, before)
        shares = dict(zip(starts, proportions.shares, strict=True))
        losses = {start: -np.log(np.maximum(p, UNLIKELY)) for start, p in likely.items()}
        mixed = -np.log(sum(shares[start] * np.exp(-loss) for start, loss in losses.items())).mean()
        behind = {start: counts * (mixed - loss.mean()) for start, loss in losses.items()}
        fair = {start: 0.5 if start == 1 else 0.5 / (len(starts) - 1) for start in starts}
        told.append((behind, {start: -log((1 - 0.9**before) * part) for start, part in fair.items()}, counts))
        proportions, before = proportions.after(np.array(list(likely.values())), counts), counts
    for a, (first, entry, _) in enumerate(told):
        for start in first:
            lost = allowed = 0.0
            for behind, _, counts in told[a:]:
                if start not in behind:
                    break
                lost, allowed = lost + behind[start], allowed + counts * log(1 / (1 - SHARED))
                assert lost <= entry[start] + allowed + 1e-9


def test_all_starts_in_proportions_are_the_weighted_sum_of_their_instances():
    model = Spanwise(centroids(), copies=2, seed=1)
    batches = list(toy_batches(6, seed=3))
    for X, y in batches[:5]:
        model.learn(X, y)
    said = Scores(model.method.pool, batches[5][0])
    groups = trained_by_start(model.method.pool)
    mixed = Mixed(tuple(groups.values()), Proportions(tuple(groups), (0.5, 0.3, 0.2)))
    assert sum(mixed.weights.values()) == pytest.approx(1.0)
    assert mixed.proba(said) == pytest.approx(Weighted(mixed.weights, "softmax").proba(said))
