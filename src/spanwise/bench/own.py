"""Your own data: a stream from your file, a learner that suits it, and a folder with all that came of a run.

A run that was interrupted goes on when it is started again with the same settings: seeds that are done are
not played again, and the one that was going on is taken up from its last checkpoint.
"""

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from spanwise import catalog
from spanwise.bench import suited
from spanwise.bench.folder import made_with, take, write_parquet
from spanwise.core.scheme import Scheme
from spanwise.errors import DataError, LabelError, SettingError
from spanwise.evaluate import Evaluation, compare, read
from spanwise.evaluate.seeds import across, by_seed
from spanwise.evaluate.summary import PLAIN
from spanwise.learner import adapt
from spanwise.report.table import HEADER_ACROSS, cells_across, markdown
from spanwise.report.verdict import Verdict
from spanwise.schemes.spanwise import copies_of, ensemble_size

SCHEMES = ("plain-ensemble", "spanwise", "awe-prequential", "awe", "vote", "saol")
TOLD = "spanwise"
"""What the report is about where it is among the schemes; else the first of those given."""

EMBEDDED = {"rounds": 120, "size": 60}
"""The digits that are played where no file is given."""


@dataclass(frozen=True, kw_only=True)
class Data:
    """What to read; without a file, digits that turn.

    Attributes:
        file: CSV, Parquet, JSON lines or NPZ.
        label, time, time_format, every, text, image, features, drop: as for `FileStream`.
    """

    file: str | None = None
    label: str | None = None
    time: str | None = None
    time_format: str | None = None
    every: str = "month"
    text: str | None = None
    image: str | None = None
    features: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        columns = ("label", "time", "time_format", "text", "image", "features", "drop")
        given = [name for name in columns if getattr(self, name)]
        if self.file is None and given:
            raise SettingError(f"{', '.join(given)} name columns of a file, and there is no file: name it too")

    def open(self) -> Any:
        """The stream, which has something to score and something to tell apart."""
        if self.file is None:
            return catalog.find(catalog.STREAMS, "digits")(**EMBEDDED)
        every = int(self.every) if self.every.isdecimal() else self.every
        stream = import_module("spanwise.streams.files").FileStream(  # not at the top, as it needs pyarrow
            self.file,
            label=self.label,
            time=self.time,
            time_format=self.time_format,
            every=every,
            text=self.text,
            image=self.image,
            features=self.features or None,
            drop=self.drop,
        )
        check_playable(stream, self.file)
        return stream

    @property
    def kind(self) -> str:
        """What learners have to be made for: array, text, images or columns."""
        if self.file is None:
            return "array"
        if self.image is not None:
            return "images"
        return "text" if self.text is not None and not self.features else "columns"


@dataclass(frozen=True, kw_only=True)
class How:
    """Who learns, by which schemes, how often.

    Attributes:
        learner: a name of the catalog, or "module:name" of your own; None for what suits the data.
        schemes: names of the catalog.
        encoder: folder of a pretrained encoder of texts.
        device: of networks.
        seeds: how many, from 0.
    """

    learner: str | None = None
    schemes: tuple[str, ...] = SCHEMES
    encoder: str | None = None
    device: str | None = None
    seeds: int = 1

    def __post_init__(self) -> None:
        if set(self.schemes) <= {PLAIN}:
            raise SettingError("the plain learner is there in any case: name a scheme to compare with it")

    @property
    def told(self) -> str:
        """What the report is about."""
        return TOLD if TOLD in self.schemes else next(name for name in self.schemes if name != PLAIN)


