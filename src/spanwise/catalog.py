"""Every name a user may type, and what it stands for. Tables; nothing is imported before it is asked for."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from spanwise.core.scheme import Scheme
from spanwise.errors import UnknownNameError
from spanwise.learner import Learner

LEARNERS = {
    "averaged-linear": "spanwise.adapters.ready_sklearn:averaged_linear",
    "coral": "spanwise.deep.ready:coral",
    "ewc": "spanwise.deep.ready:ewc",
    "ft": "spanwise.deep.ready:ft",
    "hoeffding-tree": "spanwise.adapters.ready_river:hoeffding_tree",
    "irm": "spanwise.deep.ready:irm",
    "linear": "spanwise.adapters.ready_sklearn:linear",
    "majority": "spanwise.adapters.functions:majority_class",
    "mlp": "spanwise.adapters.ready_sklearn:mlp",
    "naive-bayes": "spanwise.adapters.ready_sklearn:naive_bayes",
    "river-linear": "spanwise.adapters.ready_river:linear",
    "river-naive-bayes": "spanwise.adapters.ready_river:naive_bayes",
    "scaled-linear": "spanwise.adapters.ready_sklearn:scaled_linear",
    "si": "spanwise.deep.ready:si",
}

SCHEMES = {
    "awe": "spanwise.core.awe:AWE",
    "awe-literal": "spanwise.core.awe:literal_awe",
    "awe-prequential": "spanwise.core.awe:prequential_awe",
    "cbce": "spanwise.schemes.cbce:CBCE",
    "plain": "spanwise.schemes.plain:Plain",
    "plain-ensemble": "spanwise.schemes.plain:PlainEnsemble",
    "saol": "spanwise.schemes.saol:SAOL",
    "single-resolution": "spanwise.schemes.single_resolution:SingleResolution",
    "spanwise": "spanwise.schemes.spanwise:Spanwise",
    "vote": "spanwise.schemes.vote:Vote",
}

COVERS = {
    "flh": "spanwise.schemes.covers:FLH",
    "geometric": "spanwise.schemes.covers:Geometric",
    "mri": "spanwise.core.spans:MRI",
    "mri-literal": "spanwise.core.spans:LiteralMRI",
    "one-resolution": "spanwise.schemes.covers:OneResolution",
    "r-only": "spanwise.schemes.covers:ROnly",
}

EVIDENCE = {
    "hold-out": "spanwise.core.evidence:HoldOut",
    "prequential": "spanwise.core.evidence:Prequential",
}

WINDOWS = {
    "arw": "spanwise.schemes.windows:ARW",
    "decayed": "spanwise.schemes.windows:Decayed",
    "doubling": "spanwise.core.refine:Doubling",
    "fixed": "spanwise.schemes.windows:Fixed",
    "hoeffding": "spanwise.schemes.windows:Hoeffding",
}

CHOICES = {
    "best": "spanwise.schemes.choices:Best",
    "cbce": "spanwise.schemes.cbce:CBCEWeights",
    "ensemble-or-best": "spanwise.core.awe:EnsembleOrBest",
    "majority": "spanwise.schemes.choices:Majority",
    "saol": "spanwise.schemes.saol:SAOLWeights",
    "uniform": "spanwise.schemes.choices:Uniform",
}

STREAMS = {
    "abrupt": "spanwise.streams.synthetic:Abrupt",
    "corrupted-images": "spanwise.streams.images:CorruptedImages",
    "covariate-shift": "spanwise.streams.synthetic:CovariateShift",
    "digits": "spanwise.streams.digits:RotatingDigits",
    "file": "spanwise.streams.files:FileStream",
    "gradual": "spanwise.streams.synthetic:Gradual",
    "label-shift": "spanwise.streams.synthetic:LabelShift",
    "prior-drift-images": "spanwise.streams.images:PriorDriftImages",
    "recurring": "spanwise.streams.synthetic:Recurring",
    "river": "spanwise.streams.river:RiverStream",
    "rotating-images": "spanwise.streams.images:RotatingImages",
    "seasonal-images": "spanwise.streams.images:SeasonalImages",
    "stationary": "spanwise.streams.synthetic:Stationary",
    "wild-time": "spanwise.streams.wildtime:WildTime",
}


def find(table: Mapping[str, str], name: str) -> Any:
    """What `name` stands for in one of the tables above.

    >>> find(COVERS, "mri")().starts(3)
    [1, 2, 3]
    >>> find(COVERS, "mir")
    Traceback (most recent call last):
    spanwise.errors.UnknownNameError: there is no 'mir'; did you mean mri? All: flh, geometric, mri, ...
    """
    if name not in table:
        near = get_close_matches(name, table, n=2)
        hint = f"; did you mean {' or '.join(near)}?" if near else "."
        raise UnknownNameError(f"there is no {name!r}{hint} All: {', '.join(table)}")
    module, attribute = table[name].split(":")
    return getattr(import_module(module), attribute)


def learner(name: str) -> Learner:
    """A learner by name, untrained."""
    made: Learner = find(LEARNERS, name)()
    return made


def scheme(name: str, learner: object, **settings: Any) -> Scheme:
    """A scheme by name around `learner`.

    Args:
        name: a row of `SCHEMES`.
        learner: what to wrap.
        settings: what the scheme takes, such as seed; `awe-literal` needs a horizon.
    """
    made: Scheme = find(SCHEMES, name)(learner, **settings)
    return made


def make_scheme(what: str | Callable[..., Scheme], learner: object, seed: int) -> Scheme:
    """A scheme from its name, its class, or a function that is called as what(learner, seed=seed)."""
    return scheme(what, learner, seed=seed) if isinstance(what, str) else what(learner, seed=seed)
