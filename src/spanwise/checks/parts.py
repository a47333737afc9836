"""What any cover and any window must satisfy, by itself; put into a scheme, the laws of schemes hold too."""

import numpy as np

from spanwise.core.refine import Window
from spanwise.core.spans import Cover
from spanwise.core.tally import Count, Tally


def check_cover_keeps_logarithmically_many(cover: Cover) -> None:
    """Starts ascend, none lies in the future, and at most 2 log2 t + 2 are alive."""
    for t in range(1, 65):
        starts = cover.starts(t)
        assert starts, f"nobody is alive at round {t}"
        assert starts == sorted(set(starts)), f"starts at round {t} do not ascend: {starts}"
        assert set(starts) <= set(range(1, t + 1)), f"a start at round {t} is not within 1..{t}: {starts}"
        assert len(starts) <= 2 * np.log2(t) + 2, f"{len(starts)} starts are alive at round {t}"


def check_no_start_comes_back(cover: Cover) -> None:
    """Who is alive was alive the round before, or starts now; the dead stay dead."""
    for t in range(1, 64):
        now, then = set(cover.active(t)), set(cover.active(t + 1))
        late = {span for span in then - now if span.start != t + 1}
        assert not late, f"{late} turn up at round {t + 1} without having been alive at round {t}"


def check_intervals_have_an_instance_and_hold_the_round(cover: Cover) -> None:
    """Every interval contains the round, and its start is alive."""
    for t in range(1, 64):
        for span in cover.intervals(t):
            assert span.start in cover.starts(t), f"{span} has no instance at round {t}"
            assert span.start <= t <= (span.end or t), f"{span} does not contain round {t}"


def check_window_estimates_what_it_saw(window: Window) -> None:
    """No points, no estimate; a constant accuracy is estimated as it is; windows fit the evidence."""
    assert window.estimate(Tally(), None, 1) is None
    for rounds in (1, 2, 7, 64):
        tally = Tally([Count(10, 7, 0, 0)] * rounds)
        estimate = window.estimate(tally, tally, rounds)
        assert estimate is not None
        assert abs(estimate.accuracy - 0.7) < 1e-12, f"7 of 10 right in every round, estimated {estimate.accuracy}"
        assert 1 <= estimate.window <= rounds, f"a window of {estimate.window} over {rounds} rounds"
