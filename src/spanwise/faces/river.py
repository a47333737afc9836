"""A scheme as a River classifier: rows come one by one, and every so many of them make a round."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from spanwise import catalog
from spanwise.adapters.river import RiverLearner
from spanwise.core.labels import labelled
from spanwise.core.scheme import Scheme
from spanwise.errors import FeatureError, MissingExtraError, SettingError
from spanwise.learner import Array
from spanwise.schemes.spanwise import Spanwise

try:
    from river import base, naive_bayes
except ImportError as error:
    raise MissingExtraError("river", "river") from error


class SpanwiseClassifier(base.Classifier):  # type: ignore[misc]
    """Any classifier, made to choose its attention span, in River's one-row-at-a-time manner.

    >>> from river.naive_bayes import GaussianNB
    >>> model = SpanwiseClassifier(GaussianNB(), round_size=4)
    >>> for x, y in [(0.0, "low"), (0.3, "low"), (5.0, "high"), (5.3, "high")] * 2:
    ...     model.learn_one({"height": x}, y)
    >>> model.predict_one({"height": 5.1})
    'high'

    Nothing is learned until a round closes. A label that has only been seen in the open round has
    probability 0; while the first round is open, all labels seen are equally probable. A round that
    the scheme refuses raises its error and is dropped, and the model stays as it was. Rows whose label
    is missing (None, NaN) are left out.

    Args:
        learner: a River classifier, a scikit-learn classifier, or anything with fresh, learn and
            logits. All but River's are given arrays: the features of the first round in the order of
            their names, 0 for those a row lacks.
        scheme: a name from `catalog.SCHEMES`, or what is called as scheme(learner, seed=seed): a
            scheme's class, or a function of your own. The one we recommend, if left out.
        round_size: rows in a round, at least 1.
        seed: one seed makes the run repeatable.
    """

    def __init__(
        self, learner: Any, scheme: str | Callable[..., Scheme] = Spanwise, round_size: int = 100, seed: int = 0
    ) -> None:
        if not isinstance(round_size, int) or round_size < 1:
            raise SettingError(f"round_size={round_size}: a round needs at least 1 row")
        self.learner = learner
        self.scheme = scheme
        self.round_size = round_size
        self.seed = seed
        self._model = catalog.make_scheme(scheme, learner, seed)
        self._rows: list[Mapping[Any, Any]] = []
        self._labels: list[Hashable] = []
        self._seen: dict[Hashable, float] = {}
        self._names: list[Any] | None = None

    def learn_one(self, x: Mapping[Any, Any], y: Hashable) -> None:
        if not len(labelled([y])):
            return
        self._rows.append(_ordered(x))
        self._labels.append(y)
        self._seen[y] = 0.0
        if len(self._rows) >= self.round_size:
            rows, labels, self._rows, self._labels = self._rows, self._labels, [], []
            self._learn_round(rows, labels)

    def predict_proba_one(self, x: Mapping[Any, Any], **kwargs: Any) -> dict[Hashable, float]:
        known = self._model.classes
        if not known:
            return dict.fromkeys(self._seen, 1 / max(1, len(self._seen)))
        (probabilities,) = self._model.predict_proba(self._features([_ordered(x)])).tolist()
        return {**dict(zip(known, probabilities, strict=True)), **self._unknown(known)}

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"learner": naive_bayes.GaussianNB(), "round_size": 20}

    def _learn_round(self, rows: list[Mapping[Any, Any]], labels: list[Hashable]) -> None:
        names = sorted({name for row in rows for name in row}, key=str) if self._names is None else self._names
        self._model.learn(self._features(rows, names), labels)
        self._names = names

    def _features(self, rows: list[Mapping[Any, Any]], names: Sequence[Any] | None = None) -> Any:
        """What the learner takes: River's the rows as they are, others an array."""
        if isinstance(self.learner, base.Estimator | RiverLearner):
            return rows
        return _array(rows, names or self._names or [])

    def _unknown(self, known: list[Hashable]) -> dict[Hashable, float]:
        return {label: zero for label, zero in self._seen.items() if label not in known}


def _ordered(x: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """A copy with the features by name: the caller may change theirs, and their order must not count."""
    return {name: x[name] for name in sorted(x, key=str)}


def _array(rows: list[Mapping[Any, Any]], names: Sequence[Any]) -> Array:
    try:
        return np.array([[float(row.get(name, 0.0)) for name in names] for row in rows])
    except (TypeError, ValueError) as error:
        raise FeatureError(
            f"a feature is not a number ({error}), and the learner takes arrays: encode it first, "
            "or pass a River classifier"
        ) from None
