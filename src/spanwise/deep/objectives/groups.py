"""Groups in time, for objectives that ask a model to hold in several stretches of the past at once.

Group g is the last g + size + 1 rounds of an instance's own life: windows that are nested and all end
now. A row's group is drawn first, then one of its rounds, then a row of that round.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from spanwise.errors import SettingError
from spanwise.learner import Array

LONGEST = 64
"""Wild-Time's groups have no bound of their own: at most so many rounds are kept for them."""


@dataclass(frozen=True, kw_only=True)
class Nested:
    """Which rows a mini-batch is made of, and the group of each.

    Args:
        groups: how many at most.
        size: rounds that the smallest group reaches back.
        points: keep the last rounds that hold no more than so many rows together.
        wildtime: Wild-Time's sampler as coded: no bound on the groups but the 64 rounds kept; a row is fixed by the
            place it is asked for (each draws from a generator seeded with that place); and rounds are looked up
            oldest first in rows that lie newest first, so that most rows come from another round than was meant.
    """

    groups: int = 3
    size: int = 2
    points: int = 1_000_000
    wildtime: bool = False

    def __post_init__(self) -> None:
        if self.groups < 1 or self.size < 0 or self.points < 1:
            raise SettingError(
                f"groups={self.groups}, size={self.size}, points={self.points}: at least one group, "
                "no negative size, and some points"
            )

    @property
    def rounds(self) -> int:
        return LONGEST if self.wildtime else self.groups + self.size

    @property
    def ids(self) -> int:
        """Groups are numbered below this."""
        return max(1, LONGEST - self.size) if self.wildtime else self.groups

    def draw(self, rng: np.random.Generator, sizes: Sequence[int], shape: tuple[int, int]) -> dict[str, Array]:
        """Rows and groups for each place of `shape`."""
        if self.wildtime:
            return self._draw_as_coded(rng, sizes, shape)
        last = len(sizes) - 1
        group = rng.integers(self._groups_at(last), size=shape)
        first = np.maximum(0, last - group - self.size)
        chosen = rng.integers(first, last + 1)
        starts = np.cumsum([0, *sizes])
        return {"rows": rng.integers(starts[chosen], starts[chosen + 1]), "group": group}

    def _groups_at(self, last: int) -> int:
        now = max(1, last - self.size + 1)
        return now if self.wildtime else min(self.groups, now)

    def _draw_as_coded(
        self, rng: np.random.Generator, sizes: Sequence[int], shape: tuple[int, int]
    ) -> dict[str, Array]:
        asked, places = np.unique(rng.integers(sum(sizes), size=shape), return_inverse=True)
        own = np.random.RandomState()  # the legacy generator is what is reproduced
        triples = np.array([self._as_coded(own, int(index), sizes) for index in asked])[places.reshape(shape)]
        return {"rows": triples[..., 0], "group": triples[..., 1]}

    def _as_coded(self, own: np.random.RandomState, index: int, sizes: Sequence[int]) -> tuple[int, int]:
        """(position, group) that Wild-Time's data set gives for item `index`."""
        own.seed(index)
        last = len(sizes) - 1
        group = own.randint(self._groups_at(last))
        first = max(0, last - group - self.size)
        chosen = first + own.randint(last + 1 - first)
        start = sum(sizes[:chosen])
        return newest_first(start + own.randint(sizes[chosen]), sizes), group


def members(group: Tensor, ids: int, dtype: torch.dtype) -> Tensor:
    """(rows, groups): 1 where a row is of the group.

    >>> members(torch.tensor([1, 0]), 3, torch.float32)
    tensor([[0., 1., 0.],
            [1., 0., 0.]])
    """
    return (group[:, None] == torch.arange(ids, device=group.device)).to(dtype)


def newest_first(position: int, sizes: Sequence[int]) -> int:
    """Where a position among rows laid newest round first lies when the oldest comes first.

    >>> [newest_first(position, [3, 2]) for position in range(5)]
    [3, 4, 0, 1, 2]
    """
    end = sum(sizes)
    for size in reversed(sizes):
        if position < size:
            return end - size + position
        position, end = position - size, end - size
    raise IndexError(position)
