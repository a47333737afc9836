"""Figures and ranks of cells made by hand."""

import pytest
from matplotlib.image import imread

from spanwise.bench.figures import draw_all, draw_ranks, draw_stream, ranks, scores
from spanwise.bench.store import Cell, Key
from spanwise.bench.tables import Board
from spanwise.evaluate import Row
from spanwise.evaluate.ranks import ranking, wilcoxon

GAINS = {"plain": 0, "awe": 2, "saol": -4, "single-resolution-2": -10}


def cell(scheme, learner="ft", gain=None, seed=0, stream="digits"):
    """Of a scheme that is ahead of the plain learner by so many of 100 rows in each of four rounds."""
    gain = GAINS[scheme] if gain is None else gain
    beside = {} if scheme == "plain" else {"ahead": max(gain, 0), "behind": max(-gain, 0)}
    rows = [Row(t, scheme, seed=seed, n=100, accuracy=(70 + gain) / 100, **beside) for t in range(2, 6)]
    return Cell(Key(stream, learner, scheme, seed, 20), tuple(rows))


LEARNERS = ("ft", "si", "ewc", "irm", "coral", "other")
CELLS = [cell(scheme, learner, seed=seed) for scheme in GAINS for learner in LEARNERS for seed in (0, 1)]
SIX = [cell(scheme, stream=f"stream {number}") for scheme in GAINS for number in range(6)]


def test_only_schemes_that_all_places_have_are_ranked():
    board = Board([*CELLS, cell("vote", gain=1), cell("plain", stream="huffpost"), cell("awe", stream="huffpost")])
    assert scores(board) == {"awe": [2.0] * 2, "plain": [0.0] * 2}


def test_places_that_were_only_asked_for_are_left_out():
    board = Board(CELLS, [Key("fmow", "ft", "awe", 0, 501)])
    assert scores(board) == {name: [float(gain)] for name, gain in GAINS.items()}


def test_a_stream_counts_once_however_many_learners_it_has():
    board = Board([*CELLS, cell("plain", stream="huffpost"), cell("awe", gain=8, stream="huffpost")])
    more = [cell("plain", "other"), cell("awe", "other", gain=14)]
    assert scores(board)["awe"] == [2.0, 8.0]
    assert scores(Board([*more, *(one for one in CELLS if one.key.learner != "other")]))["awe"] == [4.0]


def test_a_scheme_with_fewer_seeds_is_compared_with_the_plain_learner_of_the_same_seeds():
    lucky = [cell("plain", seed=seed) for seed in (0, 1)] + [cell("awe", gain=0, seed=1)]
    assert scores(Board(lucky)) == {"awe": [0.0], "plain": [0.0]}


def test_ranks_tell_wilcoxon_against_plain_and_who_differs():
    text = ranks(Board(SIX))
    p = wilcoxon([2.0] * 6, [0.0] * 6).p_value
    assert f"| awe | 1.00 | +2.00 | 6/0/0 | {p:.3g} |\n| plain | 2.00 | +0.00 |  |  |\n" in text
    assert f"| single-resolution-2 | 4.00 | -10.00 | 0/0/6 | {p:.3g} |" in text
    critical = ranking(scores(Board(SIX))).critical_difference
    assert "Over 6 streams, each with the mean of its learners. Friedman's" in text
    assert f"ranks {critical:.2f} or more apart differ" in text


def test_one_stream_has_no_ranks_and_few_have_no_p_value_below_a_twentieth(tmp_path):
    text = ranks(Board(CELLS))
    assert "| awe |  | +2.00 | 1/0/0 | 1 |" in text
    assert "Over 1 stream, each with the mean of its learners. With five or fewer no p-value can be below 0.05." in text
    assert [path.name for path in draw_all(Board(CELLS), tmp_path)] == ["digits.png"]


def test_two_schemes_have_a_test_and_no_ranks():
    text = ranks(Board([one for one in SIX if one.key.scheme in ("plain", "awe")]))
    assert "| awe |  | +2.00 | 6/0/0 |" in text
    assert "Friedman" not in text


def test_nothing_is_ranked_without_the_plain_learner():
    assert ranks(Board([])) == ranks(Board([cell("awe")]))
    assert "none is ranked" in ranks(Board([]))


def test_a_picture_a_stream_and_one_of_the_ranks(tmp_path):
    cells = [cell(scheme, stream=stream) for stream in ("digits", "huffpost") for scheme in GAINS]
    board = Board(cells, [Key("fmow", "ft", "awe", 0, 501)])
    paths = draw_all(board, tmp_path / "figures")
    assert [path.name for path in paths] == ["digits.png", "huffpost.png", "ranks.png"]
    assert all(len(imread(path).shape) == 3 for path in paths)


def test_no_ranks_are_drawn_of_two_schemes(tmp_path):
    assert [path.name for path in draw_all(Board([cell("plain"), cell("awe")]), tmp_path)] == ["digits.png"]
    assert draw_all(Board([]), tmp_path) == draw_all(Board([cell("plain")]), tmp_path) == []


def drawn(monkeypatch, draw, *arguments):
    """The figure that would have been saved."""
    kept = []
    monkeypatch.setattr("spanwise.bench.figures.Figure.savefig", lambda figure, path, dpi: kept.append(figure))
    draw(*arguments, "unused.png")
    return kept[0]


def test_a_panel_a_learner_and_family_with_a_line_a_scheme(monkeypatch):
    cells = [one for one in CELLS if one.key.learner in ("ft", "si")]
    cells = [one for one in cells if one.key[1:3] != ("si", "saol")]
    figure = drawn(monkeypatch, draw_stream, Board(cells), "digits")
    assert [axes.get_title() for axes in figure.axes[:2]] == [
        f"{name}\n20 iterations, 2 seeds" for name in ("ft", "si")
    ]
    lines = [[line.get_ydata() for line in axes.lines if len(line.get_xdata()) == 4] for axes in figure.axes]
    assert [len(panel) for panel in lines] == [1, 1, 1, 0, 1, 1]
    assert lines[0][0] == pytest.approx([2.0] * 4)
    assert lines[4][0] == pytest.approx([-10.0] * 4)
    assert [text.get_text() for text in figure.axes[3].texts] == ["not run"]


def test_bands_are_drawn_of_several_seeds_only(monkeypatch):
    apart = [cell("plain"), cell("plain", seed=1), cell("awe", gain=1), cell("awe", gain=3, seed=1)]
    band = drawn(monkeypatch, draw_stream, Board(apart), "digits").axes[0].collections[0].get_paths()[0].get_extents()
    assert (band.y0, band.y1) == pytest.approx((2 - 2**0.5, 2 + 2**0.5))
    assert not drawn(monkeypatch, draw_stream, Board([cell("plain"), cell("awe")]), "digits").axes[0].collections


def test_the_diagram_names_every_scheme_with_its_rank_and_joins_those_that_do_not_differ(monkeypatch):
    found = ranking(scores(Board(SIX)))
    axes = drawn(monkeypatch, draw_ranks, found).axes[0]
    texts = {text.get_text().strip() for text in axes.texts}
    assert {f"{name} ({rank:.2f})" for name, rank in zip(found.schemes, found.ranks, strict=True)} <= texts
    assert f"CD = {found.critical_difference:.2f}" in texts
    bars = [line.get_xdata() for line in axes.lines if line.get_linewidth() == 4]
    assert [tuple(bar) for bar in bars] == [pytest.approx((first - 0.04, first + 1.04)) for first in (1, 2, 3)]
