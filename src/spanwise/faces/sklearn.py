"""A scheme as a scikit-learn estimator: rows in order of time go in, and are cut into rounds."""

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np

from spanwise import catalog
from spanwise.core.scheme import Scheme
from spanwise.errors import MissingExtraError, SettingError
from spanwise.learner import Array
from spanwise.schemes.spanwise import Spanwise

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.linear_model import SGDClassifier
    from sklearn.utils import check_random_state, get_tags
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtraError("scikit-learn", "sklearn") from error

from spanwise.adapters.estimators import steps_of


class SpanwiseClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Any classifier, made to choose its attention span, in scikit-learn's manner.

    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 5)
    >>> model = SpanwiseClassifier(round_size=4, random_state=0).fit(X, ["low", "low", "high", "high"] * 5)
    >>> model.predict([[-1.5], [1.5]]).tolist(), model.report_.round
    (['low', 'high'], 5)

    `fit` starts from nothing; `partial_fit` goes on, one round a call. Rows must be in order of time.

    Args:
        learner: a scikit-learn classifier with partial_fit, or anything with fresh, learn and logits;
            None for logistic regression by SGD. It is given arrays, so text must be made numbers before.
        scheme: a name from `catalog.SCHEMES`, or what is called as scheme(learner, seed=seed): a
            scheme's class, or a function of your own. The one we recommend, if left out.
        round_size: `fit` cuts its rows, in their order, into rounds of so many; None makes them one round.
        random_state: None, a number or a RandomState; decides the seed of the scheme.

    Attributes:
        classes_: the labels, sorted.
        n_features_in_: columns of X.
        report_: what the last round did.
        scheme_: the scheme behind this face.
    """

    def __init__(
        self,
        learner: Any = None,
        *,
        scheme: str | Callable[..., Scheme] = Spanwise,
        round_size: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.learner = learner
        self.scheme = scheme
        self.round_size = round_size
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything, and learn all rows, round by round."""
        X, y = self._checked(X, y, reset=True)
        rounds = list(self._rounds(len(y)))
        self._start()
        self.classes_ = np.unique(y)
        for rows in rounds:
            self.report_ = self.scheme_.learn(X[rows], y[rows])
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn one round. `classes` may name labels to come; those it leaves out are added as they appear."""
        first = not hasattr(self, "scheme_")
        X, y = self._checked(X, y, reset=first)
        if first:
            self._start()
        self.report_ = self.scheme_.learn(X, y)
        named = y if classes is None else np.append(classes, y)
        self.classes_ = np.union1d(getattr(self, "classes_", named), named)
        return self

    def predict(self, X: Any) -> Array:
        """The most probable label for every row; the first in `classes_` among equals."""
        proba = self.predict_proba(X)
        return np.asarray(self.classes_[proba.argmax(axis=1)])

    def predict_proba(self, X: Any) -> Array:
        """A probability for every row and class, columns in the order of `classes_`."""
        X = self._asked(X)
        known = self.scheme_.predict_proba(X)
        proba = np.zeros((len(known), len(self.classes_)))
        proba[:, np.searchsorted(self.classes_, np.array(self.scheme_.classes, self.classes_.dtype))] = known
        return proba

    def __sklearn_tags__(self) -> Any:
        tags, learner = super().__sklearn_tags__(), self._learner()
        if isinstance(learner, BaseEstimator):
            tags.input_tags.sparse = get_tags(learner).input_tags.sparse
            tags.input_tags.allow_nan = all(get_tags(step).input_tags.allow_nan for step in steps_of(learner))
        else:
            tags.input_tags.allow_nan = getattr(learner, "accepts_nan", False)
        return tags

    def _learner(self) -> Any:
        return SGDClassifier(loss="log_loss") if self.learner is None else self.learner

    def _start(self) -> None:
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        self.scheme_ = catalog.make_scheme(self.scheme, self._learner(), seed)

    def _rounds(self, n: int) -> Iterator[slice]:
        size = n if self.round_size is None else self.round_size
        if not isinstance(size, int | np.integer) or size < 1:
            raise SettingError(f"round_size={size}: a round needs at least 1 row; None makes all rows one round")
        return (slice(begin, begin + size) for begin in range(0, n, size))

    def _checked(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, Array]:
        X, y = validate_data(self, X, y, reset=reset, **self._accepted())
        check_classification_targets(y)
        return X, y

    def _asked(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, **self._accepted())

    def _accepted(self) -> dict[str, Any]:
        takes = get_tags(self).input_tags
        sparse = {"accept_sparse": "csr" if takes.sparse else False, "accept_large_sparse": False}
        return {**sparse, "ensure_all_finite": not takes.allow_nan}
