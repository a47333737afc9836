"""The paper's five deep learners, ready to use by name: around a small network, or around one of your own.

`ft()`, `si()`, ... are a small MLP that takes its width from the first batch; `for_images` is a small CNN, and
`fine_tuned` a pretrained encoder of texts, trained whole. `encoded` is the cheap way to use such an encoder: it
is not trained, and says what it has to say of a text once.
"""

from pathlib import Path
from typing import Any

import torch

from spanwise.deep import CORAL, EWC, IRM, SI, Adam, AdamW, TorchLearner
from spanwise.deep.learner import DTYPES, Precision, find_device
from spanwise.deep.networks.frozen import Frozen
from spanwise.deep.networks.mlp import MLP
from spanwise.deep.networks.pictures import PictureCNN
from spanwise.errors import UnknownNameError

FIVE: dict[str, dict[str, Any]] = {
    "ft": {},
    "si": {"penalty": SI()},
    "ewc": {"penalty": EWC()},
    "irm": {"objective": IRM()},
    "coral": {"objective": CORAL()},
}
"""What makes `TorchLearner` each of the five."""

LENGTHS = (16, 24, 32, 48, 64, 96)
"""Tokens that batches of texts are padded to: few, as each length is a shape of its own to a GPU."""


def ft() -> TorchLearner:
    """Fine-tuning: plain cross-entropy on each round."""
    return _small("ft")


def si() -> TorchLearner:
    """Fine-tuning held back by synaptic intelligence."""
    return _small("si")


def ewc() -> TorchLearner:
    """Fine-tuning held back by elastic weight consolidation."""
    return _small("ewc")


def irm() -> TorchLearner:
    """Invariant risk minimisation over nested groups of the last rounds."""
    return _small("irm")


def coral() -> TorchLearner:
    """Correlation alignment over nested groups of the last rounds."""
    return _small("coral")


def images_cnn() -> TorchLearner:
    """A small CNN, fine-tuned on each round of images."""
    return for_images("ft")


def for_images(
    name: str, *, steps: int = 50, batch_size: int = 32, device: str | torch.device | None = None
) -> TorchLearner:
    """One of the five around a small CNN, for images of any size from 8 x 8, grey or coloured.

    Args:
        name: ft, si, ewc, irm or coral.
        steps: mini-batches a round.
        batch_size: images a mini-batch.
        device: CUDA where there is one if None.
    """
    return TorchLearner(
        PictureCNN, optimizer=Adam(lr=3e-3), steps=steps, batch_size=batch_size, device=device, **parts(name)
    )


def fine_tuned(
    folder: str | Path,
    name: str,
    *,
    steps: int = 1001,
    longest: int = 128,
    device: str | torch.device | None = None,
    precision: Precision = "float32",
) -> TorchLearner:
    """One of the five around a pretrained encoder of texts, trained whole with Wild-Time's settings.

    AdamW with learning rate 2e-5 and weight decay 0.01; mini-batches of 16 texts, and of 32 for irm and coral, which
    divide them into groups.

    Args:
        folder: holds the encoder and its tokenizer, as `save_pretrained` writes them.
        name: ft, si, ewc, irm or coral.
        steps: mini-batches a round.
        longest: tokens of a text; what is longer is cut off.
        device: CUDA where there is one if None.
        precision: as for `TorchLearner`.

    References: Yao et al. (2022), Wild-Time, appendix on hyperparameters.
    """
    own = parts(name)
    return TorchLearner(
        _encoder(folder, longest),
        optimizer=AdamW(lr=2e-5, weight_decay=0.01),
        steps=steps,
        batch_size=32 if "objective" in own else 16,
        device=device,
        precision=precision,
        **own,
    )


def encoded(
    folder: str | Path,
    name: str = "ft",
    *,
    steps: int = 100,
    longest: int = 128,
    device: str | torch.device | None = None,
    precision: Precision = "float32",
) -> TorchLearner:
    """One of the five on what a frozen encoder says of texts: only a linear layer is trained.

    A text goes through the encoder once, whatever the number of instances, schemes and rounds.

    Args:
        folder, name, longest, device: as for `fine_tuned`.
        steps: mini-batches of 64 texts a round.
        precision: of the encoder; the layer on top is float32.
    """
    learner = parts(name)  # before the encoder is read, which takes seconds
    body = _encoder(folder, longest).to(find_device(device), DTYPES[precision][1])
    return TorchLearner(Frozen(body), optimizer=Adam(lr=3e-3), steps=steps, device=device, **learner)


def parts(name: str) -> dict[str, Any]:
    """What makes `TorchLearner` the one of that name."""
    if name not in FIVE:
        raise UnknownNameError(f"there is no deep learner {name!r}. All: {', '.join(FIVE)}")
    return FIVE[name]


def _small(name: str) -> TorchLearner:
    return TorchLearner(MLP, optimizer=Adam(lr=3e-3), steps=20, batch_size=32, device="cpu", **parts(name))


def _encoder(folder: str | Path, longest: int) -> Any:
    """Imported here alone, as the other learners must work where transformers is not installed."""
    from spanwise.deep.networks.encoder import Encoder

    return Encoder(folder, longest=longest, lengths=[length for length in LENGTHS if length < longest])
