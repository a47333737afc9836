"""The small CNN for pictures of whatever kind a stream brings: grey or coloured, bytes or numbers."""

from typing import Any

import numpy as np
from torch import Tensor

from spanwise.deep.networks.cnn import CNN, images

COLOURS = 3


class PictureCNN(CNN):
    """A CNN for colour pictures that takes grey ones too, as pictures whose three colours are alike.

    >>> network = PictureCNN(classes=10)
    >>> coloured, grey = np.zeros((5, 32, 32, 3), dtype=np.uint8), np.zeros((5, 1, 28, 28))
    >>> network.prepare(coloured).shape, network.prepare(grey).shape
    (torch.Size([5, 3, 32, 32]), torch.Size([5, 3, 28, 28]))

    Args:
        classes: logits a picture, whose sides are at least 8.
    """

    def __init__(self, *, classes: int = 2) -> None:
        super().__init__((16, 32, 64), colours=COLOURS, classes=classes, batch_norm=True)

    def prepare(self, X: Any) -> Tensor:
        """(n, colours, height, width) or (n, height, width, colours), of 3 colours or 1; or (n, height, width)."""
        shape = np.shape(X)
        coloured = len(shape) == 4 and COLOURS in (shape[1], shape[3])
        pictures = images(X, COLOURS if coloured else 1, self.smallest).to(self.head.weight.dtype)
        return pictures.expand(-1, COLOURS, -1, -1).contiguous()  # as a snapshot gives them back, to the last bit
