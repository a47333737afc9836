"""The laws of `checks` over every scheme, and over every part put into a scheme."""

from collections.abc import Callable

import pytest

from spanwise import AWE, SAOL, Algorithm, HoldOut, Prequential, Scheme, Vote, catalog, checks
from spanwise.core.spans import Cover, LiteralMRI
from spanwise.schemes.covers import OneResolution
from spanwise.schemes.spanwise import MANY, cover_of

HORIZON = 64
NEEDS = {"awe-literal": {"horizon": HORIZON}}


def cover(name: str) -> Cover:
    special = {"mri-literal": LiteralMRI(HORIZON), "one-resolution": OneResolution(8)}
    return special.get(name) or catalog.find(catalog.COVERS, name)()


def composed(**parts: object) -> Callable[[object, int], Scheme]:
    return lambda learner, seed: Scheme(Algorithm(learner, seed=seed, **parts))


def with_choice(name: str, **parts: object) -> Callable[[object, int], Scheme]:
    make = catalog.find(catalog.CHOICES, name)
    return composed(choice=make(), **parts)


SCHEMES = {
    **{n: lambda lr, seed, n=n: catalog.scheme(n, lr, seed=seed, **NEEDS.get(n, {})) for n in catalog.SCHEMES},
    **{f"cover {name}": composed(cover=cover(name)) for name in catalog.COVERS},
    **{f"evidence {name}": composed(evidence=catalog.find(catalog.EVIDENCE, name)()) for name in catalog.EVIDENCE},
    **{f"window {name}": composed(window=catalog.find(catalog.WINDOWS, name)()) for name in catalog.WINDOWS},
    **{f"choice {name}": with_choice(name) for name in catalog.CHOICES},
    **{f"choice {name}, prequential": with_choice(name, evidence=Prequential()) for name in catalog.CHOICES},
    "window arw, prequential": composed(window=catalog.find(catalog.WINDOWS, "arw")(), evidence=Prequential()),
    "prequential, capped": composed(evidence=Prequential(rounds=3)),
    "hold-out, capped by rounds": composed(evidence=HoldOut(0.2, rounds=3)),
    "hold-out, capped by points": composed(evidence=HoldOut(0.2, points=9)),
    "literal vote": lambda lr, seed: Vote(lr, seed=seed, literal=True, horizon=HORIZON),
    "random saol": lambda lr, seed: SAOL(lr, seed=seed, random=True),
    "saol with fall-back": lambda lr, seed: SAOL(lr, seed=seed, fallback=True),
    "awe on all data": lambda lr, seed: AWE(lr, seed=seed, train_fraction=1.0),
    "untrained judged": composed(untrained=True),
}


@pytest.mark.parametrize("check", checks.SCHEME, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", SCHEMES)
def test_every_scheme(name, check):
    check(SCHEMES[name])


@pytest.mark.parametrize("check", checks.COVER, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", catalog.COVERS)
def test_every_cover(name, check):
    check(cover(name))


@pytest.mark.parametrize("check", checks.COVER, ids=lambda check: check.__name__)
@pytest.mark.parametrize("copies", [1, 2, MANY])
def test_every_cover_of_spanwise(copies, check):
    check(cover_of(copies))


@pytest.mark.parametrize("check", checks.WINDOW, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", catalog.WINDOWS)
def test_every_window(name, check):
    check(catalog.find(catalog.WINDOWS, name)())
