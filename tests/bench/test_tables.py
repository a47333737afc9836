"""Tables of cells made by hand, whose figures can be worked out by hand."""

import subprocess
import sys

import pytest

from spanwise.bench.paper import GAINS, LEARNERS, MISPRINTS, STANDINGS, printed
from spanwise.bench.store import Cell, Key
from spanwise.bench.tables import TABLES, Board, controls, differences, document, resolutions, table1, voting, wins
from spanwise.errors import SettingError
from spanwise.evaluate import Row
from spanwise.evaluate.statistics import interval, pairs

PLAIN = (60, 70)
"""Rows of 100 that the plain learner gets right in rounds 2 and 3."""


def cell(scheme, right, seed=0, stream="huffpost", learner="ft", iterations=1001, made=None):
    """Of a scheme that gets so many of 100 rows right in rounds 2, 3, ..., those of the plain learner among them."""
    held = scheme.startswith(("awe", "plain-same", "single", "vote"))
    rows = [Row(1, scheme, seed=seed, n=100, holds_back=held, seconds=10.0)]
    for t, (ours, theirs) in enumerate(zip(right, PLAIN, strict=True), start=2):
        beside = {} if scheme == "plain" else {"ahead": max(ours - theirs, 0), "behind": max(theirs - ours, 0)}
        rows.append(Row(t, scheme, seed=seed, n=100, holds_back=held, accuracy=ours / 100, seconds=10.0, **beside))
    return Cell(Key(stream, learner, scheme, seed, iterations), tuple(rows), made or {"machine": "m", "versions": {}})


CELLS = [
    *(cell("plain", PLAIN, seed) for seed in (0, 1)),
    *(cell("plain-same-fold", (58, 69), seed) for seed in (0, 1)),
    cell("awe", (64, 70), 0),
    cell("awe", (60, 68), 1),
    *(cell("single-resolution-2", (50, 60), seed) for seed in (0, 1)),
    cell("vote", (60, 70), 0),
    *(cell("saol", (60, 66), seed) for seed in (0, 1)),
]


def lines_of(text):
    """The lines of a Markdown table, without header and rule, as columns."""
    table = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[entry.strip() for entry in line] for line in table[2:]]


def columns_of(text):
    header = next(line for line in text.splitlines() if line.startswith("|"))
    names = [name.strip() for name in header.strip("|").split("|")]
    return [dict(zip(names, line, strict=True)) for line in lines_of(text)]


def test_table_1_gives_gain_deviation_interval_accuracies_and_the_papers_figure():
    board = Board(CELLS)
    low, high = interval(pairs(board.runs["huffpost", "ft", 1001], "awe"))
    text = table1(board)
    assert text.startswith("### huffpost, 2 rounds scored\n\n| learner |")
    assert next(line for line in columns_of(text) if line["scheme"] == "awe") == {
        "learner": "ft",
        "iterations": "1,001",
        "scheme": "awe",
        "seeds": "2",
        "plain %": "65.00",
        "accuracy %": "65.50",
        "gain ± sd over seeds [95 % over rows]": f"+0.50 ± 2.12 [{low:+.2f}, {high:+.2f}]",
        "gain, same fold": "+2.00",
        "win/draw/lose": "1/0/1",
        "seconds": "30",
        "paper: gain": "+0.72",
        "paper: win/draw/lose": "5/0/1",
    }


def test_one_seed_has_no_deviation():
    vote = next(line for line in columns_of(table1(Board(CELLS))) if line["scheme"] == "vote")
    assert vote["gain ± sd over seeds [95 % over rows]"] == "+0.00 [+0.00, +0.00]"


def test_what_was_asked_for_and_is_not_there_is_not_run():
    expected = [Key("fmow", "si", "awe", seed, 501) for seed in (0, 1, 2)]
    expected += [Key("huffpost", "ft", "vote", seed, 1001) for seed in (0, 1, 2)]
    board = Board(CELLS, expected)
    fmow, huffpost = table1(board).split("### huffpost")
    assert lines_of(fmow) == [
        ["si", "501", "awe", "0 of 3", "", "", "not run", "", "", "", "+1.52", "13/0/2"],
    ]
    assert [line["seeds"] for line in columns_of(huffpost) if line["scheme"] == "vote"] == ["1 of 3"]
    by_wins = columns_of(wins(board))
    assert by_wins[0]["awe"] == "not run (paper 13/0/2)"
    assert by_wins[0]["plain %"] == "not run"
    assert by_wins[1]["vote"] == "0/2/0 (1 of 3 seeds) (paper 3/0/3)"


