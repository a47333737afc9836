"""The page, from rows that the test makes up: what is on it, what is escaped, what is left out."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from spanwise.errors import SettingError
from spanwise.evaluate.record import Row
from spanwise.evaluate.summary import Evaluation
from spanwise.report.verdict import Answer

pytest.importorskip("plotly")
from spanwise.report import palette
from spanwise.report.page import write_page
from spanwise.report.replay import Replay, bins

ROUNDS = 30
LAST_OF_OLD = 18
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
CHARTS = ["accuracy", "gain", "span", "weights", "classes", "cost"]


def rows(seed=0, *, label="sport", scheme="awe"):
    """Thirty rounds of 200 rows; the scheme is 10 rows ahead of plain, and drops its past after round 18."""
    for t in range(1, ROUNDS + 1):
        scored = t > 1
        common = {"round": t, "seed": seed, "n": 200, "shift": t == LAST_OF_OLD - 1}
        for name, right, ahead, seconds in (
            ("plain", 120, None, 0.1),
            ("plain-ensemble", 121, 5, 0.8),
            (scheme, 130, 14, 0.7),
        ):
            chosen = LAST_OF_OLD - 1 if name == scheme and t >= LAST_OF_OLD else 1
            yield Row(
                scheme=name,
                accuracy=right / 200 if scored else None,
                by_class={label: (150, right - 40), "news": (50, 40)} if scored else {},
                ahead=ahead if scored else None,
                behind=None if ahead is None or not scored else ahead - (right - 120),
                chosen=chosen,
                span=t + 1 - chosen,
                starts=(1, *range(max(2, t - 3), t + 2), LAST_OF_OLD - 1),
                weights={1: 1.0} if name != scheme else {1: 0.5, max(1, t - 2): 0.5},
                seconds=seconds,
                **common,
            )


class Reader(HTMLParser):
    """The tags of a page, its charts as dicts, and the text that a reader sees."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.charts, self.text, self.inside = [], {}, "", None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside = (tag, dict(attributes))

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        tag, attributes = self.inside or ("", {})
        if "data-chart" in attributes:
            self.charts[attributes["data-chart"]] = json.loads(data)
        elif tag not in ("script", "style"):
            self.text += data


def page(tmp_path, evaluations=None, **settings):
    given = {"told": "awe", "settings": {"file": "news.csv"}, **settings}
    found = write_page(tmp_path / "report.html", evaluations or [Evaluation(rows())], **given)
    return found, Reader((tmp_path / "report.html").read_text(encoding="utf-8"))


def test_the_verdict_comes_first_then_the_table_then_the_charts(tmp_path):
    found, read = page(tmp_path)
    assert found.answer == Answer.HELPED
    order = [attributes["id"] for _, attributes in read.tags if "id" in attributes]
    assert order == ["verdict", "table", *CHARTS, "settings", "dark-colours"]
    assert found.headline in read.text
    for name in ("plain", "plain-ensemble", "awe", "+5.00", "29/0/0", "7.0"):
        assert name in read.text


def test_a_scheme_that_does_not_help_is_told_so(tmp_path):
    found, read = page(tmp_path, told="plain-ensemble", evaluations=[Evaluation(rows())])
    assert found.answer == Answer.CLOSE
    assert "Too close to call" in read.text


def test_a_pool_in_which_one_start_alone_counted_is_drawn_too(tmp_path):
    still = [replace(row, weights={1: 1.0}, chosen="copies", span=None) for row in rows(scheme="spanwise")]
    _, read = page(tmp_path, told="spanwise", evaluations=[Evaluation(still)])
    assert list(read.charts) == CHARTS
    bottom, *others = read.charts["weights"]["data"][0]["z"]
    assert bottom == [100.0] * (ROUNDS - 1)
    assert not any(any(line) for line in others)
    assert "Here all of it lay on one start, in every round" in read.text


def test_the_page_names_nothing_that_a_browser_would_fetch(tmp_path):
    _, read = page(tmp_path)
    assert not [attributes for _, attributes in read.tags if {"src", "href", "srcset", "action"} & set(attributes)]
    policy = next(attributes["content"] for _, attributes in read.tags if "http-equiv" in attributes)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-inline" not in policy.split("style-src")[0]


def test_text_from_the_file_is_escaped(tmp_path):
    evaluation = Evaluation(rows(label=EVIL, scheme="awe<b>"))
    periods = [f"<i>{t}</i>" for t in range(1, ROUNDS + 1)]
    settings = {EVIL: EVIL, "file": EVIL, "learner": EVIL}
    _, read = page(tmp_path, [evaluation], told="awe<b>", settings=settings, notes=[EVIL], periods=periods)
    assert [tag for tag, _ in read.tags].count("script") == len(CHARTS) + 3
    assert not {"img", "i"} & {tag for tag, _ in read.tags}
    assert EVIL in read.text
    assert "<" not in "".join(strings(list(read.charts.values()))).replace("<br>", "").replace("<extra></extra>", "")


