"""The sentences of a verdict, each about one thing; empty where there is nothing to say."""

from collections.abc import Sequence

from spanwise.evaluate.seeds import AcrossSeeds
from spanwise.evaluate.summary import PLAIN, SAME_FOLD
from spanwise.report.gains import ENSEMBLE, count, interval_text, lead, points

FEW_ROUNDS = 10
"""With fewer rounds than this, a sentence says that they are few."""


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


def without_ensemble(line: AcrossSeeds, ensemble: AcrossSeeds | None) -> str:
    """That a gain may not be one of choosing spans, where nothing else was there to bring it."""
    if line.scheme == ENSEMBLE or (ensemble is not None and ensemble.gain is not None):
        return ""
    return (
        "It was not compared with an ensemble of plain learners, which may gain as much without choosing a span: "
        f"run both, with --scheme {line.scheme} --scheme {ENSEMBLE}."
    )


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


def few_rounds(line: AcrossSeeds) -> str:
    """How little there was to judge by."""
    if not 0 < line.rounds < FEW_ROUNDS:
        return ""
    return (
        f"Only {count(line.rounds, 'round')} could be scored, so take this as a first sign: "
        "more rows, or shorter rounds (--every), make more of them."
    )


def seeds(line: AcrossSeeds) -> str:
    """How far chance moves the gain, which the interval does not cover; how to see that, where one seed was run."""
    if line.gain is None:
        return ""
    if line.gain_sd is None:
        return "One seed: --seeds 5 shows how far chance moves this, where the learner draws at random."
    if line.gain_sd == 0:
        return f"All {line.seeds} seeds did the same, as nothing is drawn at random: they say no more than one."
    return f"From seed to seed the gain moves by {line.gain_sd:.2f} points (standard deviation over {line.seeds})."
