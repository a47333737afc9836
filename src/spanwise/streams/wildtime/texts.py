"""Dated texts with categories into timestamps: the rules that all text sources share."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from spanwise.core.rows import take
from spanwise.errors import DataError
from spanwise.learner import Array
from spanwise.streams.wildtime.period import Period, split_period


def by_year(
    texts: Sequence[str], categories: Array, years: Array, *, timestamps: range, every_year: bool
) -> tuple[list[Period], list[str]]:
    """A timestamp a year, and the classes: the categories in alphabetical order.

    Args:
        texts: in the order that Wild-Time's permutation starts from, not yet lower-cased.
        categories: of the texts.
        years: of the texts.
        timestamps: years to keep; those without a text are left out.
        every_year: keep only categories that occur in each of those years, as Wild-Time does for HuffPost.
    """
    names, numbers = np.unique(categories, return_inverse=True)
    rows = {year: at for year in timestamps if len(at := np.flatnonzero(years == year))}
    if not rows:
        raise DataError(f"no text is dated {timestamps.start}..{timestamps.stop - 1}: is this the right file?")
    occurs = np.array([np.bincount(numbers[at], minlength=len(names)) > 0 for at in rows.values()])
    kept = np.logical_and.reduce(occurs) if every_year else np.logical_or.reduce(occurs)
    if not kept.any():
        raise DataError(f"no category occurs in every year of {', '.join(map(str, rows))}")
    renumbered = np.cumsum(kept) - 1
    periods = []
    for year, at in rows.items():
        of_class = at[kept[numbers[at]]]
        lowered = [texts[i].lower() for i in of_class]
        periods.append(split_period(year, renumbered[numbers[of_class]], partial(take, lowered), text=True))
    return periods, [str(name) for name in names[kept]]
