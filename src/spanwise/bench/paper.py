"""What the paper prints: difference in average accuracy against the plain learner, and wins, draws and losses.

Tables 1 (AWE, SAOL), 2 (voting), 3 and 4 (win/draw/lose). The paper's bars are left out: 40 of the 45 equal
100 sqrt(d (1 - d) / N) with d the difference itself, which is not a deviation over seeds. Absolute accuracies
are nowhere given. Two signs contradict the wins beside them; those figures are kept as printed, with what we read.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

QUIRKS = "-wildtime"
"""Behind the name of a learner: with the deviations that Wild-Time's code has from what the method intends."""

LEARNERS = ("si", "ft", "irm", "ewc", "coral")
"""The order of every line below."""

GAINS: Mapping[tuple[str, str], tuple[float, ...]] = {
    ("awe", "fmow"): (1.52, 1.83, 0.55, 2.20, 3.24),
    ("awe", "huffpost"): (0.70, 0.72, 0.98, 0.72, 1.10),
    ("awe", "arxiv"): (0.45, 0.56, 0.13, 0.36, 1.67),
    ("saol", "fmow"): (-4.19, -3.71, -6.16, -3.50, -2.98),
    ("saol", "huffpost"): (-0.70, 0.71, 0.37, -0.53, 0.18),
    ("saol", "arxiv"): (-3.97, -3.95, -2.67, -3.87, -1.16),
    ("vote", "fmow"): (-2.47, -2.00, -4.06, 2.05, -0.40),
    ("vote", "huffpost"): (-0.17, 0.03, 0.18, 0.06, -0.27),
    ("vote", "arxiv"): (-2.95, -3.04, -2.34, -2.95, -0.48),
}
"""Points over the plain learner, by scheme and stream."""

STANDINGS: Mapping[tuple[str, str], str] = {
    ("awe", "fmow"): "13/0/2 14/0/1 9/1/5 12/2/1 15/0/0",
    ("awe", "huffpost"): "5/0/1 5/0/1 6/0/0 4/0/2 6/0/0",
    ("awe", "arxiv"): "13/0/2 12/0/3 8/0/7 12/0/3 15/0/0",
    ("saol", "fmow"): "1/8/6 2/8/5 2/8/5 2/8/5 1/8/6",
    ("saol", "huffpost"): "0/3/3 0/3/3 2/3/1 0/3/3 2/3/1",
    ("saol", "arxiv"): "1/8/6 1/8/6 1/8/6 1/8/6 2/8/5",
    ("vote", "fmow"): "3/0/12 4/0/11 4/0/11 3/0/12 7/0/8",
    ("vote", "huffpost"): "3/0/3 3/0/3 4/0/2 3/0/3 2/0/4",
    ("vote", "arxiv"): "2/0/13 2/0/13 3/0/12 1/0/14 4/0/11",
}
"""Rounds won, drawn and lost, in the same order."""

MISPRINTS: Mapping[tuple[str, str, str], str] = {
    ("saol", "huffpost", "ft"): "with 0/3/3 a mean cannot be positive; the learners beside it print -0.70 and -0.53",
    ("vote", "fmow", "ewc"): "with 3/0/12 a mean of +2 is hardly possible; SI and FT beside it print -2.47 and -2.00",
}
"""Scheme, stream and learner whose gain we read with the other sign, and why."""

VARIANTS: Mapping[str, str] = {
    "awe-literal": "awe",
    "awe": "awe",
    "saol": "saol",
    "saol-fallback": "saol",
    "vote": "vote",
    "vote-merged": "vote",
}
"""Our schemes -> the paper's: what it leaves open, we run in more than one way."""


class Printed(NamedTuple):
    """The paper's figures of one scheme, stream and learner.

    Attributes:
        gain: points over the plain learner, as printed.
        wins, draws, losses: rounds.
        misprint: why we read the gain with the other sign; None where we do not.
    """

    gain: float
    wins: int
    draws: int
    losses: int
    misprint: str | None

    @property
    def read(self) -> float:
        """The gain as we read it."""
        return self.gain if self.misprint is None else -self.gain

    def __str__(self) -> str:
        """The gain as printed and, where that differs, as we read it."""
        return f"{self.gain:+.2f}" + ("" if self.misprint is None else f", read as {self.read:+.2f}")


def printed(stream: str, learner: str, scheme: str) -> Printed | None:
    """What the paper says of a cell; None where it says nothing.

    >>> printed("huffpost", "ft", "awe-literal")
    Printed(gain=0.72, wins=5, draws=0, losses=1, misprint=None)
    >>> printed("huffpost", "ft", "saol").read
    -0.71

    Args:
        stream: fmow, huffpost or arxiv.
        learner: one of `LEARNERS`, with or without "-wildtime".
        scheme: one of `VARIANTS`.
    """
    learner = learner.removesuffix(QUIRKS)
    theirs = VARIANTS.get(scheme)
    if theirs is None or learner not in LEARNERS or (theirs, stream) not in GAINS:
        return None
    place = LEARNERS.index(learner)
    wins, draws, losses = map(int, STANDINGS[theirs, stream].split()[place].split("/"))
    return Printed(GAINS[theirs, stream][place], wins, draws, losses, MISPRINTS.get((theirs, stream, learner)))


def misprints(shown: Iterable[tuple[str, str, str]]) -> str:
    """Notes below a table of these streams, learners and schemes; empty where the paper's signs are right."""
    found = {
        f"\nThe paper's {paper.gain:+.2f} of {VARIANTS[scheme]} with {learner.removesuffix(QUIRKS)} on {stream} "
        f"is read as {paper.read:+.2f}: {paper.misprint}.\n"
        for stream, learner, scheme in shown
        if (paper := printed(stream, learner, scheme)) and paper.misprint
    }
    return "".join(sorted(found))
