"""What came of an evaluation: one line a scheme, and series to draw."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np

from spanwise.errors import SettingError, UnknownNameError
from spanwise.evaluate.record import Row
from spanwise.learner import Array

PLAIN = "plain"
"""The plain learner on all data, which gains, wins and losses are counted against."""

SAME_FOLD = "plain-same-fold"
"""The plain learner on the training folds of the schemes that hold rows back."""


@dataclass(frozen=True)
class Summary:
    """One scheme over a whole stream; None where a figure is not known.

    Attributes:
        scheme: its name.
        rounds: rounds scored.
        skipped: rounds without a label.
        accuracy, balanced_accuracy, macro_f1, log_loss: means over the rounds scored, as in the paper.
        gain: mean difference in accuracy against `plain`, in points.
        gain_same_fold: the same against the plain learner on the rows that this scheme trains on.
        wins, draws, losses: rounds more, equally and less accurate than `plain`.
        regret: mean over rounds of the best classifier's accuracy minus ours.
        dynamic_regret: the sum of the same.
        seconds: spent predicting and learning.
    """

    scheme: str
    rounds: int
    skipped: int
    accuracy: float | None
    balanced_accuracy: float | None
    macro_f1: float | None
    log_loss: float | None
    gain: float | None
    gain_same_fold: float | None
    wins: int | None
    draws: int | None
    losses: int | None
    regret: float | None
    dynamic_regret: float | None
    seconds: float


class Evaluation:
    """The rows of an evaluation, from a run just made or from a record: `Evaluation(read("run.jsonl"))`.

    All are of one seed; `seeds.by_seed` takes a record of several apart.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)
        seeds = sorted({row.seed for row in self.rows})
        if len(seeds) > 1:
            raise SettingError(
                f"these rows are of seeds {', '.join(map(str, seeds))}, and an evaluation is of one: "
                "take them apart with spanwise.evaluate.seeds.by_seed"
            )

    @property
    def schemes(self) -> list[str]:
        """Their names, in the order in which they were run."""
        return list(dict.fromkeys(row.scheme for row in self.rows))

    @property
    def shifts(self) -> list[int]:
        """The rounds at which the stream says that it shifted."""
        return sorted({row.round for row in self.rows if row.shift})

    def summary(self) -> list[Summary]:
        """One line a scheme."""
        return [self._summary(name) for name in self.schemes]

    def accuracy_of(self, name: str) -> Array:
        """Accuracy by scored round."""
        return np.array([row.accuracy for row in self.scored(name)])

    def scored(self, name: str) -> list[Row]:
        """The rows of a scheme that were scored, by round."""
        return [row for row in self._rows(name) if row.accuracy is not None]

    def differences(self, name: str, baseline: str = PLAIN) -> dict[int, float]:
        """Accuracy minus the baseline's, by round that both were scored in; nothing without a baseline.

        Against `plain` it is told by the rows that only one of the two got right, where they were counted: that was the
        plain learner played beside this scheme, also where the rows of several runs were put together.
        """
        if baseline not in self.schemes:
            return {}
        theirs = {row.round: row.accuracy for row in self.scored(baseline)}
        found: dict[int, float] = {}
        for row in self.scored(name):
            if baseline == PLAIN and row.ahead is not None and row.behind is not None:
                found[row.round] = (row.ahead - row.behind) / row.n
            elif row.accuracy is not None and (other := theirs.get(row.round)) is not None:
                found[row.round] = row.accuracy - other
        return found

    def chosen_spans(self, name: str) -> list[tuple[int, int | str]]:
        """By scored round, what predicted it: rounds of history behind one instance, or a combination's name."""
        spans: list[tuple[int, int | str]] = []
        before: int | str | None = None
        for row in self._rows(name):
            if row.accuracy is not None and before is not None:
                spans.append((row.round, before))
            if row.chosen is not None:
                before = row.chosen if row.span is None else row.span
        return spans

    def _rows(self, name: str) -> list[Row]:
        if name not in self.schemes:
            raise UnknownNameError(f"no scheme {name!r} was evaluated here: choose from {', '.join(self.schemes)}")
        return [row for row in self.rows if row.scheme == name]

    def _summary(self, name: str) -> Summary:
        rows, scored = self._rows(name), self.scored(name)
        ahead = list(self.differences(name).values())
        regrets = _known(scored, lambda row: row.regret)
        held_back = any(row.holds_back for row in rows)
        same_fold = list(self.differences(name, SAME_FOLD).values()) if held_back else ahead
        return Summary(
            scheme=name,
            rounds=len(scored),
            skipped=sum(row.skipped for row in rows),
            accuracy=_mean(_known(scored, lambda row: row.accuracy)),
            balanced_accuracy=_mean(_known(scored, lambda row: row.balanced_accuracy)),
            macro_f1=_mean(_known(scored, lambda row: row.macro_f1)),
            log_loss=_mean(_known(scored, lambda row: row.log_loss)),
            gain=_mean(ahead, scale=100),
            gain_same_fold=_mean(same_fold, scale=100),
            wins=sum(difference > 0 for difference in ahead) if ahead else None,
            draws=sum(difference == 0 for difference in ahead) if ahead else None,
            losses=sum(difference < 0 for difference in ahead) if ahead else None,
            regret=_mean(regrets),
            dynamic_regret=fsum(regrets) if regrets else None,
            seconds=fsum(row.seconds for row in rows),
        )


def _known(rows: Sequence[Row], figure: Callable[[Row], float | None]) -> list[float]:
    return [value for row in rows if (value := figure(row)) is not None]


def _mean(values: Sequence[float], scale: float = 1.0) -> float | None:
    return scale * fsum(values) / len(values) if values else None
