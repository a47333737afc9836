"""Framework 1: every round each model predicts a batch before its labels are known, is scored, then learns."""

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Sized
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from spanwise.core import rows
from spanwise.core.labels import Labels, labelled
from spanwise.core.scheme import Scheme
from spanwise.errors import DataError
from spanwise.evaluate import metrics
from spanwise.evaluate.checkpoint import Checkpoint
from spanwise.evaluate.record import Record, Row, reported
from spanwise.evaluate.summary import PLAIN, Evaluation
from spanwise.learner import Array
from spanwise.streams.batch import Batch


def evaluate(
    models: Mapping[str, Scheme] | Scheme,
    stream: Iterable[Any],
    *,
    seed: int = 0,
    learn_last: bool = True,
    record: str | os.PathLike[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
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
        seed: what the models were made with; rows are marked with it.
        learn_last: False leaves out what nobody will be asked about: learning the last round of a stream that knows
            its length.
        record: a file that gets one JSON line a model at the end of each round.
        checkpoint: a folder where the models are put aside now and then. An evaluation that was interrupted goes on
            from there when it is made again with the same record and checkpoint.
        progress: called with the round when it is over.
    """
    aside = Checkpoint(checkpoint)
    named, done = aside.resume({"model": models} if isinstance(models, Scheme) else models)
    learned = any(model.round > 1 for model in named.values())
    last = len(stream) if not learn_last and isinstance(stream, Sized) else None
    with Record(record, named, seed, None if checkpoint is None else done) as file:
        lines = list(file.kept)
        for t, item in enumerate(stream, start=1):
            if t <= done:
                continue
            batch = item if isinstance(item, Batch) else pair(item, t)
            known = positions_labelled(batch, t)
            played = {
                name: play(
                    Row(t, name, seed=seed, shift=batch.shift), model, batch, known, score=learned, learn=t != last
                )
                for name, model in named.items()
            }
            plain = played[PLAIN][1] if PLAIN in played else None
            for row, right in played.values():
                lines.append(beside(row, right, plain))
                file.write(lines[-1])
            learned = learned or len(known) > 0
            aside.after(t, named)
            if progress is not None:
                progress(t)
    aside.remove()
    return Evaluation(lines)


def play(
    row: Row, model: Scheme, batch: Batch, known: Array, *, score: bool, learn: bool = True
) -> tuple[Row, Array | None]:
    """One round of one model: its row and, where it was scored, which of the labelled rows it got right.

    A learner may offer its own `clock()`, as one does that shares trained instances between schemes and
    counts what sharing saved as if it had been spent.
    """
    evidence = model.method.evidence
    holds_back = evidence.train_fraction < 1 or evidence.split is not None
    if not len(known):
        return replace(row, skipped=True, holds_back=holds_back), None
    clock: Callable[[], float] = getattr(model.method.learner, "clock", perf_counter)
    begin = clock()
    proba = model.predict_proba(batch.X) if score else None
    seconds = clock() - begin
    figures, right = scores(proba, model.classes, batch, known) if proba is not None else ({}, None)
    begin = clock()
    chosen = reported(model.learn(batch.X, batch.y)) if learn else {}
    seconds += clock() - begin
    return replace(row, n=len(known), holds_back=holds_back, seconds=seconds, **figures, **chosen), right


def scores(proba: Array, classes: Sequence[Hashable], batch: Batch, known: Array) -> tuple[dict[str, Any], Array]:
    """The figures of a round, on its labelled rows, and which of these were right.

    A class that the model does not know yet is one it got wrong.
    """
    labels = Labels(classes, fixed=False)
    _, y = labels.number(batch.y)
    proba = proba[known]
    predicted = proba.argmax(axis=1)
    right = predicted == y
    figures: dict[str, Any] = {
        "accuracy": metrics.accuracy(y, predicted),
        "balanced_accuracy": metrics.balanced_accuracy(y, predicted),
        "macro_f1": metrics.macro_f1(y, predicted),
        "log_loss": metrics.log_loss(y, proba),
        "by_class": by_class(labels, y, right),
    }
    if batch.best is not None:
        _, best = labels.number(rows.take(batch.best, known))
        figures["regret"] = metrics.accuracy(y, best) - figures["accuracy"]
    return figures, right


def by_class(labels: Labels, y: Array, right: Array) -> dict[str, tuple[int, int]]:
    """Label, as text -> (rows of it, rows of it that were right); labels that read the same are counted together."""
    rows_of, right_of = np.bincount(y, minlength=len(labels)), np.bincount(y[right], minlength=len(labels))
    found: dict[str, tuple[int, int]] = {}
    for number in np.flatnonzero(rows_of):
        n, correct = found.get(label := str(labels.classes[number]), (0, 0))
        found[label] = n + int(rows_of[number]), correct + int(right_of[number])
    return found


def beside(row: Row, right: Array | None, plain: Array | None) -> Row:
    """With the number of rows that it alone got right, and of those that the plain learner alone did."""
    if right is None or plain is None or row.scheme == PLAIN:
        return row
    return replace(row, ahead=int((right & ~plain).sum()), behind=int((plain & ~right).sum()))


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
