"""The laws of checks.py over every learner that has a name."""

import pytest

from spanwise import catalog, checks


@pytest.mark.parametrize("check", checks.LEARNER, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", [*catalog.LEARNERS, "centroids"])
def test_every_learner(name, check):
    if name == "majority" and check is checks.check_a_class_that_comes_late_is_learned:
        pytest.skip("a learner that looks at no features cannot tell a late class apart")
    check(checks.centroids() if name == "centroids" else catalog.learner(name))
