"""What the pages show is what happens: every Python block of the docs and of the README is run.

The blocks of a page are run in order and share their names, as a reader would type them. A block
fenced as `python no-run` is only shown.
"""

import json
import re
from pathlib import Path
from runpy import run_path

import markdown
import numpy as np
import pytest
import yaml

import spanwise
from spanwise import deep
from spanwise.bench.suite.learners import PEER, SEEDLESS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
WITH_CODE = [ROOT / "README.md", *PAGES]
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^::: (\S+)", re.MULTILINE)


def blocks(page: Path) -> list[tuple[int, str]]:
    """(line of the first statement, source) of each block that runs."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, found.start(1)) + 1, found.group(1)) for found in FENCE.finditer(text)]


@pytest.mark.parametrize("page", [p for p in WITH_CODE if blocks(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_every_python_block_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for line, source in blocks(page):
        exec(compile("\n" * (line - 1) + source, str(page), "exec"), names)


def test_every_page_is_in_the_nav():
    nav = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader=yaml.BaseLoader)["nav"]
    assert sorted(_leaves(nav)) == sorted(page.relative_to(DOCS).as_posix() for page in PAGES)


def test_the_reference_shows_every_public_name():
    shown = set(SHOWN.findall((DOCS / "reference.md").read_text(encoding="utf-8")))
    public = [(name, getattr(spanwise, name)) for name in spanwise.__all__ if not name.startswith("__")]
    homes = {name: getattr(thing, "__module__", f"spanwise.{name}") for name, thing in public}
    hidden = [name for name, home in homes.items() if not {home, f"{home}.{name}", f"spanwise.{name}"} & shown]
    assert not hidden, f"add to docs/reference.md: {hidden}"


def test_the_reference_shows_every_name_of_the_deep_learners():
    shown = set(SHOWN.findall((DOCS / "reference.md").read_text(encoding="utf-8")))
    assert {f"spanwise.deep.{name}" for name in deep.__all__} <= shown


@pytest.mark.parametrize(
    ("text", "display"), [("with $n < 2^k$ points", "inline"), ("so\n\n$$\\sqrt{\\log(T/\\delta)/n}$$\n", "block")]
)
def test_formulas_are_drawn_without_a_script(text, display):
    marked = markdown.markdown(
        text,
        extensions=["pymdownx.arithmatex"],
        extension_configs={"pymdownx.arithmatex": {"generic": True}},
    )
    drawn = run_path(str(DOCS / "hooks" / "formulas.py"))["on_page_content"](marked)
    assert re.search(f'<math [^>]*display="{display}"', drawn)
    assert "arithmatex" not in drawn


@pytest.mark.parametrize(
    ("tag", "remote"),
    [
        ('<script src="https://host/a.js"></script>', True),
        ('<link rel="stylesheet" href="//host/a.css">', True),
        ('<img alt="plot" src="plot.png">', False),
        ('<a href="https://host">read on</a>', False),
    ],
)
def test_what_would_be_fetched_is_told_from_what_would_not(tag, remote):
    assert bool(run_path(str(DOCS / "hooks" / "offline.py"))["REMOTE"].search(tag)) == remote


def _leaves(nav: object) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    return [leaf for part in parts for leaf in _leaves(part)]


def test_the_readmes_table_is_the_one_the_demo_wrote():
    table = (ROOT / "results" / "demo" / "table.md").read_text(encoding="utf-8")
    assert table.strip() in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readmes_losses_are_those_the_demo_wrote():
    rows = json.loads((ROOT / "results" / "demo-linear" / "table.json").read_text(encoding="utf-8"))["rows"]
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for row in rows:
        if row["scheme"] in ("plain", "plain-ensemble", "spanwise", "awe", "awe-prequential", "saol"):
            assert f"{row['scheme']} {100 * row['accuracy']:.2f} %" in readme


def test_the_readmes_cost_is_the_one_the_benchmark_wrote():
    rows = json.loads((ROOT / "results" / "core_cost.json").read_text(encoding="utf-8"))["rows"]
    cost = {row["benchmark"]: row for row in rows}
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"{100 * cost['what_the_scheme_adds']['added']:.0f} %" in readme
    assert f"{cost['rounds_to_100_000']['alive_at_the_end']} instances" in readme
    assert f"{cost['rounds_to_100_000']['rounds_of_counts_kept']:,} counts" in readme


def test_the_table_of_the_stack_is_the_one_the_benchmark_wrote():
    rows = json.loads((ROOT / "results" / "gpu_pool.json").read_text(encoding="utf-8"))["rows"]
    table = run_path(str(ROOT / "benchmarks" / "gpu_pool.py"))["markdown"](rows)
    for page in (ROOT / "README.md", DOCS / "deep.md"):
        assert table in page.read_text(encoding="utf-8")


def test_the_papers_tables_and_ours_are_those_the_bench_wrote():
    for table in ("table1.md", "controls.md"):
        text = (ROOT / "results" / table).read_text(encoding="utf-8").strip()
        assert text in (DOCS / "bench.md").read_text(encoding="utf-8")
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    told = {
        "awe-literal": "AWE as printed gains {:.2f} points",
        "plain-ensemble": "plain learners gains {:.2f}.",
        "spanwise": "`Spanwise` gains {:.2f},",
        "plain-ensemble-large": "with {:.2f}, does an ensemble of its size",
    }
    rows = json.loads((ROOT / "results" / "table1.json").read_text(encoding="utf-8"))["rows"]
    for scheme, sentence in told.items():
        cell = "huffpost", "ft", scheme
        gains = [row["gain"] for row in rows if (row["stream"], row["learner"], row["scheme"]) == cell]
        assert sentence.format(sum(gains) / len(gains)) in readme
        if scheme == "awe-literal":
            assert f"({min(gains):.2f} to {max(gains):.2f} by seed)" in readme


@pytest.mark.parametrize(
    ("table", "page"), [("suite.md", "spanwise.md"), ("ablation.md", "spanwise.md"), ("suite_cells.md", "suite.md")]
)
def test_the_tables_of_spanwise_are_those_that_were_written(table, page):
    text = (ROOT / "results" / table).read_text(encoding="utf-8").strip()
    assert text in (DOCS / page).read_text(encoding="utf-8")


def test_what_the_first_form_missed_is_what_the_suite_wrote():
    confirmed = (ROOT / "results" / "suite_first_form.md").read_text(encoding="utf-8").partition("### Confirmation")[2]
    missed = [line for line in confirmed.splitlines() if line.endswith("| **no** |")]
    assert [line.split("|")[1:4:2] for line in missed] == [[" the worst cell against them ", " -0.72 "]]
    for page in (DOCS / "spanwise.md", DOCS / "decisions" / "0012-copies-before-starts.md"):
        assert "0.72" in page.read_text(encoding="utf-8")


def test_what_is_said_of_the_suite_in_words_is_what_it_wrote():
    page = " ".join((DOCS / "spanwise.md").read_text(encoding="utf-8").split())
    text = (ROOT / "results" / "suite.md").read_text(encoding="utf-8")
    leads = [float(lead) for lead in re.findall(r"more than one of them \| the same, at the same price \| (\S+)", text)]
    assert "on all three kinds of streams, by {:.2f}, {:.2f} and {:.2f} points".format(*leads) in page
    _, confirmed, replicated = re.findall(r"over as many plain learners.*streams drawn again \[\+([\d.]+),", text)
    assert f"begins at {confirmed} on the confirmation streams and at {replicated} on the replication streams" in page
    worst = min(float(points) for points in re.findall(r"the worst cell against them .* \| (-[\d.]+) \| yes", text))
    assert f"in the worst cell by {-worst} points" in page
    cells = json.loads((ROOT / "results" / "suite.json").read_text(encoding="utf-8"))["cells"]
    found = {(cell["stream"], cell["learner"], cell["scheme"]): cell for cell in cells if cell["learner"] != PEER}
    ours = {at[:2]: cell for at, cell in found.items() if at[2] == "spanwise"}
    cost = {True: [], False: []}
    for (stream, learner), cell in ours.items():
        if cell["role"] == "confirmation":
            costs = cell["cost"], found[stream, learner, "plain-ensemble"]["cost"]
            cost[learner in SEEDLESS].append(costs)
    (alone, _), (many, ensemble) = (np.mean(cost[seedless], axis=0) for seedless in (True, False))
    assert f"{alone:.1f} times the time of the plain learner in the confirmation streams" in page
    assert f"it took {many:.1f} times, and the ensemble {ensemble:.1f}." in page
    lost = {at: cell["gain"] - found[*at, "fall-back"]["gain"] for at, cell in ours.items()}
    worst = min(lost, key=lost.get)
    next_worst = min((at for at in lost if at[0] != worst[0]), key=lost.get)
    assert (worst, next_worst) == (("new-each-round", "hoeffding-tree"), ("spam", "naive-bayes"))
    assert f"it was up to {-lost[worst]:.2f} points behind its fall-back" in page
    assert f"cost most, but for the adversary, was {-lost[next_worst]:.2f} points" in page


def test_what_the_readme_says_of_the_suite_is_what_it_wrote():
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    cells = json.loads((ROOT / "results" / "suite.json").read_text(encoding="utf-8"))["cells"]
    found = [cell for cell in cells if cell["role"] == "confirmation" and cell["learner"] != PEER]
    gains = {
        scheme: {(cell["stream"], cell["learner"]): cell["gain"] for cell in found if cell["scheme"] == scheme}
        for scheme in ("spanwise", "plain-ensemble", "awe-literal")
    }
    ours, ensemble, literal = (np.mean(list(of.values())) for of in gains.values())
    assert f"it gains {ours:.2f} points over the plain learner on average, an ensemble of the same price " in readme
    assert f"price {ensemble:.2f}, and AWE as printed {literal:.2f}." in readme
    worst = [min(of.values()) for of in gains.values()]
    assert worst[1] == 0
    told = f"In the worst of {len(gains['spanwise'])} cells it loses {-worst[0]:.2f}, the ensemble nothing, AWE "
    assert f"{told}{-worst[2]:.2f}." in readme
    lead = [gain - gains["plain-ensemble"][at] for at, gain in gains["spanwise"].items() if at[1] not in SEEDLESS]
    assert f"leads over that ensemble by {np.mean(lead):.2f} points" in readme


def test_what_is_said_of_losses_in_words_is_what_the_suite_wrote():
    page = " ".join((DOCS / "spanwise.md").read_text(encoding="utf-8").split())
    cells = json.loads((ROOT / "results" / "suite.json").read_text(encoding="utf-8"))["cells"]
    found = {(cell["stream"], cell["learner"], cell["scheme"]): cell for cell in cells if cell["learner"] != PEER}
    ours = {at[:2]: cell for at, cell in found.items() if at[2] == "spanwise" and cell["role"] != "adversary"}
    literal, prequential = (
        {at: found[*at, name]["gain"] - cell["gain"] for at, cell in ours.items() if (*at, name) in found}
        for name in ("awe-literal", "awe-prequential")
    )
    sooner = {at: lead for at, lead in prequential.items() if lead > 0}
    assert f"more in {len(sooner)} of {len(prequential)} cells, not all for that reason, all of learners with" in page
    assert {learner for _, learner in sooner} <= SEEDLESS
    assert f"by up to {max(prequential.values()):.2f} points (`recurring`, Hoeffding tree)" in page
    assert f"ahead in {sum(lead > 0 for lead in literal.values())} of the {len(literal)} cells" in page
    assert f"by up to {max(literal.values()):.2f} (`spam`, Hoeffding tree)" in page
    random = {at: lead for at, lead in literal.items() if lead > 0 and at[1] not in SEEDLESS}
    assert random.keys() == {("weather", "linear"), ("spam", "linear")}
    weather, spam = (random[stream, "linear"] for stream in ("weather", "spam"))
    assert f"by {weather:.2f} (`weather`, linear) and {spam:.2f} (`spam`, linear)" in page
    worst = min(ours.values(), key=lambda cell: cell["gain"])
    assert (worst["stream"], worst["learner"]) == ("spam", "naive-bayes")
    assert f"{-worst['gain']:.2f} points below the plain learner, in an interval" in page
    assert f"from {worst['low']:.2f} to +{worst['high']:.2f}: the only cell of {len(ours)} that is more" in page
    assert sum(cell["gain"] < -0.1 for cell in ours.values()) == 1


def test_the_rounds_of_the_suites_streams_are_those_that_were_scored():
    lines = re.findall(
        r"^\| (`[^|]+`) \| (?:devel|confirm|replic|advers).* (\d+) \|$",
        (DOCS / "bench.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    told = {name: int(rounds) for names, rounds in lines for name in re.findall(r"`([^`]+)`", names)}
    scores = (ROOT / "results" / "suite_scores.jsonl").read_text(encoding="utf-8").splitlines()
    assert told == {one["stream"]: len(one["accuracies"]) for one in map(json.loads, scores)}


def test_what_choosing_adds_is_what_the_benchmark_wrote():
    rows = json.loads((ROOT / "results" / "core_cost.json").read_text(encoding="utf-8"))["rows"]
    ours = {row["benchmark"].partition("what_spanwise_adds_to_")[2]: row for row in rows}
    small, large, strictly_small, strictly_large = (
        [f"{100 * ours[learner + size][what]:.1f} %" for learner in ("linear", "mlp-fast", "naive-bayes")]
        for what in ("added", "added_to_training_and_scoring")
        for size in ("", "_with_many_classes")
    )
    page = " ".join((DOCS / "spanwise.md").read_text(encoding="utf-8").split())
    assert f"{small[0]} of the pool's own time with the linear model, {small[1]} with the fast MLP" in page
    assert f"and {small[2]} with naive Bayes" in page
    assert f"{large[0]}, {large[1]} and {large[2]} (`make bench`" in page
    assert f"all else is {strictly_small[0]}, {strictly_small[1]} and {strictly_small[2]} on the smaller rounds" in page
    assert (
        f"and {strictly_large[0]}, {strictly_large[1]} and {strictly_large[2]} on the larger: at most the 10 %" in page
    )


def test_what_is_said_of_the_stack_in_words_is_what_the_benchmark_wrote():
    rows = json.loads((ROOT / "results" / "gpu_pool.json").read_text(encoding="utf-8"))["rows"]
    page = " ".join((DOCS / "deep.md").read_text(encoding="utf-8").split())
    took = {row["round"]: f"{row['round_ms']:.0f} ms" for row in rows if "round" in row}
    assert f"took {took['awe, prequential']} with prequential evidence" in page
    assert f"{took['awe, hold-out of 10,000 points']} with 10,000 points held out" in page
    assert f"learner's took {took['plain']}" in page
    step = {(row["network"], row["learner"]): row["stacked_ms"] for row in rows if row.get("precision") == "bf16"}
    assert max(ms / step[network, "ft"] for (network, _), ms in step.items()) < 1.25


@pytest.mark.parametrize("learner", ["ft", "si", "ewc", "irm", "coral"])
def test_the_accuracies_of_the_deep_learners_are_those_the_demo_wrote(learner):
    rows = json.loads((ROOT / "results" / "deep" / learner / "table.json").read_text(encoding="utf-8"))["rows"]
    found = {row["scheme"]: f"{100 * row['accuracy']:.2f}" for row in rows}
    shown = [found[scheme] for scheme in ("plain", "plain-ensemble", "awe", "awe-prequential")]
    assert f"| {learner} | {' | '.join(shown)} |" in (DOCS / "deep.md").read_text(encoding="utf-8")


def test_the_readmes_gain_on_a_cpu_is_the_one_the_benchmark_wrote():
    rows = json.loads((ROOT / "results" / "core_cost.json").read_text(encoding="utf-8"))["rows"]
    gains = {row["benchmark"]: row["times_by_hand"] for row in rows if row["benchmark"].startswith("stack_on_cpu_")}
    gain = gains["stack_on_cpu_mlp_64_64_64_10"]
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"12 copies of a 64-64-64-10 MLP train {gain:.0f} times as fast as by hand" in readme
    page = " ".join((DOCS / "deep.md").read_text(encoding="utf-8").split())
    assert f"is up to {1 / min(gains.values()):.1f} times faster still" in page


def test_examples_of_docstrings_are_shown_as_code():
    extension = run_path(str(DOCS / "hooks" / "doctests.py"))["DoctestExtension"]()
    text = "An idea.\n\n>>> 1 + 1\n2\n\nMore of it.\n\n```\n>>> fenced already\n```\n"
    shown = markdown.markdown(text, extensions=[extension, "pymdownx.superfences"])
    assert "blockquote" not in shown
    assert shown.count("<code>") + shown.count("<code ") == 2
    assert "<p>More of it.</p>" in shown
