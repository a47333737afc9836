"""What a round did, in numbers that a person can check."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from spanwise.core.choice import Model
from spanwise.core.pool import Pool
from spanwise.core.refine import Estimate
from spanwise.core.spans import Span


@dataclass(frozen=True)
class RoundReport:
    """One call of `learn`.

    Attributes:
        round: the round just learned, t.
        starts: the starts alive for round t + 1, ascending.
        estimates: estimated accuracy by start, of those judged; with several spans a start, of the best. Empty
            where a scheme keeps no evidence of that kind, as `Spanwise`.
        windows: over how many of the last rounds each estimate was made, by start.
        weights: by start, of the ensemble that was considered, chosen or not; of what predicts, if several were.
            Those of a regression are powers: they need not sum to 1, and may be negative.
        chosen: who predicts round t + 1: a start, or the name of a combination: "ensemble" of `AWE`; "copies",
            "mixture" or "regression" of `Spanwise`.
        accuracy: of what was played in round t, on its labelled rows; None where nothing that played had trained.
        instances: every span alive for round t + 1.
        seconds: spent learning, scoring and in all.
        why: the choice in words and figures, where the scheme has some beyond the estimates.
    """

    round: int
    starts: tuple[int, ...]
    estimates: Mapping[int, float]
    windows: Mapping[int, int]
    weights: Mapping[int, float]
    chosen: int | str
    accuracy: float | None
    instances: tuple[Span, ...]
    seconds: Mapping[str, float]
    why: str = ""

    @property
    def span(self) -> int | None:
        """Rounds of history behind the model that predicts next; None where several are combined."""
        return None if isinstance(self.chosen, str) else self.round + 1 - self.chosen

    def line(self) -> dict[str, Any]:
        """As a dict for one line of JSON."""
        return asdict(self)


def report_of(
    round: int,
    pool: Pool,
    estimates: Mapping[Span, Estimate],
    candidates: Sequence[Model],
    current: Model,
    played: float | None,
    why: str,
) -> RoundReport:
    """The report of a round, from what it left behind."""
    best = by_start(estimates)
    return RoundReport(
        round=round,
        starts=tuple(sorted({span.start for span in pool.spans})),
        estimates={start: estimate.accuracy for start, estimate in best.items()},
        windows={start: estimate.window for start, estimate in best.items()},
        weights=weights_of(candidates, current),
        chosen=current.name.start if isinstance(current.name, Span) else current.name,
        accuracy=played,
        instances=tuple(pool.spans),
        seconds=dict(pool.seconds),
        why=why,
    )


def by_start(estimates: Mapping[Span, Estimate]) -> dict[int, Estimate]:
    """The best estimate of each start; the coarsest span among equals, which comes first."""
    best: dict[int, Estimate] = {}
    for span, estimate in estimates.items():
        if span.start not in best or estimate.accuracy > best[span.start].accuracy:
            best[span.start] = estimate
    return best


def weights_of(candidates: Sequence[Model], current: Model) -> dict[int, float]:
    """The weights of what predicts, or of the one combination that was considered beside an instance; by start."""
    considered = [model for model in candidates if isinstance(model.name, str)]
    beside = isinstance(current.name, Span) and len(considered) == 1
    total: dict[int, float] = {}
    for span, weight in (considered[0] if beside else current).weights.items():
        total[span.start] = total.get(span.start, 0.0) + weight
    return total
