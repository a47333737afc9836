"""A recording replayed: a new idea of whom to believe costs seconds, not hours.

What an instance says is decided by the learner, the run's seed, its start and its copy, and not by the scheme that
asks, as long as schemes train on all rows. So `record` trains one pool of all the instances that any cover wants, and
asks them about every round before they train on it. A scheme made around `Recording.learner()` then plays as it would
have played live around `LogProbs(learner, classes)`, bit for bit.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from time import perf_counter
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np

from spanwise.bench.suite.record import FLOAT, FORMAT, batch_of
from spanwise.core.labels import Labels
from spanwise.core.pool import seed_of
from spanwise.core.spans import Span
from spanwise.errors import DataError, SettingError, SnapshotError
from spanwise.learner import Array
from spanwise.streams.batch import Batch


class Recording:
    """A recording, as a stream of its rounds and as a learner that answers from it.

    Args:
        path: where `record` wrote it.

    Attributes:
        classes: the labels, sorted; pass them to every scheme.
        seed: of the run.
        where: it was made: the machine and the versions, in words. Early ones did not say.
        stream: the rounds; X holds the number of each row, y its label.
        instances: (start, copy) of the instances alive, round after round.
        seconds: what each of them took to learn the round, and to be asked about it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            told = json.loads((self.path / "recording.json").read_bytes())
            with np.load(BytesIO((self.path / "index.npz").read_bytes()), allow_pickle=False) as index:
                self.y, sizes, self.instances, self.shifts = (
                    index[name] for name in ("y", "sizes", "instances", "shifts")
                )
            self.seconds: Array = np.load(self.path / "seconds.npy", allow_pickle=False)
            self.logprobs = np.memmap(self.path / "logprobs.f32", FLOAT, mode="r")
            self.format, self.seed, self.classes = told["format"], told["seed"], list(told["classes"])
            self.where: str = told.get("where", "")
        except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
            raise SnapshotError(f"{path} is no recording, or a torn one ({error}): record it anew") from error
        if self.format != FORMAT:
            raise SnapshotError(f"{path} has format {self.format}, this version reads {FORMAT}: record it anew")
        values = sizes.prod(axis=1) * len(self.classes)
        self.row_ends, self.instance_ends, self.ends = (
            np.concatenate([[0], np.cumsum(counts)]) for counts in (sizes[:, 0], sizes[:, 1], values)
        )
        if (len(self.y), len(self.seconds), len(self.logprobs)) != (
            self.row_ends[-1],
            self.instance_ends[-1],
            self.ends[-1],
        ):
            raise SnapshotError(f"{path} is torn: its files do not fit together. Remove it and record it anew")

    @property
    def stream(self) -> "Rounds":
        return Rounds(self)

    def learner(self) -> "Replayed":
        """Any scheme can be made around it that trains on all rows, with `classes` and `seed` of this recording."""
        return Replayed(self)

    def check_is_of(self, stream: Iterable[Any]) -> None:
        """Refuse a stream whose rounds have other labels than those recorded: it was changed since."""
        for t, (recorded, item) in enumerate(zip_longest(self.stream, stream), start=1):
            now = None if item is None else batch_of(item, t).y
            if now is None or recorded is None or not np.array_equal(np.asarray(now), np.asarray(recorded.y)):
                raise SettingError(
                    f"{self.path} was recorded of another stream: they part at round {t}. Remove that folder, and the "
                    "scores of the stream, to play it as it is now"
                )

    def round_of(self, X: Any) -> tuple[int, Array]:
        """Which round these rows belong to, and their positions in it."""
        if not isinstance(X, np.ndarray) or X.dtype.kind != "i" or X.ndim != 2 or X.shape[1] != 1 or not len(X):
            raise DataError("these rows are none of a recording: play its own `stream`, whose rows are numbers")
        numbers = X[:, 0]
        t = int(np.searchsorted(self.row_ends, numbers[0], side="right"))
        if numbers.min() < self.row_ends[t - 1] or numbers.max() >= self.row_ends[min(t, len(self.row_ends) - 1)]:
            raise SettingError(
                "rows of several rounds were asked for at once: a recording has what was said of each round before "
                "training on it, and nothing later. Run schemes that hold rows out live"
            )
        return t, numbers - self.row_ends[t - 1]

    def places(self, t: int, spans: Sequence[Span]) -> list[int]:
        """Where the instances of round `t` are, among `instances`."""
        begin, end = self.instance_ends[t - 1 : t + 1]
        known = {(start, copy): i for i, (start, copy) in enumerate(self.instances[begin:end].tolist(), start=begin)}
        missing = [(span.start, span.copy) for span in spans if (span.start, span.copy) not in known]
        if missing:
            raise SettingError(
                f"start {missing[0][0]}, copy {missing[0][1]} was not recorded for round {t}: "
                f"record {self.path} anew with a cover that keeps it alive"
            )
        return [known[span.start, span.copy] for span in spans]

    def said(self, t: int) -> Array:
        """(instances, n, classes): what everybody alive said of round `t` before training on it."""
        flat = np.asarray(self.logprobs[self.ends[t - 1] : self.ends[t]])
        return flat.reshape(-1, self.row_ends[t] - self.row_ends[t - 1], len(self.classes))


