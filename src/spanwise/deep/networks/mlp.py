"""Fully connected layers with ReLU between them."""

import warnings
from collections.abc import Sequence

from torch import Tensor, nn


class MLP(nn.Module):
    """A multi-layer perceptron; rows of more than one axis, such as images, are laid out flat.

    >>> import torch
    >>> MLP((8,), classes=3)(torch.zeros(5, 4)).shape
    torch.Size([5, 3])

    Args:
        hidden: widths of the hidden layers; without any it is a linear classifier.
        features: numbers a row; None takes it from the first batch.
        classes: logits a row.
        dropout: share of each hidden layer that is switched off in training.
    """

    def __init__(
        self,
        hidden: Sequence[int] = (64, 64),
        *,
        features: int | None = None,
        classes: int = 2,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Flatten()]
        for width in hidden:
            layers += [_linear(features, width), nn.ReLU()]
            if dropout:
                layers.append(nn.Dropout(dropout))
            features = width
        self.body = nn.Sequential(*layers)
        self.head = _linear(features, classes)

    def features(self, x: Tensor) -> Tensor:
        """The last hidden layer."""
        hidden: Tensor = self.body(x)
        return hidden

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.head(self.features(x))
        return logits


def _linear(features: int | None, width: int) -> nn.Linear:
    if features is not None:
        return nn.Linear(features, width)
    with warnings.catch_warnings():  # torch warns that lazy layers may change some day
        warnings.simplefilter("ignore", UserWarning)
        return nn.LazyLinear(width)
