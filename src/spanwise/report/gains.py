"""What is known of a gain over the plain learner: its interval, its lead over another, and both in words."""

from math import hypot

from spanwise.evaluate.seeds import AcrossSeeds

ENSEMBLE = "plain-ensemble"
"""The scheme that averages independent plain learners, and knows nothing of spans."""


def known(line: AcrossSeeds) -> tuple[float, float, float] | None:
    """The gain between the ends of its interval, if all three are known."""
    if line.gain is None or line.gain_low is None or line.gain_high is None:
        return None
    return line.gain_low, line.gain, line.gain_high


def lead(line: AcrossSeeds, other: AcrossSeeds) -> tuple[float, float] | None:
    """Between what values the gain of one scheme over another lies, in points; None where it is not known.

    Both are known by their gains over the plain learner alone. Their errors are added as if they were
    independent; on the same rows they mostly go together, so that the interval is rather too wide.
    """
    ours, theirs = known(line), known(other)
    if ours is None or theirs is None:
        return None
    low, gain, high = ours
    other_low, other_gain, other_high = theirs
    ahead = gain - other_gain
    return ahead - hypot(gain - low, other_high - other_gain), ahead + hypot(high - gain, other_gain - other_low)


def interval_text(line: AcrossSeeds) -> str:
    """The interval of a gain in words; nothing where it is not known."""
    found = known(line)
    return "" if found is None else f"{found[0]:+.2f} to {found[2]:+.2f}"


def points(value: float) -> str:
    """So many points of accuracy.

    >>> points(2.344)
    '2.34 points'
    """
    return f"{value:.2f} points"


def count(number: int, noun: str) -> str:
    """So many of something.

    >>> count(1, "round"), count(1200, "round")
    ('1 round', '1,200 rounds')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
