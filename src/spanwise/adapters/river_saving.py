"""River models written down without pickle, through skops, where that loses nothing.

skops forgets parts of some models without a word, so what was written is read back at once and
compared with the original, part by part, before anybody relies on it.
"""

from importlib import import_module
from types import BuiltinFunctionType, FunctionType
from typing import Any
from zipfile import ZIP_DEFLATED

import numpy as np

from spanwise.errors import MissingExtraError, SnapshotError

TRUSTED = {"builtins.frozenset", "collections.Counter", "collections.defaultdict", "random.Random"}
"""What River's models are made of besides its own classes; nothing here runs code when loaded."""

ATOMS = (bool, int, float, complex, str, bytes, type(None), type, set, frozenset, FunctionType, BuiltinFunctionType)


def dump_model(model: Any, template: Any) -> bytes:
    """`model` as skops writes it, or a `SnapshotError` that says why it cannot."""
    skops = _skops()
    name = type(model).__name__
    try:
        for one in (template, model):  # most that cannot be written show it untrained, in no time
            data: bytes = skops.dumps(one, compression=ZIP_DEFLATED)
            whole = _same(one, _read(skops, data), {})
    except Exception as error:
        raise SnapshotError(f"skops cannot write this {name} ({type(error).__name__}: {error})") from error
    if not whole:
        raise SnapshotError(f"skops loses a part of what this {name} has learned")
    return data


def load_model(data: bytes, template: Any) -> Any:
    """The model that was written down, of the same type as `template`."""
    skops = _skops()
    try:
        model = _read(skops, data)
    except Exception as error:
        raise SnapshotError(f"the River model in this snapshot cannot be read: {error}") from error
    if type(model) is not type(template):
        raise SnapshotError(
            f"the snapshot holds a {type(model).__name__}, but a {type(template).__name__} was passed: "
            "pass the learner it was saved with"
        )
    return model


def _skops() -> Any:
    """skops, looked for only when something is saved: it loads all of scikit-learn."""
    try:
        return import_module("skops.io")
    except ImportError as error:
        raise MissingExtraError("skops", "river") from error


def _read(skops: Any, data: bytes) -> Any:
    """The model in `data`, if it is made of River's classes and a few harmless ones."""
    foreign = skops.get_untrusted_types(data=data)
    return skops.loads(data, trusted=[name for name in foreign if name in TRUSTED or _is_rivers(name)])


def _is_rivers(name: str) -> bool:
    """Whether `name` is a class that River itself defines; what its modules merely import is not."""
    module, _, attribute = name.rpartition(".")
    found = getattr(import_module(module), attribute, None) if module.startswith("river.") else None
    return isinstance(found, type) and found.__module__.startswith("river.")


def _same(a: Any, b: Any, met: dict[int, Any]) -> bool:
    """Whether two models are equal down to the last part, and share parts within themselves alike."""
    if type(a) is not type(b):
        return False
    if isinstance(a, ATOMS):
        return bool(a == b or (a != a and b != b))
    if isinstance(a, np.ndarray) and a.dtype.kind != "O":
        return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())
    if type(a) is not tuple:
        if id(a) in met or id(b) in met:
            return met.get(id(a)) is b and met.get(id(b)) is a
        met[id(a)], met[id(b)] = b, a  # which also keeps both alive, so that no id comes twice
    left, right = _parts(a), _parts(b)
    return len(left) == len(right) and all(_same(x, y, met) for x, y in zip(left, right, strict=True))


def _parts(thing: Any) -> list[Any]:
    """What a thing is made of, as pickle would see it: this reaches into River's compiled classes too."""
    if type(thing) in (list, tuple):
        return list(thing)
    if type(thing) is dict:
        return [part for item in thing.items() for part in item]
    reduced = thing.__reduce_ex__(4)
    return [reduced] if isinstance(reduced, str) else [_listed(part) for part in reduced]


def _listed(part: Any) -> Any:
    """Pickle hands out the items of lists and dicts as iterators."""
    return list(part) if hasattr(part, "__next__") else part