def strings(value):
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings(one)
    elif isinstance(value, str):
        yield value


def test_notes_are_shown_where_there_are_any(tmp_path):
    assert "empty months skipped" in page(tmp_path, notes=["empty months skipped (1): 2013-05"])[1].text
    assert "About the data" not in page(tmp_path)[1].text


def test_settings_are_shown_as_people_write_them(tmp_path):
    _, read = page(tmp_path, settings={"seeds": [0, 1], "versions": {"numpy": "2.1", "plotly": "7"}})
    assert "numpy 2.1, plotly 7" in read.text
    assert "0, 1" in read.text


def test_the_page_opens_with_the_file_the_learner_and_the_rows(tmp_path):
    settings = {"file": "/home/me/news.csv", "learner": "SGD", "learned from": ["title", "length"], "rows": 12345}
    _, read = page(tmp_path, settings=settings)
    before = read.text[: read.text.index("Yes:")]
    assert before.count("news.csv: would choosing its span have helped?") == 2
    assert "/home/me" not in before
    assert "learner: SGD · learned from: title, length · rows: 12,345" in before


def test_a_page_without_a_file_asks_the_bare_question(tmp_path):
    _, read = page(tmp_path, settings={"stream": "digits"})
    assert "Would choosing its span have helped?" in read.text
    assert "learned from:" not in read.text


def test_a_learner_that_a_constant_beats_is_told_so(tmp_path):
    found, read = page(tmp_path)
    (sentence,) = (one for one in found.sentences if one.startswith("Always saying 'sport'"))
    assert "neither awe (65.00 %) nor the plain learner (60.00 %)" in sentence
    assert sentence in read.text


def test_seconds_are_said_to_be_those_of_a_scheme_alone(tmp_path):
    assert "would have taken alone" in page(tmp_path)[1].text


@pytest.mark.parametrize(("name", "most"), [("2013-W{:02}", 7), ("{}", 12), ("rows {:,} and the 500 after", 2)])
def test_long_names_of_rounds_get_fewer_ticks(tmp_path, name, most):
    charts = page(tmp_path, periods=[name.format(t) for t in range(1, ROUNDS + 1)])[1].charts
    assert charts["accuracy"]["layout"]["xaxis"]["nticks"] == most


def test_rounds_go_by_the_names_of_their_periods(tmp_path):
    periods = [f"{2010 + t // 12}-{t % 12 + 1:02}" for t in range(ROUNDS)]
    charts = page(tmp_path, periods=periods)[1].charts
    assert charts["accuracy"]["layout"]["xaxis"]["categoryarray"] == periods
    assert charts["accuracy"]["data"][0]["x"] == periods[1:]
    assert charts["accuracy"]["layout"]["xaxis"]["title"]["text"] == "period"


def traces(chart):
    return {trace.get("name"): trace for trace in chart["data"]}


def test_the_gain_has_a_band_around_it(tmp_path):
    drawn = page(tmp_path)[1].charts["gain"]
    low, high = (trace["y"] for trace in drawn["data"] if trace.get("name") == "95 % band")
    gains = traces(drawn)["awe"]["y"]
    assert gains == pytest.approx([5.0] * (ROUNDS - 1))
    assert all(a < b < c for a, b, c in zip(low, gains, high, strict=True))


def test_a_collapse_of_the_span_is_marked(tmp_path):
    drawn = traces(page(tmp_path)[1].charts["span"])
    assert drawn["likely change"]["x"][0] == str(LAST_OF_OLD + 1)
    assert drawn["true shift"]["x"][0] == str(LAST_OF_OLD - 1)


def test_weights_are_shares_of_a_round(tmp_path):
    heat = next(trace for trace in page(tmp_path)[1].charts["weights"]["data"] if trace["type"] == "heatmap")
    for column in zip(*heat["z"], strict=True):
        assert sum(value for value in column if value is not None) == pytest.approx(100, abs=0.1)


