"""The laws of `checks` over every learner that has a name."""

import numpy as np
import pytest

from spanwise import AWE, catalog, checks
from spanwise.errors import FeatureError


@pytest.mark.parametrize("check", checks.LEARNER, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", [*catalog.LEARNERS, "centroids"])
def test_every_learner(name, check):
    if name == "majority" and check is checks.check_a_class_that_comes_late_is_learned:
        pytest.skip("a learner that looks at no features cannot tell a late class apart")
    check(checks.centroids() if name == "centroids" else catalog.learner(name))


BAD = {"NaN": np.nan, "infinity": np.inf}


@pytest.mark.parametrize("value", BAD.values(), ids=BAD)
@pytest.mark.parametrize("name", catalog.LEARNERS)
def test_every_learner_that_does_not_take_nan_is_not_given_any(name, value):
    """Refused by place before anything trains, so that even a model without copies stays whole."""
    model = AWE(catalog.learner(name), transactional=False)
    (X, y), *_ = checks.toy_batches(1)
    model.learn(X, y)
    holed = X.copy()
    holed[3, 2] = value
    with pytest.raises(FeatureError, match="row 3, column 2"):
        model.learn(holed, y)
    assert len(model.predict(X)) == len(X)
