"""Framework 1: every round each model predicts a batch before its labels are known, is scored, then learns."""

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from spanwise.core import rows
from spanwise.core.labels import Labels, labelled
from spanwise.core.scheme import Scheme
from spanwise.errors import DataError
from spanwise.evaluate import metrics
from spanwise.evaluate.record import Record, Row, reported
from spanwise.evaluate.summary import Evaluation
from spanwise.learner import Array
from spanwise.streams.batch import Batch


def evaluate(
    models: Mapping[str, Scheme] | Scheme,
    stream: Iterable[Any],
    *,
    record: str | os.PathLike[str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Evaluation:
    """Play a stream with one or several models, all on the same batches.

    The first round with labels is not scored, as nothing had trained before it. Rows without a label
    are predicted and not scored; a round of nothing but such rows is skipped.

    >>> from spanwise.adapters.functions import majority_class
    >>> from spanwise.schemes.plain import Plain
    >>> rounds = [([[0.0]] * 4, ["sun", "sun", "rain", "sun"]), ([[0.0]] * 2, ["sun", "rain"])]
    >>> evaluate(Plain(majority_class()), rounds).accuracy_of("model")
    array([0.5])

    Args:
        models: schemes by name; one alone goes by "model". Gains are counted against the one named "plain"
            (the plain learner on all data), and "plain-same-fold" for schemes that hold rows back.
        stream: batches, or pairs `X, y`.
        record: a file that gets one JSON line a round and model, as the evaluation goes.
        progress: called with the round when it is over.
    """
    named = {"model": models} if isinstance(models, Scheme) else dict(models)
    lines: list[Row] = []
    learned = False
    with Record(record, named) as file:
        for t, item in enumerate(stream, start=1):
            batch = item if isinstance(item, Batch) else pair(item, t)
            known = positions_labelled(batch, t)
            for name, model in named.items():
                lines.append(play(Row(t, name, shift=batch.shift), model, batch, known, score=learned))
                file.write(lines[-1])
            learned = learned or len(known) > 0
            if progress is not None:
                progress(t)
    return Evaluation(lines)


def play(row: Row, model: Scheme, batch: Batch, known: Array, *, score: bool) -> Row:
    """One round of one model."""
    evidence = model.method.evidence
    holds_back = evidence.train_fraction < 1 or evidence.split is not None
    if not len(known):
        return replace(row, skipped=True, holds_back=holds_back)
    begin = perf_counter()
    proba = model.predict_proba(batch.X) if score else None
    seconds = perf_counter() - begin
    figures = scores(proba, model.classes, batch, known) if proba is not None else {}
    begin = perf_counter()
    report = model.learn(batch.X, batch.y)
    seconds += perf_counter() - begin
    return replace(row, n=len(known), holds_back=holds_back, seconds=seconds, **figures, **reported(report))


def scores(proba: Array, classes: Sequence[Hashable], batch: Batch, known: Array) -> dict[str, Any]:
    """The figures of a round, on its labelled rows; a class the model does not know yet is one it got wrong."""
    labels = Labels(classes, fixed=False)
    _, y = labels.number(batch.y)
    proba = proba[known]
    predicted = proba.argmax(axis=1)
    figures = {
        "accuracy": metrics.accuracy(y, predicted),
        "balanced_accuracy": metrics.balanced_accuracy(y, predicted),
        "macro_f1": metrics.macro_f1(y, predicted),
        "log_loss": metrics.log_loss(y, proba),
    }
    if batch.best is not None:
        _, best = labels.number(rows.take(batch.best, known))
        figures["regret"] = metrics.accuracy(y, best) - figures["accuracy"]
    return figures


def pair(item: Any, t: int) -> Batch:
    """A plain `X, y` as a batch."""
    try:
        X, y = item
    except (TypeError, ValueError):
        raise DataError(f"round {t} came as {type(item).__name__}: a stream yields batches, or pairs X, y") from None
    return Batch(X, y)


def positions_labelled(batch: Batch, t: int) -> Array:
    """The rows of a batch that have a label, which may be none of them."""
    if rows.count(batch.X) != rows.count(batch.y):
        raise DataError(
            f"round {t} has {rows.count(batch.X)} rows of features but {rows.count(batch.y)} labels: "
            "they must be as many"
        )
    return labelled(batch.y)
