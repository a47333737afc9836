"""All weights of a network as one long vector.

Written so, the formulas of the paper's learners are the formulas of the code: a penalty is a sum over
one vector, an optimiser moves one vector, and a pool of networks is one matrix.
"""

from collections.abc import Mapping
from math import prod

import torch
from torch import Tensor

ALIGNED = 8
"""Every weight begins at a multiple of so many numbers, which the fast matrix kernels of a GPU ask for."""


class Layout:
    """Where each weight of a network lies.

    >>> layout = Layout({"weight": (2, 3), "bias": (2,)})
    >>> layout.size
    16
    >>> vector = layout.vector({"weight": torch.ones(2, 3), "bias": torch.tensor([4.0, 5.0])})
    >>> layout.weights(vector)["bias"]
    tensor([4., 5.])

    Args:
        shapes: of every weight, by name.
    """

    def __init__(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.shapes = dict(shapes)
        sizes = [prod(shape) for shape in self.shapes.values()]
        self.pieces = [part for size in sizes for part in (size, -size % ALIGNED)]  # a weight, and the gap behind it
        self.size = sum(self.pieces)

    def weights(self, vector: Tensor) -> dict[str, Tensor]:
        """The weights by name, as views."""
        pieces = torch.split_with_sizes(vector, self.pieces)[::2]
        return {name: piece.view(shape) for (name, shape), piece in zip(self.shapes.items(), pieces, strict=True)}

    def vector(self, weights: Mapping[str, Tensor]) -> Tensor:
        """The vector that holds `weights`, and zeros in the gaps."""
        parts = []
        for name, gap in zip(self.shapes, self.pieces[1::2], strict=True):
            parts += [weights[name].reshape(-1), weights[name].new_zeros(gap)]
        return torch.cat(parts)
