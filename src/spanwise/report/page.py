"""One self-contained page: would choosing its span have helped, by how much, when, and at what price?

The verdict comes first, in words; then the table, the charts, and what the run was made with. The page
carries all that it needs, plotly's JavaScript included (5 MB), and its own policy tells the browser to fetch
nothing and to run no script but the two that we put there. Text that comes from outside is escaped.
"""

import json
import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from spanwise.errors import MissingExtraError
from spanwise.evaluate.seeds import AcrossSeeds, across
from spanwise.evaluate.summary import PLAIN, Evaluation
from spanwise.report.canvas import Chart
from spanwise.report.charts import charts
from spanwise.report.gains import ENSEMBLE, interval_text
from spanwise.report.palette import DARK, colours
from spanwise.report.replay import Replay
from spanwise.report.standings import table
from spanwise.report.verdict import Answer, Verdict, verdict

try:
    from plotly.offline import get_plotlyjs
except ImportError as error:
    raise MissingExtraError("plotly", "report") from error

QUESTION = "would choosing its span have helped?"

FIRST = ("learner", "learned from", "rows")
"""Settings that stand at the top of the page, where they are known."""

STYLE = {Answer.HELPED: "helped", Answer.HURT: "hurt", Answer.ENSEMBLE: "ensemble"}


def write_page(
    path: str | os.PathLike[str],
    evaluations: Sequence[Evaluation],
    *,
    told: str,
    settings: Mapping[str, object],
    notes: Sequence[str] = (),
    periods: Sequence[str] | None = None,
) -> Verdict:
    """Write the page, and give back the verdict that it opens with.

    Args:
        path: the file to write.
        evaluations: of one stream, one a seed.
        told: the scheme that the page is about, fixed before looking at the figures.
        settings: what the run was made with, shown as a table.
        notes: what the stream did with the data, such as `FileStream.notes`.
        periods: names of the rounds, such as `FileStream.periods`; their numbers if left out.
    """
    replay = Replay(evaluations, told, periods)
    lines = across(evaluations)
    found = verdict(lines, told, evaluations)
    sections = [
        learned(settings),
        opening(found, lines, told),
        remarks(notes),
        table(lines, told),
        *(drawn(chart) for chart in charts(replay)),
        made_with(settings),
        f'<script type="application/json" id="dark-colours">{data(json.dumps(DARK))}</script>',
    ]
    Path(path).write_text(whole(heading(settings), sections, replay.schemes), encoding="utf-8")
    return found


def whole(title: str, sections: Sequence[str], schemes: Sequence[str]) -> str:
    """The page around its sections."""
    here = files("spanwise.report")
    scripts = get_plotlyjs(), here.joinpath("page.js").read_text(encoding="utf-8")
    return Template(here.joinpath("page.html").read_text(encoding="utf-8")).substitute(
        title=escape(title),
        hashes=" ".join(f"'{fingerprint(script)}'" for script in scripts),
        swatches=swatches(colours(schemes)),
        sections="\n".join(sections),
        plotly=scripts[0],
        drawing=scripts[1],
    )


def heading(settings: Mapping[str, object]) -> str:
    """The question, asked of a file by its name where there is one.

    >>> heading({"file": "data/news.csv"}), heading({})
    ('news.csv: would choosing its span have helped?', 'Would choosing its span have helped?')
    """
    return f"{Path(str(settings['file'])).name}: {QUESTION}" if settings.get("file") else QUESTION.capitalize()


def learned(settings: Mapping[str, object]) -> str:
    """Who learned from what."""
    known = [f"{name}: {shown(settings[name])}" for name in FIRST if settings.get(name)]
    return f'<p class="reading">{escape(" · ".join(known))}</p>' if known else ""


def opening(found: Verdict, lines: Sequence[AcrossSeeds], told: str) -> str:
    """The verdict, and the figures behind it at a glance."""
    first, *others = (escape(sentence) for sentence in found.sentences)
    items = "".join(f"<li>{sentence}</li>" for sentence in others)
    return (
        f'<section class="verdict {STYLE.get(found.answer, "")}" id="verdict">'
        f'<p class="headline">{escape(found.headline)}</p><p>{first}</p><ul>{items}</ul>'
        f'<div class="tiles">{"".join(tiles({line.scheme: line for line in lines}, told))}</div></section>'
    )


def tiles(lines: Mapping[str, AcrossSeeds], told: str) -> list[str]:
    """Large figures: gain, accuracy, the ensemble's gain, cost."""
    line, plain, ensemble = lines[told], lines.get(PLAIN), lines.get(ENSEMBLE)
    shown = []
    if line.gain is not None:
        shown.append((f"{line.gain:+.2f}", f"points of accuracy over the plain learner ({interval_text(line)})"))
    if ensemble is not None and ensemble.gain is not None and told != ENSEMBLE:
        shown.append((f"{ensemble.gain:+.2f}", f"points by an ensemble of plain learners ({interval_text(ensemble)})"))
    if line.accuracy is not None and plain is not None and plain.accuracy is not None:
        shown.append(
            (f"{100 * line.accuracy:.1f} %", f"accuracy of {told}; the plain learner: {100 * plain.accuracy:.1f} %")
        )
    if plain is not None and plain.seconds > 0:
        shown.append((f"{line.seconds / plain.seconds:.1f}x", "the plain learner's seconds"))
    seeds = f"{line.seeds} seeds" if line.seeds > 1 else "one seed"
    shown.append((f"{line.rounds:,}", f"rounds scored, {seeds}"))
    return [f'<div class="tile"><b>{escape(figure)}</b><span>{escape(what)}</span></div>' for figure, what in shown]


def drawn(chart: Chart) -> str:
    """The place of a chart on the page, and its data."""
    return (
        f'<section><h2>{escape(chart.title)}</h2><p class="reading">{chart.reading}</p>'
        f'<div id="{chart.id}" class="chart"></div>'
        f'<script type="application/json" data-chart="{chart.id}">{data(chart.figure.to_json())}</script></section>'
    )


def remarks(notes: Sequence[str]) -> str:
    """What was done with the data before anything learned from it."""
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f'<section id="notes"><h2>About the data</h2><ul>{items}</ul></section>' if notes else ""


def made_with(settings: Mapping[str, object]) -> str:
    rows = "".join(f"<tr><td>{escape(str(k))}</td><td>{escape(shown(v))}</td></tr>" for k, v in settings.items())
    return f'<section id="settings"><h2>How this was made</h2><table class="settings">{rows}</table></section>'


def shown(value: object) -> str:
    """A setting as people write it.

    >>> shown({"numpy": "2.1", "torch": "2.13"}), shown(["awe", "vote"]), shown(12345), shown(None)
    ('numpy 2.1, torch 2.13', 'awe, vote', '12,345', '')
    """
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {one}" for name, one in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value))
    return f"{value:,}" if type(value) is int else str(value)


def swatches(shades: Mapping[str, str]) -> str:
    """The colours of the schemes as a style sheet, on light paper and on dark."""
    light = "".join(f".swatch-{i} {{ background: {shade}; }}" for i, shade in enumerate(shades.values()))
    dark = "".join(f".swatch-{i} {{ background: {DARK.get(one, one)}; }}" for i, one in enumerate(shades.values()))
    return f"{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}"


def data(text: str) -> str:
    """JSON that no browser can take for the end of a script.

    >>> data('{"label": "</script>"}')
    '{"label": "\\\\u003c/script>"}'
    """
    return text.replace("<", "\\u003c")


def fingerprint(script: str) -> str:
    """What the page's policy knows a script by."""
    return "sha256-" + b64encode(sha256(script.encode()).digest()).decode()
