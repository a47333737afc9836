"""Tables, words and pictures of an evaluation that the test makes up by hand."""

import numpy as np
import pytest

from spanwise.evaluate.record import Row
from spanwise.evaluate.seeds import across
from spanwise.evaluate.summary import Evaluation
from spanwise.report.story import mean_span, stretches
from spanwise.report.table import HEADER, HEADER_ACROSS, cells, cells_across, markdown


def rows():
    """Ten rounds, a shift at 6; start 1 predicts until round 8, then start 6; plain is right half of the time."""
    for t in range(1, 11):
        score = None if t == 1 else 0.5
        yield Row(t, "plain", n=10, accuracy=score, shift=t == 6, chosen=1, span=t, seconds=1.0)
        chosen = 1 if t < 8 else 6
        better = None if t == 1 else 0.75
        yield Row(t, "awe", n=10, accuracy=better, shift=t == 6, chosen=chosen, span=t + 1 - chosen, seconds=2.0)


EVALUATION = Evaluation(rows())


def test_the_table_shows_accuracy_gain_and_wins():
    plain, awe = cells(EVALUATION.summary())
    assert plain == ("plain", "50.00", "+0.00", "+0.00", "0/9/0", "10.0")
    assert awe == ("awe", "75.00", "+25.00", "+25.00", "9/0/0", "20.0")


def test_the_markdown_table_has_a_line_a_scheme():
    lines = markdown(HEADER, cells(EVALUATION.summary())).splitlines()
    assert len(lines) == 4
    assert len({line.count("|") for line in lines}) == 1


def test_with_one_seed_the_table_over_seeds_says_the_same():
    one, over = cells(EVALUATION.summary()), cells_across(across([EVALUATION]))
    kept = [HEADER_ACROSS.index(name) for name in HEADER]
    assert [tuple(row[i] for i in kept) for row in over] == one


def test_the_story_tells_each_stretch_and_when_the_past_was_left():
    first, second = stretches(EVALUATION, "awe")
    assert first.startswith("rounds 1 to 5: start 1 5x")
    assert "past left behind" not in first
    assert second.startswith("rounds 6 to 10: start 6 3x, start 1 2x")
    assert second.endswith("past left behind 3 rounds after the shift")


def test_a_scheme_that_never_chose_has_no_story():
    assert stretches(Evaluation([Row(1, "vote")]), "vote") == []


def test_the_span_of_an_ensemble_is_the_weighted_mean():
    assert mean_span(Row(9, "awe", chosen="ensemble", weights={1: 1.0, 9: 3.0})) == pytest.approx((9 + 3 * 1) / 4)
    assert mean_span(Row(9, "spanwise", chosen="regression", weights={1: -1.0, 9: 3.0})) == pytest.approx(3)
    assert mean_span(Row(9, "spanwise", chosen="regression", weights={1: 0.0})) is None
    assert mean_span(Row(9, "awe", chosen="ensemble")) is None
    assert mean_span(Row(9, "awe", chosen=4, span=6)) == 6.0


def test_the_picture_is_drawn_with_a_mark_for_every_shift(tmp_path):
    pytest.importorskip("matplotlib")
    from matplotlib.image import imread

    from spanwise.report.picture import draw

    draw(EVALUATION, tmp_path / "one.png", schemes=["plain", "awe"], spans_of="awe")
    draw(
        Evaluation(row for row in rows() if not row.shift),
        tmp_path / "other.png",
        schemes=["plain", "awe"],
        spans_of="awe",
    )
    one, other = imread(tmp_path / "one.png"), imread(tmp_path / "other.png")
    assert one.shape == other.shape
    assert one.std() > 0.02
    assert not np.array_equal(one, other)
