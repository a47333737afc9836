"""Would it have helped? The answer in plain words, also when it is no.

A gain counts when its 95 % interval lies above 0, and a loss when it lies below. An interval that holds 0 is
one of two things: it leaves no room for a gain worth having, which is a no, or it is too wide to tell.
A gain that an ensemble of plain learners brings as well is not one of choosing spans, and is called that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import hypot

from spanwise.evaluate.seeds import AcrossSeeds
from spanwise.evaluate.summary import PLAIN, SAME_FOLD

ENSEMBLE = "plain-ensemble"
"""The scheme that averages independent plain learners, and knows nothing of spans."""

WORTH_HAVING = 0.5
"""Points of accuracy; an interval that holds 0 and ends below this is a no."""

FEW_ROUNDS = 10
"""With fewer rounds than this, the verdict says that they are few."""


class Answer(StrEnum):
    """What a verdict may be."""

    HELPED = "helped"
    ENSEMBLE = "an ensemble does as well"
    CLOSE = "too close to call"
    NO_HELP = "no help"
    HURT = "hurt"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Verdict:
    """The answer, in one line and in a few sentences."""

    answer: Answer
    headline: str
    sentences: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join((self.headline, *self.sentences))


def verdict(lines: Sequence[AcrossSeeds], told: str) -> Verdict:
    """The verdict on one scheme.

    Args:
        lines: as `across` gives them.
        told: the scheme in question.
    """
    by_name = {line.scheme: line for line in lines}
    line, plain, ensemble = by_name[told], by_name.get(PLAIN), by_name.get(ENSEMBLE)
    answer = answer_of(line, ensemble)
    told_of = (
        figures(line, plain),
        beside_ensemble(line, ensemble),
        beside_others(line, lines),
        held_back(line),
        price(line, plain),
        doubts(line),
    )
    return Verdict(answer, headline(answer, line), tuple(sentence for sentence in told_of if sentence))


def answer_of(line: AcrossSeeds, ensemble: AcrossSeeds | None) -> Answer:
    """Which of the answers it is."""
    found = known(line)
    if found is None:
        return Answer.UNKNOWN
    low, _, high = found
    if high < 0:
        return Answer.HURT
    if low <= 0:
        return Answer.NO_HELP if high < WORTH_HAVING else Answer.CLOSE
    over = None if ensemble is None or ensemble.scheme == line.scheme else lead(line, ensemble)
    return Answer.ENSEMBLE if over is not None and over[0] <= 0 else Answer.HELPED


def lead(line: AcrossSeeds, other: AcrossSeeds) -> tuple[float, float] | None:
    """Between what values the gain of one scheme over another lies, in points; None where it is not known.

    Both are known by their gains over the plain learner alone. Their errors are added as if they were
    independent; on the same rows they mostly go together, so that the interval is rather too wide.
    """
    ours, theirs = known(line), known(other)
    if ours is None or theirs is None:
        return None
    low, gain, high = ours
    other_low, other_gain, other_high = theirs
    ahead = gain - other_gain
    return ahead - hypot(gain - low, other_high - other_gain), ahead + hypot(high - gain, other_gain - other_low)


def known(line: AcrossSeeds) -> tuple[float, float, float] | None:
    """The gain between the ends of its interval, if all three are known."""
    if line.gain is None or line.gain_low is None or line.gain_high is None:
        return None
    return line.gain_low, line.gain, line.gain_high


def headline(answer: Answer, line: AcrossSeeds) -> str:
    name = line.scheme
    return {
        Answer.HELPED: f"Yes: {name} would have helped, by {points(line.gain)}.",
        Answer.ENSEMBLE: f"{name} would have helped, but so does an ensemble of plain learners.",
        Answer.CLOSE: f"Too close to call: {name} may or may not have helped.",
        Answer.NO_HELP: f"No: {name} would not have helped.",
        Answer.HURT: f"No: {name} would have hurt, by {points(-(line.gain or 0.0))}.",
        Answer.UNKNOWN: f"Whether {name} would have helped cannot be told from this run.",
    }[answer]


def figures(line: AcrossSeeds, plain: AcrossSeeds | None) -> str:
    """Both accuracies, and the gain with its interval."""
    if line.accuracy is None:
        return "No round was scored: the first only trains, so at least two rounds with labels are needed."
    right = f"It was right on {100 * line.accuracy:.2f} % of rows, averaged over {count(line.rounds, 'round')}"
    if plain is None or plain.accuracy is None or line.gain is None:
        return f"{right}; the plain learner was not run beside it, so there is nothing to compare with."
    ahead = "equals it" if line.gain == 0 else f"{'gains' if line.gain > 0 else 'loses'} {points(abs(line.gain))}"
    within = f" (95 % interval {interval_text(line)})" if interval_text(line) else ""
    return (
        f"{right}; the plain learner, trained on all the past, on {100 * plain.accuracy:.2f} %. So it {ahead}{within}."
    )


def beside_ensemble(line: AcrossSeeds, ensemble: AcrossSeeds | None) -> str:
    """How it stands against plain learners averaged."""
    if ensemble is None or ensemble.gain is None or ensemble.scheme == line.scheme:
        return ""
    gained = f"{ensemble.gain:+.2f} points" + (f" ({interval_text(ensemble)})" if interval_text(ensemble) else "")
    over = lead(line, ensemble)
    if over is None:
        return f"An ensemble of plain learners, which chooses no span, stands at {gained}."
    if over[0] > 0:
        return f"That is more than an ensemble of plain learners gives, which chooses no span: {gained}."
    if over[1] < 0:
        return f"An ensemble of plain learners, which chooses no span, does better: {gained}."
    return f"An ensemble of plain learners, which chooses no span, does about as well: {gained}."


def beside_others(line: AcrossSeeds, lines: Sequence[AcrossSeeds]) -> str:
    """The best of the other schemes, where it is clearly better than this one."""
    others = [one for one in lines if one.scheme not in (line.scheme, PLAIN, SAME_FOLD, ENSEMBLE)]
    better = [one for one in others if (over := lead(one, line)) is not None and over[0] > 0]
    if not better:
        return ""
    best = max(better, key=lambda one: one.gain or 0.0)
    return (
        f"Of the other schemes, {best.scheme} did better ({best.gain:+.2f} points, {interval_text(best)}); "
        "but the best of several, picked afterwards, always looks better than it is."
    )


def held_back(line: AcrossSeeds) -> str:
    """What the rows cost that it did not train on."""
    if line.gain is None or line.gain_same_fold is None or abs(line.gain - line.gain_same_fold) < 0.01:
        return ""
    return (
        f"It holds rows back from training to judge with; against a plain learner that trains on the same rows, "
        f"it stands at {line.gain_same_fold:+.2f} points."
    )


def price(line: AcrossSeeds, plain: AcrossSeeds | None) -> str:
    """How much longer it takes."""
    if plain is None or plain.seconds <= 0:
        return ""
    times = line.seconds / plain.seconds
    return (
        f"It takes {times:.1f} times the plain learner's seconds ({line.seconds:.1f} s against {plain.seconds:.1f} s)."
    )


def doubts(line: AcrossSeeds) -> str:
    """What the interval does not cover."""
    few = f"Only {count(line.rounds, 'round')} could be scored, so take this as a first sign."
    moves = (
        f"From seed to seed the gain moves by {line.gain_sd or 0.0:.2f} points (standard deviation over {line.seeds})."
    )
    seeds = moves if line.gain_sd is not None else "One seed was run; another may move the gain a little."
    return " ".join([few] * (0 < line.rounds < FEW_ROUNDS) + [seeds] * (line.gain is not None))


def interval_text(line: AcrossSeeds) -> str:
    """The interval of a gain in words; nothing where it is not known."""
    found = known(line)
    return "" if found is None else f"{found[0]:+.2f} to {found[2]:+.2f}"


def points(value: float | None) -> str:
    """So many points of accuracy.

    >>> points(2.344)
    '2.34 points'
    """
    return f"{value or 0.0:.2f} points"


def count(number: int, noun: str) -> str:
    """So many of something.

    >>> count(1, "round"), count(1200, "round")
    ('1 round', '1,200 rounds')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
