"""Small convolutional networks for small images."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from spanwise.errors import FeatureError


class CNN(nn.Module):
    """3x3 convolutions with ReLU, each followed by a pooling that halves the image; then the mean over space.

    >>> CNN((8, 16), colours=1, classes=10)(torch.zeros(5, 1, 28, 28)).shape
    torch.Size([5, 10])

    Args:
        channels: of each convolution; an image needs a side of at least 2 to the power of their number.
        colours: channels of an image.
        classes: logits an image.
        batch_norm: normalise what each convolution gives, before the ReLU.
    """

    def __init__(
        self,
        channels: Sequence[int] = (32, 64, 128),
        *,
        colours: int = 3,
        classes: int = 2,
        batch_norm: bool = False,
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for before, after in zip([colours, *channels], channels, strict=False):
            layers.append(nn.Conv2d(before, after, kernel_size=3, padding=1))
            layers += [*([nn.BatchNorm2d(after)] if batch_norm else []), nn.ReLU(), nn.MaxPool2d(2)]
        self.colours, self.smallest = colours, 2 ** len(channels)
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear([colours, *channels][-1], classes)

    def prepare(self, X: Any) -> Tensor:
        """Images as `images` takes them, of the type that the weights have."""
        return images(X, self.colours, self.smallest).to(self.head.weight.dtype)

    def features(self, x: Tensor) -> Tensor:
        """The mean over space of the last convolution's channels."""
        channels: Tensor = self.body(x)
        return channels.mean((2, 3))

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.head(self.features(x))
        return logits


class YearbookCNN(CNN):
    """Wild-Time's network for the yearbook portraits: four 3x3 convolutions of 32 channels with BatchNorm.

    Args:
        classes: logits an image.
        colours: channels of an image, whose side is at least 16.

    References: Yao et al. (2022), Wild-Time, appendix on model architectures.
    """

    def __init__(self, *, classes: int = 2, colours: int = 3) -> None:
        super().__init__((32, 32, 32, 32), colours=colours, classes=classes, batch_norm=True)


def images(X: Any, colours: int, smallest: int = 1) -> Tensor:
    """A batch of images as floats of shape (n, colours, height, width).

    Colours may also come last, as image files have them; an image that could be read either way has
    them first. Bytes, 0 to 255, become 0 to 1; other numbers stay what they are.

    >>> images(np.full((5, 32, 28, 3), 255, dtype=np.uint8), colours=3).shape
    torch.Size([5, 3, 32, 28])

    Args:
        X: (n, colours, height, width) or (n, height, width, colours); (n, height, width) where `colours` is 1.
        colours: channels of an image.
        smallest: least height and width that the network can halve as often as it does.
    """
    pictures = X if isinstance(X, Tensor) else _numbers(X)
    if pictures.ndim == 3 and colours == 1:
        pictures = pictures[:, None]
    elif pictures.ndim == 4 and pictures.shape[-1] == colours != pictures.shape[1]:
        pictures = pictures.permute(0, 3, 1, 2).contiguous()  # as it comes back from a snapshot
    if pictures.ndim != 4 or pictures.shape[1] != colours or min(pictures.shape[2:]) < smallest:
        raise FeatureError(
            f"these features have shape {tuple(pictures.shape)}; expected images (n, {colours}, height, width) or "
            f"(n, height, width, {colours}), height and width at least {smallest}"
        )
    if pictures.dtype == torch.uint8:
        return pictures / 255
    return pictures if pictures.is_floating_point() else pictures.float()


def _numbers(X: Any) -> Tensor:
    try:
        array = np.asarray(X)
    except ValueError:
        raise FeatureError("the images differ in size: crop or scale them to one size first") from None
    if array.dtype.kind not in "buif":
        raise FeatureError(f"images are arrays of numbers, and these hold {array.dtype}")
    return torch.from_numpy(np.ascontiguousarray(array))
