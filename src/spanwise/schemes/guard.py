"""Is one really better than another? A paired comparison that forgets.

Both answered the same rows, so what makes a round easy or hard cancels out, and only rows that one got
right and the other wrong count. Old rounds fade, since what was better once need not be better now.
"""

from dataclasses import dataclass
from math import inf, sqrt
from typing import Self

import numpy as np

from spanwise.learner import Array

LEAST = 3.0
"""More must have been counted before anything is sure: of fewer rounds the spread is itself a guess."""


@dataclass(frozen=True)
class Advantage:
    r"""How much more accurate one was than another: a decayed mean over rounds, and its standard error.

    With $d_s$ the difference of round s, $w_s$ what that round counts, and $\gamma$ the decay:
    $\bar d = \sum_s \gamma_s w_s d_s / \sum_s \gamma_s w_s$, where $\gamma_s$ is $\gamma$ to the power of all that
    was counted since. Its variance takes for each round the larger of two figures: what chance does to rows that
    differ, and how far the round was from the mean before it. So neither few rows nor restless rounds are mistaken
    for certainty.

    >>> import numpy as np
    >>> ahead = Advantage()
    >>> for right in ([1, 1, 1, 0], [1, 1, 0, 1]):
    ...     ahead = ahead.after(np.array(right), np.array([0, 1, 0, 0]))
    >>> round(ahead.mean, 3), ahead.mean > ahead.error
    (0.5, True)

    Args:
        decay: what a whole round counts a whole round later.
    """

    decay: float = 0.95
    total: float = 0.0
    weight: float = 0.0
    variance: float = 0.0
    rounds: int = 0

    def after(self, ours: Array, theirs: Array, counts: float = 1.0) -> Self:
        """One round later, given which rows each got right, and how much of a whole round that is."""
        n, won, lost = len(ours), int(np.count_nonzero(ours > theirs)), int(np.count_nonzero(theirs > ours))
        mean = (won - lost) / n
        chance = ((won + lost) / n - mean**2) / n
        moved = (mean - self.mean) ** 2 if self.rounds else 0.0
        fades = self.decay**counts
        return type(self)(
            self.decay,
            total=fades * self.total + counts * mean,
            weight=fades * self.weight + counts,
            variance=fades**2 * self.variance + counts**2 * max(chance, moved),
            rounds=self.rounds + 1,
        )

    @property
    def mean(self) -> float:
        return self.total / self.weight if self.rounds else 0.0

    @property
    def error(self) -> float:
        return sqrt(self.variance) / self.weight if self.rounds else inf

    def sure(self, margin: float) -> float:
        """What is left of the mean when `margin` standard errors are taken away."""
        return self.mean - margin * self.error if self.weight > LEAST else -inf

    def __str__(self) -> str:
        mean, error = 100 * abs(self.mean), 100 * self.error
        if self.mean == 0:
            return "no better and no worse" + (f" (± {error:.1f} points)" if error else "")
        digits = next((d for d in (1, 2) if round(mean, d) != round(error, d)), 3)
        return f"{mean:.{digits}f} ± {error:.{digits}f} points {'worse' if self.mean < 0 else 'better'}"
