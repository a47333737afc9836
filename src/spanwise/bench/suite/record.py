"""Play a stream with all the instances that anybody may want, and write down what they say.

A recording is a folder: `recording.json`, `index.npz` (labels, and who was alive when), `seconds.npy`, and
`logprobs.f32`, the bulk, which can be mapped into memory and read where it is asked for.
"""

import json
import os
import shutil
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from time import perf_counter
from typing import IO, Any, NamedTuple

import numpy as np

from spanwise.bench.folder import where
from spanwise.bench.suite.logprobs import LogProbs
from spanwise.core import rows
from spanwise.core.labels import Labels
from spanwise.core.loop import Engine, Loop, engine_for
from spanwise.core.pool import Pool
from spanwise.core.spans import Cover, Span
from spanwise.errors import DataError, SettingError
from spanwise.evaluate.protocol import pair, positions_labelled
from spanwise.learner import Array, Learner, adapt
from spanwise.streams.batch import Batch

FORMAT = 1
FLOAT = np.dtype("<f4")


def record(
    learner: object,
    stream: Iterable[Any],
    covers: Sequence[Cover],
    seed: int,
    path: str | os.PathLike[str],
    progress: Callable[[int], None] | None = None,
) -> None:
    """Play a stream with all the instances that any of `covers` wants, and write down what they say.

    The folder appears when it is whole; what a recording that was killed has left beside it is thrown away.

    Args:
        learner: any learner, or a scikit-learn or River classifier, or a torch module.
        stream: batches, or pairs `X, y`, without missing labels; gone through twice where it has no `classes`.
        covers: those of the schemes to be replayed.
        seed: of the run; schemes are replayed with the same.
        path: a folder to be.
        progress: called with the round when it is over.
    """
    path = Path(path)
    if path.exists():
        raise SettingError(f"{path} is there already: remove it to record anew")
    labels = Labels(classes_of(stream))
    pool = Pool(LogProbs(learner, len(labels)), seed)
    apart = runs_apart(adapt(learner))
    aside = path.with_name(f"{path.name}.new")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    taken: list[Taken] = []
    with (aside / "logprobs.f32").open("wb") as file:
        for t, item in enumerate(stream, start=1):
            batch = batch_of(item, t)
            _, y = labels.number(batch.y)
            pool.advance(wanted(covers, t))
            groups = [[span] for span in pool.spans] if apart else [pool.spans]
            taken.append(Taken(y, pool.spans, take(pool.engine, groups, batch.X, y, file), batch.shift))
            if progress is not None:
                progress(t)
    write_index(aside, taken)
    told = {"format": FORMAT, "seed": pool.seed, "classes": labels.classes, "where": where()}
    (aside / "recording.json").write_text(json.dumps(told) + "\n", encoding="utf-8")
    for one in aside.iterdir():
        with one.open("rb") as written:
            os.fsync(written.fileno())
    aside.replace(path)


class Taken(NamedTuple):
    """What is kept of a round beside the answers."""

    y: Array
    spans: list[Span]
    seconds: list[tuple[float, float]]  # of each span, to learn and to be asked
    shift: bool


def take(
    engine: Engine, groups: Sequence[Sequence[Span]], X: Any, y: Array, file: IO[bytes]
) -> list[tuple[float, float]]:
    """Ask all instances, write down what they say, train them; the seconds of a group are shared evenly."""
    asked: list[float] = []
    for group in groups:
        begin = perf_counter()
        said = engine.logits(group, X)
        asked += [(perf_counter() - begin) / len(group)] * len(group)
        file.writelines(one.astype(FLOAT, copy=False).tobytes() for one in said)
    X = rows.take(X, np.arange(len(y)))  # as a scheme that trains on all rows hands them on
    learned: list[float] = []
    for group in groups:
        begin = perf_counter()
        engine.learn(group, X, y)
        learned += [(perf_counter() - begin) / len(group)] * len(group)
    return list(zip(learned, asked, strict=True))


def runs_apart(learner: Learner) -> bool:
    """Whether instances share no work, so that each can be timed by itself."""
    engine = engine_for(learner)
    return type(engine) is Loop and engine.threads is None


def write_index(folder: Path, taken: Sequence[Taken]) -> None:
    if not taken:
        raise DataError("the stream has not a single round: there is nothing to record")
    np.savez(
        folder / "index.npz",
        y=np.concatenate([one.y for one in taken]).astype(np.int32),
        sizes=np.array([(len(one.y), len(one.spans)) for one in taken]),
        instances=np.array([(span.start, span.copy) for one in taken for span in one.spans], dtype=np.int32),
        shifts=np.array([one.shift for one in taken], dtype=bool),
    )
    np.save(folder / "seconds.npy", np.concatenate([one.seconds for one in taken]))


def classes_of(stream: Iterable[Any]) -> list[Hashable]:
    """The labels there will be, sorted."""
    given: Iterable[Any] | None = getattr(stream, "classes", None)
    if given is None:
        found = Labels()
        for t, item in enumerate(stream, start=1):
            found.number(batch_of(item, t).y)
        given = found.classes
    classes = Labels(sorted(given)).classes
    if not classes:
        raise DataError("the stream has not a single label: there is nothing to record")
    if not all(isinstance(label, str | int | float) for label in classes):
        raise DataError(f"classes {classes!r} cannot be written down: use strings or numbers")
    return classes


def batch_of(item: Any, t: int) -> Batch:
    """A round, all of whose rows have a label."""
    batch = item if isinstance(item, Batch) else pair(item, t)
    n, known = rows.count(batch.X), len(positions_labelled(batch, t))
    if known < n or not n:
        raise DataError(f"round {t} has {n} rows and {known} labels: drop rows and rounds without labels to record")
    return batch


def wanted(covers: Sequence[Cover], t: int) -> list[Span]:
    """The instances that any of `covers` keeps alive at round `t`; those with the same start and copy are one."""
    spans = [span for cover in covers for span in cover.active(t)]
    if any(span.kind in ("R", "B") for span in spans):
        raise SettingError("the paper's unmerged spans have seeds of their own and are not recorded: run them live")
    return sorted({Span(span.start, copy=span.copy) for span in spans})