@dataclass(frozen=True)
class Run:
    """One comparison of schemes on your data, kept in a folder.

    Args:
        data: what to read.
        how: who learns.
        folder: where all goes: config.json, rounds.jsonl, table.md, table.parquet, report.html.
    """

    data: Data
    how: How
    folder: Path

    @property
    def settings(self) -> dict[str, Any]:
        """As they are written down."""
        what = {"stream": "digits", **EMBEDDED} if self.data.file is None else asdict(self.data)
        settings: dict[str, Any] = json.loads(json.dumps({**what, **asdict(self.how)}))
        return settings

    @property
    def record(self) -> Path:
        return self.folder / "rounds.jsonl"

    def begin(self) -> None:
        """Take possession of the folder."""
        begun = self.record.exists() and self.record.stat().st_size > 0
        mine = suited.source(self.how.learner) if self.how.learner else None
        take(self.folder, self.settings, {"file": self.data.file, "learner's code": mine}, begun=begun)

    def learner(self, stream: Any) -> Any:
        """Who learns."""
        how = self.how
        return suited.find(
            how.learner,
            self.data.kind,
            text=self.data.text,
            classes=len(stream.classes),
            encoder=how.encoder,
            device=how.device,
        )

    def play(self, learner: Any, stream: Any, progress: Callable[[int, int], None]) -> list[Evaluation]:
        """One evaluation a seed; `progress` is called with the seed and the round."""
        for seed in range(self.how.seeds):
            checkpoint = self.folder / f"checkpoint-{seed}"
            if played(self.record).get(seed) == len(stream):
                shutil.rmtree(checkpoint, ignore_errors=True)  # there if the run was killed in its last moment
            else:
                with one_thread():
                    compare(
                        learner,
                        stream,
                        make_schemes(self.how.schemes, learner, len(stream)),
                        seed=seed,
                        record=self.record,
                        checkpoint=checkpoint,
                        progress=partial(progress, seed),
                    )
            progress(seed, len(stream))
        return by_seed(read(self.record))

    def told(self, stream: Any) -> dict[str, Any]:
        """Who learned from what, in words."""
        learner = self.how.learner or suited.default(self.data.kind, encoded=self.how.encoder is not None)
        found = {
            "learner": learner,
            "learned from": getattr(stream, "learned_from", None),
            "rows": getattr(stream, "rows", None),
        }
        return {name: value for name, value in found.items() if value}

    def write(self, evaluations: Sequence[Evaluation], stream: Any) -> Verdict:
        """The tables and the page."""
        lines = across(evaluations)
        (self.folder / "table.md").write_text(markdown(HEADER_ACROSS, cells_across(lines)), encoding="utf-8")
        write_parquet(self.folder / "table.parquet", [asdict(line) for line in lines])
        page = import_module("spanwise.report.page")  # not at the top, as it needs plotly
        verdict: Verdict = page.write_page(
            self.folder / "report.html",
            evaluations,
            told=self.how.told,
            settings={
                **{name: value for name, value in self.settings.items() if value},
                **self.told(stream),
                **made_with(),
            },
            notes=getattr(stream, "notes", ()),
            periods=getattr(stream, "periods", None),
        )
        return verdict


def played(record: Path) -> dict[int, int]:
    """By seed, the last round that is on record of every scheme."""
    last: dict[int, dict[str, int]] = {}
    for row in read(record) if record.exists() else ():
        last.setdefault(row.seed, {})[row.scheme] = row.round
    return {seed: min(rounds.values()) for seed, rounds in last.items()}


def check_playable(stream: Any, file: str) -> None:
    """Refuse what nothing could be learned from about schemes."""
    if len(stream) < 2:
        raise DataError(
            f"all rows of {file} are of one round, {stream.periods[0]}, and a first round is only trained on: nothing "
            "would be scored. Make rounds shorter with --every."
        )
    if len(stream.classes) < 2:
        raise LabelError(
            f"the label is {stream.classes[0]!r} in all rows of {file}: there is nothing to tell apart. "
            "Name another column with --label."
        )


def make_schemes(names: Sequence[str], learner: object, rounds: int) -> dict[str, str | Callable[..., Scheme]]:
    """By name; those that need to know the stream are told. The plain ensemble is as large as Spanwise's mean pool."""
    knowing: dict[str, dict[str, int]] = {
        "awe-literal": {"horizon": rounds},
        "plain-ensemble": {"copies": ensemble_size(rounds, copies_of(adapt(learner)))},
    }
    return {
        name: partial(catalog.find(catalog.SCHEMES, name), **knowing.get(name, {})) for name in names if name != PLAIN
    }


def one_thread() -> AbstractContextManager[Any]:
    """Keeps the linear algebra of scikit-learn to one thread: two waste most of their time waiting for each other.

    The default learner of texts took a third of the time with it, on two cores that had other work too.
    """
    if "sklearn" not in sys.modules:
        return nullcontext()
    limits: AbstractContextManager[Any] = import_module("threadpoolctl").threadpool_limits(1, user_api="blas")
    return limits
