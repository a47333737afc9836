"""Learners that are ready for what files hold: texts, or columns of numbers, categories and text.

Their settings were chosen after few trials, of words on headlines, of columns on flights, weather,
electricity prices, insects and buildings. They are meant to be decent everywhere rather than best anywhere.
"""

from typing import Any

import numpy as np

from spanwise.adapters.features import Featured
from spanwise.adapters.hashing import Columns, Words
from spanwise.adapters.missing import Filled
from spanwise.adapters.ready_sklearn import mlp
from spanwise.errors import MissingExtraError
from spanwise.learner import Array

try:
    from sklearn.linear_model import SGDClassifier
except ImportError as error:
    raise MissingExtraError("scikit-learn", "sklearn") from error

WIDE = 2**18
"""Columns to hash into for a linear model, which pays only for those that a row fills."""

WEIGHTS = 2**22
"""Weights of a linear model at most, 32 MB: a pool holds tens of them."""

NARROW = {"text": 512, "columns": 128}
"""Columns to hash into for any other learner, which pays for all of them."""


def room(classes: int) -> int:
    """Columns to hash words into for a linear model of so many classes.

    >>> room(11) == 2**18, room(116) == 2**15
    (True, True)
    """
    return min(WIDE, 1 << (WEIGHTS // max(2, classes)).bit_length() - 1)


def words_linear(classes: int = 2) -> Featured:
    """Logistic regression on hashed words and pairs of words, by stochastic gradient descent.

    The steps stay as long as they began, so that it never stops learning: on HuffPost headlines by month it
    then got 68 % right, and with scikit-learn's own settings, whose steps shrink, 56 %.

    Args:
        classes: how many there will be, about; with many of them words share columns.
    """
    return Featured(Words(room(classes)), Linear(loss="log_loss", alpha=1e-6, learning_rate="constant", eta0=3.0))


def columns_linear(text: str | None = None, classes: int = 2) -> Featured:
    """Logistic regression on numbers and categories, and on the words of a column of text if there is one.

    The steps shrink, but slowly: labels of such data are often little better than chance, and long steps
    then follow the noise.

    Args:
        text: the name of that column.
        classes: as for `words_linear`.
    """
    linear = Linear(loss="log_loss", alpha=1e-6, learning_rate="invscaling", eta0=1.0, power_t=0.25)
    return Featured(Columns(room(classes) if text else 2**14, text=text), Filled(linear))


def columns_mlp(text: str | None = None) -> Featured:
    """A small neural network on the same, hashed into fewer columns."""
    return for_columns(mlp(), text)


def for_text(learner: object, *, width: int = NARROW["text"]) -> Featured:
    """Any learner of arrays, made to take texts: their words are hashed into a few dense columns.

    Args:
        learner: a learner, or a scikit-learn or River classifier.
        width: columns; more tell words apart better and make every instance slower.
    """
    return Featured(Words(width, dense=True), learner)


def for_columns(learner: object, text: str | None = None, *, width: int | None = None) -> Featured:
    """Any learner of arrays, made to take columns of numbers, categories and text, with missing values in them.

    Args:
        learner: a learner, or a scikit-learn or River classifier.
        text: the column to be read as text, if there is one.
        width: columns for the categories, and as many for the words; 128 if None, and 512 where there is a text.
    """
    width = NARROW["text" if text else "columns"] if width is None else width
    return Featured(Columns(width, dense=True, text=text), Filled(learner))


class Linear(SGDClassifier):  # type: ignore[misc]
    """SGDClassifier that asks one class after another, which saves turning all of its weights round for every batch."""

    def decision_function(self, X: Any) -> Array:
        if len(self.coef_) == 1:
            return np.asarray(super().decision_function(X))
        return np.asarray(np.stack([X @ weights for weights in self.coef_], axis=1) + self.intercept_)