def test_the_weights_have_a_line_for_every_start_so_that_the_diagonal_is_straight(tmp_path):
    few = [Row(**{**vars(row), "weights": {1: 0.5, 1 + 5 * (row.round // 6): 0.5}}) for row in rows()]
    heat = next(
        one for one in page(tmp_path, [Evaluation(few)])[1].charts["weights"]["data"] if one["type"] == "heatmap"
    )
    assert heat["y"] == [str(t) for t in range(1, ROUNDS + 1)]
    assert set(heat["z"][2]) == {None}


def test_the_weights_say_whose_they_are(tmp_path):
    """AWE shows the ensemble that it considered, also where one instance predicts; others what predicts."""
    assert "the ensemble that was passed over" in page(tmp_path)[1].text
    own = [Row(**{**vars(row), "weights": {row.chosen: 1.0}}) for row in rows()]
    read = page(tmp_path, [Evaluation(own)])[1]
    assert "the ensemble that was passed over" not in read.text
    assert "A dot marks an instance that predicted alone" in read.text


def test_copies_of_one_start_are_called_that(tmp_path):
    copies = [Row(**{**vars(row), "chosen": "copies", "span": None, "weights": {1: 1.0}}) for row in rows()]
    drawn = traces(page(tmp_path, [Evaluation(copies)])[1].charts["span"])
    assert set(drawn["ensemble (mean)"]["customdata"]) == {"copies started at 1, averaged"}


def test_classes_are_drawn_side_by_side_the_largest_first(tmp_path):
    drawn = page(tmp_path)[1].charts["classes"]
    assert [text.strip() for text in drawn["layout"]["yaxis"]["ticktext"]] == ["sport", "news"]
    assert traces(drawn)["plain"]["x"] == pytest.approx([100 * 80 / 150, 80], abs=0.01)
    assert traces(drawn)["awe"]["x"] == pytest.approx([100 * 90 / 150, 80], abs=0.01)


def test_of_many_classes_the_largest_are_drawn(tmp_path):
    many = {f"class {i}": (100 - i, 50 - i) for i in range(40)}
    lines = [Row(**{**vars(row), "by_class": many if row.accuracy is not None else {}}) for row in rows()]
    _, read = page(tmp_path, [Evaluation(lines)])
    assert len(read.charts["classes"]["layout"]["yaxis"]["ticktext"]) == 20
    assert "the 20 largest of 40 classes" in read.text


def test_cost_is_told_in_times_of_the_plain_learner(tmp_path):
    (bars,) = page(tmp_path)[1].charts["cost"]["data"]
    assert bars["text"] == ["3.0 s (1.0x)", "24.0 s (8.0x)", "21.0 s (7.0x)"]


def test_several_seeds_are_averaged(tmp_path):
    found, read = page(tmp_path, [Evaluation(rows(seed)) for seed in (0, 1, 2)])
    assert "All 3 seeds did the same" in str(found)
    assert "60.00 ± 0.00" in read.text
    assert len(read.charts["accuracy"]["data"][0]["x"]) == ROUNDS - 1


def test_an_old_record_gives_a_page_without_bands_and_classes(tmp_path):
    old = [Row(**{**vars(row), "by_class": {}, "ahead": None, "behind": None}) for row in rows()]
    found, read = page(tmp_path, [Evaluation(old)])
    assert found.answer == Answer.UNKNOWN
    assert "classes" not in read.charts
    assert "95 % band" not in traces(read.charts["gain"])


def test_a_stream_of_one_round_gives_a_page_that_says_so(tmp_path):
    found, read = page(tmp_path, [Evaluation(row for row in rows() if row.round == 1)])
    assert found.answer == Answer.UNKNOWN
    assert list(read.charts) == ["cost"]
    assert "at least two rounds" in read.text


def test_a_long_stream_is_drawn_in_a_bounded_number_of_cells(tmp_path):
    long = [
        Row(t, name, n=10, accuracy=0.5, ahead=0 if name == "awe" else None, behind=0 if name == "awe" else None,
            chosen="ensemble", starts=(1, t), weights={1: 1.0, t: 1.0})
        for t in range(1, 701) for name in ("plain", "awe")
    ]  # fmt: skip
    _, read = page(tmp_path, [Evaluation(long)])
    (heat,) = read.charts["weights"]["data"]
    assert len(heat["x"]) <= 200
    assert len(heat["y"]) <= 200
    for column in zip(*heat["z"], strict=True):
        assert sum(value for value in column if value is not None) == pytest.approx(100, abs=1)


@pytest.mark.parametrize("told", ["plain", "spanwsie"])
def test_a_page_is_about_a_scheme_that_was_run(tmp_path, told):
    with pytest.raises(SettingError, match="choose from plain-ensemble, awe"):
        page(tmp_path, told=told)


@pytest.mark.parametrize("periods", [["2013"], ["2013"] * ROUNDS])
def test_every_round_needs_a_name_of_its_own(periods):
    with pytest.raises(SettingError, match="pass one for each, no two alike"):
        Replay([Evaluation(rows())], "awe", periods)


def test_a_page_needs_an_evaluation():
    with pytest.raises(SettingError, match="at least one evaluation"):
        Replay([], "awe")


def test_bins_are_as_equal_as_can_be():
    sizes = [list(bins(range(1, 1001), 200).values()).count(first) for first in (1, 6, 996)]
    assert sizes == [5, 5, 5]


def test_the_palette_is_that_of_the_picture():
    pytest.importorskip("matplotlib")
    from matplotlib.colors import to_hex

    from spanwise.report.picture import COLOURS

    assert {name: to_hex(colour) for name, colour in COLOURS.items()}.items() <= palette.SCHEMES.items()


def test_every_colour_is_one_that_the_page_can_swap():
    for colour in (*palette.DARK, *palette.DARK.values(), *palette.SCHEMES.values(), *palette.SPARE):
        assert re.fullmatch("#[0-9a-f]{6}", colour)
