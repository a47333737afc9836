"""The table of a report: all schemes, one line each, and what they are."""

from collections.abc import Sequence
from html import escape

from spanwise.evaluate.seeds import AcrossSeeds
from spanwise.evaluate.summary import PLAIN
from spanwise.report.gains import interval_text

HEADER = ("scheme", "accuracy %", "gain", "95 % interval", "same fold", "win/draw/lose", "seconds", "x plain")

ABOUT = {
    "plain": "the learner alone, trained on everything as it comes",
    "plain-same-fold": "the learner alone, on the rows that are left where others hold some back",
    "plain-ensemble": "independent plain learners, averaged; it chooses no span",
    "awe": "instances started at different times, judged on rows held back; the best of them or an ensemble predicts",
    "awe-literal": "awe exactly as the paper prints it",
    "awe-prequential": "awe, judged on each batch before training on it, so that nothing is held back",
    "vote": "instances started at different times, one vote each",
    "saol": "strongly adaptive online learning: weights by what each instance lost lately",
    "cbce": "coin betting for changing environments: weights by what each instance would have won in bets",
    "single-resolution": "instances that all live equally long",
    "spanwise": "averaged copies of the plain learner; younger instances play only while they have been better",
}
"""What a reader should know of the schemes by name."""


def table(lines: Sequence[AcrossSeeds], told: str) -> str:
    """All schemes, one line each, and what they are."""
    plain = next((line.seconds for line in lines if line.scheme == PLAIN), 0.0)
    head = "".join(f"<th>{name}</th>" for name in HEADER)
    body = "".join(table_row(i, line, plain, told) for i, line in enumerate(lines))
    known = [(line.scheme, ABOUT[line.scheme]) for line in lines if line.scheme in ABOUT]
    about = "".join(f"<dt>{escape(name)}</dt><dd>{escape(what)}</dd>" for name, what in known)
    return (
        '<section id="table"><h2>All schemes</h2><p class="reading">Gain: points of accuracy over the plain learner, '
        "green or red where its 95 % interval does not hold 0. Same fold: the gain over a plain learner that trains on "
        "the same rows as the scheme. Win, draw, lose: rounds in which it was more, equally or less accurate than the "
        "plain learner.</p>"
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        f"<details><summary>What these schemes are</summary><dl>{about}</dl></details></section>"
    )


def table_row(number: int, line: AcrossSeeds, plain: float, told: str) -> str:
    spread = f" ± {100 * line.accuracy_sd:.2f}" if line.accuracy_sd is not None else ""
    itself = line.scheme == PLAIN
    cells = (
        f"{100 * line.accuracy:.2f}{spread}" if line.accuracy is not None else "",
        f'<span class="{direction(line)}">{line.gain:+.2f}</span>' if line.gain is not None and not itself else "",
        "" if itself else interval_text(line),
        f"{line.gain_same_fold:+.2f}" if line.gain_same_fold is not None and not itself else "",
        f"{line.wins}/{line.draws}/{line.losses}" if line.wins is not None and not itself else "",
        f"{line.seconds:,.1f}",
        f"{line.seconds / plain:.1f}" if plain else "",
    )
    name = f'<span class="swatch swatch-{number}"></span>{escape(line.scheme)}'
    kind = ' class="told"' if line.scheme == told else ""
    return f"<tr{kind}>" + "".join(f"<td>{cell}</td>" for cell in (name, *cells)) + "</tr>"


def direction(line: AcrossSeeds) -> str:
    """Whether the gain is one, or a loss, or neither for sure."""
    if line.gain_low is None or line.gain_high is None:
        return ""
    return "up" if line.gain_low > 0 else "down" if line.gain_high < 0 else ""
