"""Hold-out folds and prequential counts: what is kept, what is forgotten, what is judged."""

import numpy as np
import pytest

from spanwise import AWE, HoldOut, Prequential, checks
from spanwise.adapters.functions import majority_class
from spanwise.core.pool import seed_of
from spanwise.core.spans import Span
from spanwise.errors import SettingError

BATCHES = list(checks.toy_batches(20, n=40))


def run(evidence, rounds=20):
    model = AWE(checks.centroids(), evidence=evidence)
    reports = [model.learn(*batch) for batch in BATCHES[:rounds]]
    return model, reports


def test_every_hold_out_fold_is_kept_unless_capped():
    model, _ = run(HoldOut(0.1))
    assert [len(y) for _, y in model.method.evidence.folds] == [4] * 20


def test_a_cap_on_rounds_keeps_the_newest():
    model, reports = run(HoldOut(0.1, rounds=5))
    uncapped, _ = run(HoldOut(0.1))
    kept, all_of_them = model.method.evidence.folds, uncapped.method.evidence.folds
    assert len(kept) == 5
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(kept, all_of_them[-5:], strict=True))
    assert max(reports[-1].windows.values()) <= 4


@pytest.mark.parametrize("points", [3, 4, 10, 11])
def test_a_cap_on_points_is_never_exceeded(points):
    model, _ = run(HoldOut(0.1, points=points))
    sizes = [len(y) for _, y in model.method.evidence.folds]
    assert points - 4 < sum(sizes) <= points


def test_a_cap_on_points_keeps_a_sample_of_a_large_round():
    """Rows ordered by class: the first ones would all be of one class."""
    evidence = HoldOut(0.5, points=40)
    train, held = evidence.divide(400, lambda: np.random.default_rng(0))
    uncapped = HoldOut(0.5).divide(400, lambda: np.random.default_rng(0))
    assert len(held) == 40
    assert set(held) <= set(uncapped[1])
    assert np.array_equal(train, uncapped[0])
    assert (held >= 200).sum() > 10


def test_rounds_that_hold_nothing_out_do_not_pile_up():
    model = AWE(checks.centroids(), evidence=HoldOut(0.1, points=5))
    for _ in range(30):
        model.learn(BATCHES[0].X[:1], BATCHES[0].y[:1])
    assert len(model.method.evidence.folds) <= 5


def test_held_out_rows_are_not_the_callers():
    rows, learner = [{"a": float(i)} for i in range(10)], majority_class()
    model = AWE(learner, evidence=HoldOut(0.5))
    model.learn(rows, [0, 1] * 5)
    for row in rows:
        row["a"] = -99.0
    held, _ = model.method.evidence.folds[0]
    assert all(row["a"] >= 0 for row in held)


def test_a_cap_of_a_power_of_two_rounds_is_lossless_under_the_printed_constants():
    """PAPER.md F23: the window never exceeds 2^floor(log2 t), and the test never stops it earlier."""
    _, capped = run(HoldOut(0.1, rounds=16))
    _, uncapped = run(HoldOut(0.1))
    for one, two in zip(capped, uncapped, strict=True):
        checks.assert_same_report(one, two)


def test_the_passed_evidence_is_a_recipe_and_is_not_filled():
    evidence = HoldOut(0.1)
    run(evidence)
    assert evidence.folds == []


def test_prequential_judges_an_instance_from_the_round_after_its_start_on():
    _, reports = run(Prequential())
    for report in reports:
        for start, window in report.windows.items():
            assert start + window <= report.round
        judged = {start for start in report.starts if start <= report.round - 1}
        assert set(report.estimates) == judged


def test_prequential_counts_are_those_of_predictions_made_before_training():
    """Start 1's estimate over all rounds, by hand."""
    model = AWE(checks.centroids(), evidence=Prequential(), classes=[0, 1, 2])
    plain = checks.centroids().fresh(seed_of(0, Span(1)))
    right = []
    for t, (X, y) in enumerate(BATCHES, start=1):
        if t > 1:
            right.append((plain.logits(X).argmax(axis=1) == y).mean())
        plain.learn(X, y)
        report = model.learn(X, y)
        if t in (3, 5, 9, 17):  # 2, 4, 8, 16 rounds of evidence: the window is all of it
            assert report.windows[1] == t - 1
            assert report.estimates[1] == pytest.approx(np.mean(right))


def test_capped_prequential_forgets_and_agrees_within_its_memory():
    _, capped = run(Prequential(rounds=4))
    _, uncapped = run(Prequential())
    assert max(capped[-1].windows.values()) <= 8
    for one, two in zip(capped[:4], uncapped[:4], strict=True):
        checks.assert_same_report(one, two)


@pytest.mark.parametrize("make", [lambda: HoldOut(1.0), lambda: HoldOut(rounds=0), lambda: HoldOut(points=0)])
def test_caps_and_fractions_out_of_range_are_refused(make):
    with pytest.raises(SettingError):
        make()


def test_rows_from_a_mapped_file_are_held_out_and_saved(tmp_path):
    mapped = np.memmap(tmp_path / "X", dtype=float, mode="w+", shape=BATCHES[0].X.shape)
    mapped[:] = BATCHES[0].X
    model = AWE(checks.centroids())
    model.learn(mapped, BATCHES[0].y)
    model.save(tmp_path / "model")
    again = AWE.load(tmp_path / "model", checks.centroids())
    checks.assert_same_report(again.learn(*BATCHES[1]), model.learn(*BATCHES[1]))
