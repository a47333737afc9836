"""What each interval lost in a round, for schemes that weigh intervals by their losses."""

from collections.abc import Mapping, Sequence

from spanwise.core.choice import Model, Single, Weighted, answers
from spanwise.core.pool import Pool, Scores
from spanwise.core.spans import Span
from spanwise.learner import Array


def error(model: Model, said: Scores, y: Array) -> float:
    """The share of the batch that `model` got wrong before anybody trained on it."""
    return float((answers(model, said) != y).mean())


def errors(intervals: Sequence[Span], said: Scores, y: Array) -> dict[Span, float]:
    """The error of each interval's instance; intervals with the same start share one."""
    instance = instances(said.pool)
    said.of([instance[start] for start in sorted({span.start for span in intervals})])  # at once
    by_start = {start: error(Single(instance[start]), said, y) for start in {span.start for span in intervals}}
    return {span: by_start[span.start] for span in intervals}


def instances(pool: Pool) -> dict[int, Span]:
    """The instance of each start."""
    return {span.start: span for span in reversed(pool.spans)}


def mixture(weights: Mapping[Span, float], pool: Pool, name: str) -> Weighted:
    """The weighted mean of softmax, the weights of intervals added up by instance."""
    instance, total = instances(pool), sum(weights.values())
    by_span: dict[Span, float] = {}
    for interval, weight in weights.items():
        span = instance[interval.start]
        by_span[span] = by_span.get(span, 0.0) + weight / total
    return Weighted(by_span, "softmax", name)
