"""Would choosing its span have helped this learner? Schemes beside the plain learner, on one stream."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from spanwise import catalog
from spanwise.core.evidence import Evidence
from spanwise.core.scheme import Scheme
from spanwise.engines.shared import Shared
from spanwise.errors import SettingError
from spanwise.evaluate.protocol import evaluate
from spanwise.evaluate.summary import PLAIN, SAME_FOLD, Evaluation
from spanwise.schemes.plain import Plain


def compare(
    learner: object,
    stream: Iterable[Any],
    schemes: Mapping[str, str | Callable[..., Scheme]],
    *,
    seed: int = 0,
    learn_last: bool = True,
    record: str | os.PathLike[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Evaluation:
    """Evaluate schemes around one learner, with the plain learner added to count gains against.

    Where a scheme holds rows back, the plain learner on the same training folds is added too. Schemes share
    the instances that they have in common (`Shared`), so that all of them cost little more than the largest;
    the seconds of each are those it would have taken alone.

    >>> from spanwise.adapters.functions import majority_class
    >>> from spanwise.core.awe import AWE
    >>> from spanwise.streams import Abrupt
    >>> stream = Abrupt(rounds=3, size=20)
    >>> compare(majority_class(), stream, {"awe": AWE}).schemes
    ['plain', 'plain-same-fold', 'awe']

    Args:
        learner: what every scheme is put around.
        stream: batches, or pairs `X, y`.
        schemes: by the name to give it in the evaluation: a name from `catalog.SCHEMES`, a scheme's
            class, or a function that is called with the learner and seed=seed.
        seed: one seed makes the run repeatable; rows are marked with it.
        learn_last, record, checkpoint, progress: as for `evaluate`.
    """
    shared = Shared(learner)
    made = {name: catalog.make_scheme(what, shared, seed) for name, what in schemes.items()}
    baselines: dict[str, Scheme] = {PLAIN: Plain(shared, seed=seed)}
    folds = held_back(made)
    if folds is not None:
        baselines[SAME_FOLD] = Plain(shared, train_fraction=folds.train_fraction, split=folds.split, seed=seed)
    models = {**baselines, **made}
    return evaluate(
        models, stream, seed=seed, learn_last=learn_last, record=record, checkpoint=checkpoint, progress=progress
    )


def held_back(schemes: Mapping[str, Scheme]) -> Evidence | None:
    """How the schemes that hold rows back do it, which must be one way, as one baseline stands for all."""
    found = {name: scheme.method.evidence for name, scheme in schemes.items()}
    ways = {name: one for name, one in found.items() if one.train_fraction < 1 or one.split is not None}
    first = next(iter(ways.values()), None)
    if first and any((way.train_fraction, way.split) != (first.train_fraction, first.split) for way in ways.values()):
        trained = ", ".join(f"{name} {way.train_fraction:.3g}" for name, way in ways.items())
        raise SettingError(
            f"these schemes train on different rows ({trained}), so no plain learner trains on the same ones as all "
            "of them: give them the same fraction and split, or compare them one at a time"
        )
    return first