class Rounds:
    """The rounds of a recording, as a stream."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.classes = recording.classes

    def __len__(self) -> int:
        return len(self.recording.shifts)

    def __iter__(self) -> Iterator[Batch]:
        labels, ends = Labels(self.classes), self.recording.row_ends
        for begin, end, shift in zip(ends, ends[1:], self.recording.shifts.tolist(), strict=False):
            yield Batch(np.arange(begin, end)[:, None], labels.names(self.recording.y[begin:end]), shift)


class Replayed:
    """A learner whose instances answer from a recording; it takes none but the rows of its stream."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.charged = 0.0

    def engine(self) -> "Replay":
        return Replay(self)

    def clock(self) -> float:
        """Seconds, as they would have passed had the instances been trained and asked."""
        return perf_counter() + self.charged

    def fresh(self, seed: int) -> Self:
        return type(self)(self.recording)

    def learn(self, X: Any, y: Array) -> None:
        raise SettingError("a recording knows no learner on its own: make a scheme around it")

    def logits(self, X: Any) -> Array:
        raise SettingError("a recording knows no learner on its own: make a scheme around it")


class Replay:
    """A pool that learned long ago. It checks that what it is told to do is what was done."""

    def __init__(self, learner: Replayed, learned: int = 0) -> None:
        self.learner = learner
        self.recording = learner.recording
        self.learned = learned  # rounds

    def start(self, span: Span, seed: int) -> None:
        if seed != seed_of(self.recording.seed, Span(span.start, copy=span.copy)):
            raise SettingError(
                f"{self.recording.path} was recorded with seed {self.recording.seed}, spans of one start merged: "
                "replay it with that seed, and run the paper's unmerged pool live"
            )
        if span.start != self.learned + 1:
            raise SettingError(
                f"start {span.start} is to begin at round {self.learned + 1}: what was recorded began at its start"
            )

    def retire(self, span: Span) -> None:
        pass

    def learn(self, spans: Sequence[Span], X: Any, y: Array) -> None:
        begin = perf_counter()
        t, at = self._now(X)
        n = int(self.recording.row_ends[t] - self.recording.row_ends[t - 1])
        if not np.array_equal(at, np.arange(n)):
            raise SettingError(
                f"{len(at)} rows of round {t} are to be trained on, but the recorded instances have trained on all "
                f"{n}, in order: run schemes that hold rows out live"
            )
        if not np.array_equal(y, self.recording.y[self.recording.row_ends[t - 1] : self.recording.row_ends[t]]):
            raise SettingError(
                f"the labels of round {t} are not numbered as in {self.recording.path}: make the scheme with "
                "classes=recording.classes"
            )
        self.learned = t
        self._charge(0, self.recording.places(t, spans), begin)

    def logits(self, spans: Sequence[Span], X: Any) -> list[Array]:
        begin = perf_counter()
        t, at = self._now(X)
        said, places = self.recording.said(t), self.recording.places(t, spans)
        first = self.recording.instance_ends[t - 1]
        whole = np.array_equal(at, np.arange(said.shape[1]))
        answers = [said[place - first] if whole else said[place - first][at] for place in places]
        self._charge(1, places, begin)
        return answers

    def copy(self) -> Self:
        return type(self)(self.learner, self.learned)

    def state(self, span: Span, *, pickle: bool) -> Mapping[str, Any]:
        return {"learned": self.learned}

    def restore(self, span: Span, seed: int, state: Mapping[str, Any], *, pickle: bool) -> None:
        self.learned = state["learned"]

    def _now(self, X: Any) -> tuple[int, Array]:
        t, at = self.recording.round_of(X)
        if t != self.learned + 1:
            raise SettingError(
                f"rows of round {t} came after {self.learned} rounds were learned: a recording has what was said of "
                "each round just before training on it, so it is played from its first round on, round by round"
            )
        return t, at

    def _charge(self, column: int, places: Sequence[int], begin: float) -> None:
        """Count what it took then, instead of what it takes to look it up."""
        then = float(self.recording.seconds[places, column].sum())
        self.learner.charged += then - (perf_counter() - begin)
