"""What a constant would have scored: always the label that was most frequent in all earlier rounds."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean

from spanwise.evaluate.record import Row
from spanwise.evaluate.summary import PLAIN, Evaluation


def beside_constant(evaluations: Sequence[Evaluation], told: str) -> str:
    """Who does not beat the constant, if `told` or the plain learner does not; nothing where it is not known."""
    said = most_frequent(evaluations[0].scored(told)) if evaluations else {}
    if not said:
        return ""
    constant = fmean(share for _, share in said.values())
    names = {told: told, PLAIN: "the plain learner"}
    right = {name: accuracy(evaluations, name, said) for name in names if name in evaluations[0].schemes}
    beaten = [f"{names[name]} ({100 * value:.2f} %)" for name, value in right.items() if value <= constant]
    if not beaten:
        return ""
    one = len(beaten) == 1
    who = f"{beaten[0]} does not beat that" if one else f"neither {' nor '.join(beaten)} beats that"
    return (
        f"Always saying {label_of(said)} is right on {100 * constant:.2f} % from round {min(said)} on, where {who}: "
        f"by accuracy, {'it has' if one else 'they have'} learned nothing beyond a constant."
    )


def most_frequent(rows: Sequence[Row]) -> dict[int, tuple[str, float]]:
    """By round, the label most frequent in the scored rounds before it, and the share of rows that have it.

    Nothing where a row does not know its classes.
    """
    if not all(row.by_class for row in rows):
        return {}
    seen: Counter[str] = Counter()
    said: dict[int, tuple[str, float]] = {}
    for row in rows:
        counts = Counter({label: n for label, (n, _) in row.by_class.items()})
        if seen:
            label = max(seen, key=seen.__getitem__)
            said[row.round] = label, counts[label] / counts.total()
        seen += counts
    return said


def accuracy(evaluations: Sequence[Evaluation], name: str, rounds: Mapping[int, object]) -> float:
    """Of a scheme in these rounds, mean over them and over the seeds."""
    rows = (row for evaluation in evaluations for row in evaluation.rows if row.scheme == name and row.round in rounds)
    return fmean(row.accuracy for row in rows if row.accuracy is not None)


def label_of(said: Mapping[int, tuple[str, float]]) -> str:
    """What was said, by its name if it was the same all along.

    >>> label_of({3: ("no", 0.7), 4: ("no", 0.8)}), label_of({3: ("no", 0.7), 4: ("yes", 0.8)})
    ("'no', the most frequent label so far,", 'the most frequent label so far')
    """
    labels = {label for label, _ in said.values()}
    return (
        f"'{labels.pop()}', the most frequent label so far," if len(labels) == 1 else "the most frequent label so far"
    )