def test_where_nothing_was_run_one_line_says_so():
    asked = [Key(stream, "si", scheme, 0, 301) for stream in ("arxiv", "digits") for scheme in ("vote", "awe")]
    arxiv, digits = (lines_of(part) for part in table1(Board([], asked)).split("### digits"))
    begin = ["si", "301", "all 2", "0 of 1", "", "", "not run", "", "", ""]
    assert arxiv == [[*begin, "awe +0.45, vote -2.95", "awe 13/0/2, vote 2/0/13"]]
    assert digits == [[*begin, "", ""]]


def test_schemes_come_in_the_order_asked_for_wherever_they_were_run():
    asked = [Key("arxiv", "si", scheme, 0, 301) for scheme in ("vote", "saol", "awe")]
    huffpost = table1(Board(CELLS, asked)).split("### huffpost")[1]
    assert [line["scheme"] for line in columns_of(huffpost)] == ["vote", "saol", "awe"]


def test_every_table_can_be_made_of_nothing_and_of_what_was_only_asked_for():
    for table in TABLES.values():
        table(Board([]))
        assert table(Board([], [Key("fmow", "si", "awe", 0, 501), Key("fmow", "si", "single-resolution-2", 0, 501)]))


def test_wins_are_of_accuracy_averaged_over_seeds():
    line = columns_of(wins(Board(CELLS)))[0]
    assert (line["awe"], line["saol"]) == ("1/0/1 (paper 5/0/1)", "0/1/1 (paper 0/3/3)")
    assert "single-resolution-2" not in line
    assert "plain" not in line


def test_voting_is_told_beside_awe():
    line = columns_of(voting(Board(CELLS)))[0]
    assert line["vote"] == "+0.00 [+0.00, +0.00], 0/2/0 (paper +0.03, 3/0/3)"
    assert line["awe"].startswith("+0.50 ± 2.12 [")
    assert set(line) == {"stream", "learner", "iterations", "plain %", "awe", "vote"}


def test_awe_is_compared_with_each_resolution_seed_by_seed():
    more = [cell("single-resolution-16", (60, 70), 1), cell("single-resolution-4", (64, 71), 0)]
    line = columns_of(resolutions(Board([*more, *CELLS])))[0]
    assert list(line)[4:] == ["single-resolution-2", "single-resolution-4", "single-resolution-16"]
    assert line["single-resolution-2"] == "+10.50 ± 2.12, 2/0/0"
    assert line["single-resolution-4"] == "-0.50, 0/1/1"
    assert line["single-resolution-16"] == "-1.00, 0/1/1"


def test_a_resolution_without_awe_says_so():
    board = Board([one for one in CELLS if one.key.scheme != "awe"])
    assert columns_of(resolutions(board))[0]["single-resolution-2"] == "awe not run"


def test_controls_give_the_gain_and_that_on_the_same_fold():
    line = columns_of(controls(Board(CELLS)))[0]
    assert line["awe"] == "+0.50 ± 2.12 / +2.00"
    assert line["plain-same-fold"] == "-1.50 ± 0.00 / +0.00"
    assert "saol" not in line


def test_without_the_plain_learner_gains_are_unknown():
    board = Board([cell("awe", (64, 70))])
    line = columns_of(table1(board))[0]
    assert (line["plain %"], line["accuracy %"], line["win/draw/lose"]) == ("unknown", "67.00", "unknown")
    assert line["gain ± sd over seeds [95 % over rows]"] == "unknown"


