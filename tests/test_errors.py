"""Errors say what they said when they come from another process."""

import pickle

import pytest

from spanwise import errors

ALL = [thing for thing in vars(errors).values() if isinstance(thing, type) and issubclass(thing, errors.SpanwiseError)]


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_an_error_survives_the_way_to_another_process(kind):
    error = kind("plotly", "report") if kind is errors.MissingExtraError else kind("what was wrong")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
