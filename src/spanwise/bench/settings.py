"""The streams of the experiments, and how Wild-Time learns each: network, optimiser, batches, iterations.

Wild-Time's loop makes one step more than its settings say, so its 1,000 iterations are 1,001 here.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from spanwise.bench.paper import QUIRKS
from spanwise.deep import CORAL, EWC, IRM, SI, Adam, AdamW, Stacking, StepDecay, TorchLearner
from spanwise.deep.learner import Precision
from spanwise.deep.networks.cnn import CNN, YearbookCNN
from spanwise.deep.networks.mlp import MLP
from spanwise.deep.optimizers import Optimizer
from spanwise.errors import SettingError, UnknownNameError
from spanwise.streams.wildtime import WildTime

LEARNERS = ("ft", "si", "ewc", "irm", "coral")
NAMED = (*LEARNERS, *(f"{name}{QUIRKS}" for name in LEARNERS if name != "ft"))
"""All learners there are."""

TOKENS = 40
"""Texts are padded to one length, so that a GPU sees one shape. It cuts 2 of 10,000 headlines, 5 of 1,000 titles."""


@dataclass(frozen=True)
class Places:
    """Where a run finds things and what it computes on.

    Attributes:
        data: folder of the streams' files.
        encoder: folder of the pretrained encoder of texts.
        device: "cpu", "cuda", ...; CUDA where there is one if None.
        precision: as for `TorchLearner`.
    """

    data: Path
    encoder: Path | None = None
    device: str | None = None
    precision: Precision = "float32"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One stream, and how it is learned.

    Attributes:
        stream: from the folder of its files.
        network: what learns.
        optimizer: with Wild-Time's settings.
        batch: rows a mini-batch: of FT, SI and EWC; and of IRM and CORAL, which divide them into groups.
        iterations: mini-batches a round, of the same.
        damping: SI's.
        groups: how many IRM and CORAL have at most, and the rounds that the smallest reaches back.
        slots: instances stacked at a time on a GPU.
    """

    stream: Callable[[Path], Any]
    network: Callable[[Places], Any]
    optimizer: Optimizer
    batch: tuple[int, int]
    iterations: tuple[int, int]
    damping: float = 1e-3
    groups: tuple[int, int] = (3, 2)
    slots: int | None = None

    def steps(self, learner: str) -> int:
        """Iterations a round of that learner."""
        return self.iterations[grouped(learner)]

    def learner(self, name: str, steps: int, places: Places) -> TorchLearner:
        """One of the paper's five, by name."""
        return TorchLearner(
            self.network(places),
            optimizer=self.optimizer,
            steps=steps,
            batch_size=self.batch[grouped(name)],
            device=places.device,
            precision=places.precision,
            stacked=Stacking(slots=self.slots),
            **self.parts(name),
        )

    def parts(self, name: str) -> dict[str, Any]:
        """Objective or penalty of that learner."""
        groups, size = self.groups
        quirks = {"wildtime": name.endswith(QUIRKS)}
        table: dict[str, dict[str, Any]] = {
            "ft": {},
            "si": {"penalty": SI(damping=self.damping, **quirks)},
            "ewc": {"penalty": EWC(**quirks)},
            "irm": {"objective": IRM(groups=groups, size=size, **quirks)},
            "coral": {"objective": CORAL(groups=groups, size=size, **quirks)},
        }
        return table[known("learner", name, NAMED).removesuffix(QUIRKS)]


def known(what: str, name: str, names: Iterable[str]) -> str:
    """The name itself, if it is one of `names`.

    >>> known("learner", "cora", NAMED)
    Traceback (most recent call last):
    spanwise.errors.UnknownNameError: there is no learner 'cora'; did you mean coral? All: ft, si, ewc, irm, coral, ...
    """
    if name not in (table := list(names)):
        near = get_close_matches(name, table, n=2)
        hint = f"; did you mean {' or '.join(near)}?" if near else "."
        raise UnknownNameError(f"there is no {what} {name!r}{hint} All: {', '.join(table)}")
    return name


def grouped(learner: str) -> bool:
    """Whether it learns from groups of the past, and so from larger mini-batches."""
    return learner.removesuffix(QUIRKS) in ("irm", "coral")


def encoder(places: Places) -> Any:
    """The pretrained encoder of texts, with a linear layer on its first token."""
    if places.encoder is None:
        raise SettingError(
            "huffpost and arxiv are of texts: name the folder of a pretrained encoder with --encoder, as "
            "save_pretrained(folder) of a model and of its tokenizer writes it"
        )
    module = import_module("spanwise.deep.networks.encoder")  # not at the top, as it needs transformers
    return module.Encoder(places.encoder, longest=TOKENS, lengths=(TOKENS,))


def densenet(places: Places) -> Any:
    """DenseNet-121 with ImageNet's weights, from the file that torchvision calls them by."""
    module = import_module("spanwise.deep.networks.densenet")  # not at the top, as it needs torchvision
    return module.densenet121(weights=places.data / "densenet121-a639ec97.pth")


def images(kind: str, **settings: Any) -> Callable[[Path], Any]:
    """A stream of `spanwise.streams.images`, which needs scipy."""
    return lambda folder: getattr(import_module("spanwise.streams.images"), kind)(folder=folder, **settings)


def digits(folder: Path) -> Any:
    """scikit-learn's small digits: a stream of seconds, to try things with."""
    angles = ((1, 0.0), (5, 75.0), (9, 160.0), (13, 0.0))
    return import_module("spanwise.streams.digits").RotatingDigits(rounds=16, size=110, angles=angles)


def wildtime(name: str, **settings: Any) -> Callable[[Path], WildTime]:
    return lambda folder: WildTime(name, folder, **settings)


TEXT = partial(Setting, network=encoder, optimizer=AdamW(lr=2e-5, weight_decay=0.01), damping=1e-4, slots=8)

SETTINGS = {
    "arxiv": TEXT(stream=wildtime("arxiv"), batch=(64, 64), iterations=(1001, 6001), groups=(4, 4)),
    "digits": Setting(
        stream=digits,
        network=lambda places: MLP,
        optimizer=Adam(lr=3e-3),
        batch=(32, 32),
        iterations=(20, 20),
    ),
    "fmow": Setting(
        stream=wildtime("fmow", channels_first=True),
        network=densenet,
        optimizer=Adam(lr=1e-4, amsgrad=True, schedule=StepDecay(0.96)),
        batch=(64, 64),
        iterations=(501, 501),
        groups=(3, 3),
    ),
    "huffpost": TEXT(stream=wildtime("huffpost"), batch=(16, 32), iterations=(1001, 6001)),
    "rotating-mnist": Setting(
        stream=images("RotatingImages", source="mnist", rounds=16, size=3000),
        network=lambda places: CNN(colours=1, classes=10),
        optimizer=Adam(lr=1e-3),
        batch=(64, 64),
        iterations=(201, 201),
        slots=16,
    ),
    "yearbook": Setting(
        stream=wildtime("yearbook", channels_first=True),
        network=lambda places: YearbookCNN(),
        optimizer=Adam(lr=1e-3),
        batch=(32, 32),
        iterations=(301, 301),
        groups=(10, 5),
    ),
}
