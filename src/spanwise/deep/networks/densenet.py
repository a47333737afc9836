"""DenseNet-121, which the paper fine-tunes on satellite images (FMoW)."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from spanwise.deep.networks.cnn import images
from spanwise.errors import MissingExtraError, SettingError

WIDTH = 1024
OLD_NAMES = re.compile(r"(denselayer\d+\.(?:norm|conv))\.([12])")
"""torchvision's own file of ImageNet weights says `norm.1` for what is now called `norm1`."""


class DenseNet(nn.Module):
    """The convolutions of a DenseNet, ReLU, the mean over space, and a linear layer.

    Args:
        body: the convolutions, ending in 1,024 channels.
        classes: logits an image.
    """

    def __init__(self, body: nn.Module, classes: int) -> None:
        super().__init__()
        self.body = body
        self.head = nn.Linear(WIDTH, classes)

    def prepare(self, X: Any) -> Tensor:
        """Images as `images` takes them, with 3 colours and a side of 32 or more."""
        return images(X, colours=3, smallest=32).to(self.head.weight.dtype)

    def features(self, x: Tensor) -> Tensor:
        """The mean over space of the last 1,024 channels."""
        return torch.relu(self.body(x)).mean((2, 3))

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.head(self.features(x))
        return logits


def densenet121(*, classes: int = 2, weights: str | Path | None = None) -> DenseNet:
    """torchvision's DenseNet-121 without what keeps it from being stacked: in-place ReLU and checkpointing.

    Args:
        classes: logits an image.
        weights: a local file of ImageNet weights, `.safetensors` or a torch state dict; None draws them at random.

    References: Huang et al. (2017), Densely Connected Convolutional Networks.
    """
    try:  # not at the top: this module can be looked at where torchvision is not
        models = import_module("torchvision.models")
    except ImportError as error:
        raise MissingExtraError("torchvision", "vision") from error
    body: nn.Module = models.densenet121(weights=None, memory_efficient=False).features
    for layer in body.modules():
        if isinstance(layer, nn.ReLU):
            layer.inplace = False
    if weights is not None:
        _load(body, Path(weights))
    return DenseNet(body, classes)


def _load(body: nn.Module, file: Path) -> None:
    if not file.is_file():
        raise SettingError(f"weights={str(file)!r}: there is no such file; weights are read from disk, never fetched")
    safe = file.suffix == ".safetensors"
    stored = load_file(file) if safe else torch.load(file, map_location="cpu", weights_only=True)
    named = {OLD_NAMES.sub(r"\1\2", name): value for name, value in stored.items()}
    try:
        body.load_state_dict({n.removeprefix("features."): v for n, v in named.items() if n.startswith("features.")})
    except RuntimeError as error:
        raise SettingError(f"{file.name} does not hold the weights of torchvision's densenet121: {error}") from error
