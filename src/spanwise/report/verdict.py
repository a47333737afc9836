"""Would it have helped? The answer in plain words, also when it is no.

A gain counts when its 95 % interval lies above 0, and a loss when it lies below. An interval that holds 0 is
one of two things: it leaves no room for a gain worth having, which is a no, or it is too wide to tell.
The interval speaks of other rows, not of other seeds, so that of one seed has to clear more than 0; and a
handful of rounds answers nothing. A gain that an ensemble of plain learners brings as well is not one of
choosing spans, and is called that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from spanwise.evaluate.seeds import AcrossSeeds
from spanwise.evaluate.summary import PLAIN, Evaluation
from spanwise.report import sentences
from spanwise.report.constant import beside_constant
from spanwise.report.gains import ENSEMBLE, count, known, lead, points

WORTH_HAVING = 0.5
"""Points of accuracy; less is hardly a gain, and the interval of one seed has to lie beyond it."""

FEWEST_ROUNDS = 5
"""Rounds scored below which there is neither a yes nor a no."""


class Answer(StrEnum):
    """What a verdict may be."""

    UNKNOWN = "unknown"
    FEW = "too few rounds"
    HARDLY = "about the same"
    HURT = "hurt"
    CLOSE = "too close to call"
    NO_HELP = "no help"
    ENSEMBLE = "an ensemble does as well"
    HELPED = "helped"


@dataclass(frozen=True)
class Verdict:
    """The answer, in one line and in a few sentences."""

    answer: Answer
    headline: str
    sentences: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join((self.headline, *self.sentences))


def verdict(lines: Sequence[AcrossSeeds], told: str, evaluations: Sequence[Evaluation] = ()) -> Verdict:
    """The verdict on one scheme.

    Args:
        lines: as `across` gives them.
        told: the scheme in question.
        evaluations: what `lines` are of, to compare with a constant; left out, that is not done.
    """
    by_name = {line.scheme: line for line in lines}
    line, plain, ensemble = by_name[told], by_name.get(PLAIN), by_name.get(ENSEMBLE)
    answer = answer_of(line, ensemble)
    told_of = (
        sentences.figures(line, plain),
        beside_constant(evaluations, told),
        sentences.beside_ensemble(line, ensemble),
        sentences.without_ensemble(line, ensemble) if answer == Answer.HELPED else "",
        sentences.beside_others(line, lines),
        sentences.held_back(line),
        sentences.price(line, plain),
        sentences.few_rounds(line),
        sentences.seeds(line),
    )
    return Verdict(answer, headline(answer, line), tuple(sentence for sentence in told_of if sentence))


def answer_of(line: AcrossSeeds, ensemble: AcrossSeeds | None) -> Answer:
    """The first answer that holds, in the order of the table in docs/report.md."""
    found = known(line)
    if found is None:
        return Answer.UNKNOWN
    low, gain, high = found
    one_seed = line.seeds == 1 or line.gain_sd == 0  # the same run several times
    bar = WORTH_HAVING if one_seed else 0.0
    holds = {
        Answer.FEW: line.rounds < FEWEST_ROUNDS,
        Answer.HARDLY: one_seed and not low <= 0 <= high and abs(gain) < WORTH_HAVING,
        Answer.HURT: high < -bar,
        Answer.CLOSE: low <= bar and high >= WORTH_HAVING,
        Answer.NO_HELP: low <= bar,
        Answer.ENSEMBLE: not surely_ahead(line, ensemble),
        Answer.HELPED: True,
    }
    return next(answer for answer, so in holds.items() if so)


def surely_ahead(line: AcrossSeeds, ensemble: AcrossSeeds | None) -> bool:
    """Whether a gain is more than that of plain learners averaged, as far as that is known."""
    over = None if ensemble is None or ensemble.scheme == line.scheme else lead(line, ensemble)
    return over is None or over[0] > 0


def headline(answer: Answer, line: AcrossSeeds) -> str:
    """The answer in one line."""
    name, gain, rounds = line.scheme, line.gain or 0.0, count(line.rounds, "round")
    return {
        Answer.UNKNOWN: f"Whether {name} would have helped cannot be told from this run.",
        Answer.FEW: f"Too few rounds to tell whether {name} would have helped: {gain:+.2f} points over {rounds}.",
        Answer.HARDLY: f"Hardly: {name} would have been about the same, at {gain:+.2f} points.",
        Answer.HURT: f"No: {name} would have hurt, by {points(-gain)}.",
        Answer.CLOSE: f"Too close to call: {name} may or may not have helped.",
        Answer.NO_HELP: f"No: {name} would not have helped.",
        Answer.ENSEMBLE: f"{name} would have helped, but so does an ensemble of plain learners.",
        Answer.HELPED: f"Yes: {name} would have helped, by {points(gain)}.",
    }[answer]