def test_one_row_a_cell_with_the_fields_of_the_results_file():
    found = document(Board(CELLS))
    assert len(found["rows"]) == len(CELLS)
    assert next(row for row in found["rows"] if row["scheme"] == "awe" and row["seed"] == 0) == {
        "stream": "huffpost",
        "learner": "ft",
        "scheme": "awe",
        "seed": 0,
        "iterations": 1001,
        "accuracy": pytest.approx(0.67),
        "gain": pytest.approx(2.0),
        "gain_same_fold": pytest.approx(3.5),
        "wins": 1,
        "draws": 1,
        "losses": 0,
        "seconds": 30.0,
    }


def test_machine_and_versions_are_told_once_or_listed_where_they_differ():
    one, other = ({"machine": {"device": name}, "versions": {"torch": "2"}} for name in "ab")
    assert document(Board([cell("plain", PLAIN, made=one)]))["machine"] == {"device": "a"}
    found = document(Board([cell("plain", PLAIN, 0, made=other), cell("plain", PLAIN, 1, made=one)]))
    assert (found["machine"], found["versions"]) == ([{"device": "a"}, {"device": "b"}], {"torch": "2"})


def test_tables_do_not_depend_on_the_order_in_which_cells_were_done():
    more = [cell("plain", PLAIN, learner="si"), cell("awe", (61, 70), learner="si", iterations=6001)]
    for table in (*TABLES.values(), document):
        assert table(Board([*CELLS, *more])) == table(Board([*reversed(more), *reversed(CELLS)]))


def test_places_come_in_the_order_asked_for_with_other_iterations_beside():
    expected = [Key(stream, learner, "awe", 0, 1001) for stream in ("huffpost", "arxiv") for learner in ("si", "ft")]
    board = Board([cell("awe", (64, 70), learner="si", iterations=6001), *CELLS], expected)
    assert list(board.schemes) == [
        *[("huffpost", "si", 1001), ("huffpost", "si", 6001), ("huffpost", "ft", 1001)],
        *[("arxiv", "si", 1001), ("arxiv", "ft", 1001)],
    ]


def test_differences_are_points_by_seed_and_round():
    rounds, points = differences(Board(CELLS).runs["huffpost", "ft", 1001], "awe")
    assert rounds.tolist() == [2, 3]
    assert points.tolist() == [pytest.approx([4, 0]), pytest.approx([0, -2])]


def test_seeds_of_different_rounds_are_refused():
    short = Cell(Key("huffpost", "ft", "plain", 2, 1001), cell("plain", PLAIN, 2).rows[:-1])
    with pytest.raises(SettingError, match="same rounds"):
        Board([*CELLS, short])


def test_every_figure_of_the_paper_has_its_wins_and_they_sum_to_its_rounds():
    rounds = {"fmow": 15, "huffpost": 6, "arxiv": 15}
    for scheme, stream in GAINS:
        assert len(GAINS[scheme, stream]) == len(STANDINGS[scheme, stream].split()) == len(LEARNERS)
        for learner in LEARNERS:
            paper = printed(stream, learner, scheme)
            assert paper.wins + paper.draws + paper.losses == rounds[stream]


def test_a_mean_that_cannot_have_its_sign_is_marked():
    """Who never wins cannot gain, nor who never loses fall behind."""
    for scheme, stream in GAINS:
        for learner in LEARNERS:
            paper = printed(stream, learner, scheme)
            assert paper.wins > 0 or paper.read < 0
            assert paper.losses > 0 or paper.read > 0
            assert (paper.misprint is not None) == ((scheme, stream, learner) in MISPRINTS)


def test_a_misprint_is_read_with_the_other_sign_and_noted_once():
    text = table1(Board(CELLS))
    assert "+0.71, read as -0.71" in text
    assert text.count("with 0/3/3 a mean cannot be positive") == 1
    assert "0/3/3" not in voting(Board(CELLS))
    assert printed("fmow", "ewc", "vote-merged").read == -2.05


def test_wild_times_variant_of_a_learner_stands_beside_the_same_figure():
    assert printed("arxiv", "coral-wildtime", "awe") == printed("arxiv", "coral", "awe")
    assert printed("yearbook", "ft", "awe") is printed("arxiv", "ft", "plain-ensemble") is None


def test_tables_import_without_scipy_and_matplotlib():
    code = "import sys; import spanwise.bench.tables; assert not {'scipy', 'matplotlib', 'torch'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
