"""Coin betting for changing environments (Jun, Orabona, Wright and Willett, 2017): SAOL without a rate.

Each interval bets on its own advantage with the wealth it has won so far; what it stakes is its
weight. There is nothing to tune, and the regret is smaller than SAOL's by a root of a logarithm.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from spanwise.core.awe import Algorithm
from spanwise.core.choice import Choice, Model
from spanwise.core.evidence import Unjudged
from spanwise.core.pool import Pool, Scores
from spanwise.core.refine import Estimate
from spanwise.core.scheme import Scheme
from spanwise.core.spans import Cover, Span
from spanwise.learner import Array
from spanwise.schemes.covers import Geometric
from spanwise.schemes.losses import errors, mixture


class Bettor(NamedTuple):
    """What an interval remembers: rounds it was awake, the sum of its outcomes g, and what it won with them."""

    rounds: int = 0
    outcomes: float = 0.0
    winnings: float = 0.0

    @property
    def stake(self) -> float:
        """v: the betting fraction times the wealth."""
        return self.outcomes / (1 + self.rounds) * (1 + self.winnings)

    def after(self, advantage: float) -> "Bettor":
        """The next round's, given how much less it lost than the average; losses of a non-bettor do not count."""
        outcome = advantage if self.stake > 0 else max(advantage, 0.0)
        return Bettor(self.rounds + 1, self.outcomes + outcome, self.winnings + outcome * self.stake)


@dataclass
class CBCEWeights(Choice):
    """Weights proportional to prior times stake; the prior alone while nobody stakes anything."""

    bettors: dict[Span, Bettor] = field(default_factory=dict, init=False, repr=False)

    def observe(self, said: Scores, y: Array, played: Model, cover: Cover, round: int) -> None:
        bettors = self.bettors or dict.fromkeys(cover.intervals(round), Bettor())
        weights = weigh(bettors)
        lost = errors(list(bettors), said, y)
        average = sum(weights[span] * lost[span] for span in bettors)
        moved = {span: bettor.after(average - lost[span]) for span, bettor in bettors.items()}
        self.bettors = {span: moved.get(span, Bettor()) for span in cover.intervals(round + 1)}

    def candidates(self, estimates: Mapping[Span, Estimate], pool: Pool, round: int) -> Sequence[Model]:
        return [mixture(weigh(self.bettors), pool, "cbce")]

    def copy(self) -> Self:
        twin = type(self)()
        twin.bettors = dict(self.bettors)
        return twin


def weigh(bettors: Mapping[Span, Bettor]) -> dict[Span, float]:
    """Weights that sum to 1."""
    staked = {span: prior(span) * max(bettor.stake, 0.0) for span, bettor in bettors.items()}
    if not any(staked.values()):
        staked = {span: prior(span) for span in bettors}
    total = sum(staked.values())
    return {span: weight / total for span, weight in staked.items()}


def prior(span: Span) -> float:
    """Of an interval, by its start: 1 / (s^2 (1 + floor(log2 s))).

    >>> prior(Span(1)), prior(Span(2))
    (1.0, 0.125)
    """
    return 1 / (span.start**2 * span.start.bit_length())


class CBCE(Scheme):
    """CBCE around any learner: geometric covering, coin-betting weights on each batch's error.

    Args:
        learner: any learner.
        cover: other intervals than the geometric ones, e.g. `MRI()`.
        seed, classes, transactional: as for `Plain`.
    """

    def __init__(
        self,
        learner: object,
        *,
        cover: Cover | None = None,
        seed: int = 0,
        classes: Iterable[Hashable] | None = None,
        transactional: bool = True,
    ) -> None:
        cover = cover or Geometric()
        algorithm = Algorithm(learner, cover=cover, evidence=Unjudged(), choice=CBCEWeights(), seed=seed)
        super().__init__(algorithm, classes=classes, transactional=transactional)
