"""The names that users may rely on: sorted, there, and explained."""

import inspect

import pytest

import spanwise

NAMES = list(spanwise.__all__)


def place(name: str) -> tuple[int, str]:
    """CONSTANTS and acronyms, then Classes, then functions, as ruff sorts them."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def test_the_public_names_are_sorted():
    assert sorted(NAMES, key=place) == NAMES


def test_no_public_name_is_listed_twice():
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_there_and_explained(name):
    thing = getattr(spanwise, name)
    if inspect.isclass(thing) or callable(thing):
        own = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
        assert own, f"{name} has no docstring of its own"
