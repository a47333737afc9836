"""What a constant would have scored, from rows that the tests make up."""

import pytest

from spanwise.evaluate.record import Row
from spanwise.evaluate.summary import Evaluation
from spanwise.report.constant import beside_constant, most_frequent


def scored(t, scheme="plain", *, accuracy=0.5, **labels):
    """A round with so many rows of each label."""
    return Row(t, scheme, n=sum(labels.values()), accuracy=accuracy, by_class={k: (n, 0) for k, n in labels.items()})


def both(awe, plain, **labels):
    """Six rounds, of which the first is not scored; `labels` are the rows of each."""
    for t in range(1, 7):
        for scheme, accuracy in (("plain", plain), ("awe", awe)):
            yield scored(t, scheme, accuracy=accuracy, **labels) if t > 1 else Row(t, scheme, n=10)


def test_the_label_said_is_the_most_frequent_one_of_earlier_rounds():
    rows = [scored(2, yes=8, no=2), scored(3, yes=1, no=9), scored(4, yes=5, no=5), scored(6, maybe=4)]
    assert most_frequent(rows) == {3: ("yes", 0.1), 4: ("no", 0.5), 6: ("no", 0.0)}


@pytest.mark.parametrize(
    ("awe", "plain", "words"),
    [
        (0.6, 0.5, "neither awe (60.00 %) nor the plain learner (50.00 %) beats that"),
        (0.75, 0.8, "awe (75.00 %) does not beat that"),
        (0.8, 0.7, "the plain learner (70.00 %) does not beat that"),
    ],
)
def test_who_does_not_beat_it_is_named(awe, plain, words):
    found = beside_constant([Evaluation(both(awe, plain, yes=30, no=10))], "awe")
    assert found.startswith("Always saying 'yes', the most frequent label so far, is right on 75.00 % from round 3 on")
    assert words in found


def test_where_both_beat_it_nothing_is_said():
    assert beside_constant([Evaluation(both(0.8, 0.76, yes=30, no=10))], "awe") == ""


def test_the_rounds_are_the_same_for_all():
    """The first scored round has no earlier labels, so it counts for nobody."""
    rows = [row for row in both(0.8, 0.8, yes=30, no=10) if row.round > 2]
    rows += [scored(2, scheme, accuracy=0.0, yes=30, no=10) for scheme in ("plain", "awe")]
    assert beside_constant([Evaluation(sorted(rows, key=lambda row: row.round))], "awe") == ""


def test_a_label_that_changes_is_not_named():
    rows = [scored(2, "awe", accuracy=0.0, yes=8, no=2), scored(3, "awe", accuracy=0.0, yes=1, no=9)]
    rows += [scored(4, "awe", accuracy=0.0, yes=5, no=5)]
    found = beside_constant([Evaluation(rows)], "awe")
    assert found.startswith("Always saying the most frequent label so far is right on 30.00 %")


def test_accuracies_are_means_over_the_seeds():
    runs = [Evaluation(both(awe, 0.9, yes=30, no=10)) for awe in (0.7, 0.6)]
    assert "awe (65.00 %)" in beside_constant(runs, "awe")


def test_without_counts_nothing_is_said():
    bare = [Row(t, "awe", n=10, accuracy=0.1) for t in range(2, 7)]
    assert beside_constant([Evaluation(bare)], "awe") == ""
    assert beside_constant([Evaluation([*both(0.1, 0.1, yes=30, no=10), *bare[:1]])], "awe") == ""
    assert beside_constant([], "awe") == ""
