"""Folders on disk: atomic, checksummed, versioned, and no code in them.

A folder holds `manifest.json` (values, and the checksum of everything) and one `arrays-<hash>.npz`.
The arrays are written and synced first, under a name made from their content; then the manifest
replaces the old one in a single rename. Whoever reads gets the old state or the new one, whole.
"""

import hashlib
import io
import json
import os
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from spanwise._version import __version__
from spanwise.errors import SnapshotError
from spanwise.learner import Array, Stateful

FORMAT = 1
MANIFEST = "manifest.json"
OURS = re.compile(r"arrays-[0-9a-f]{16}\.npz(\.tmp)?")
ROOMS = ("spanwise.core.", "spanwise.schemes.")
"""Where the parts live that a snapshot may name."""


def write(folder: str | os.PathLike[str], value: Any) -> None:
    """Write `value` (numbers, strings, lists, dicts, arrays, bytes, parts of spanwise) as a snapshot."""
    folder = Path(folder)
    arrays = Arrays()
    body = _encode(value, arrays)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    data = buffer.getvalue()
    checksum = hashlib.sha256(data).hexdigest()
    name = f"arrays-{checksum[:16]}.npz"
    manifest = {"format": FORMAT, "spanwise": __version__, "arrays": name, "arrays_sha256": checksum, "body": body}
    manifest["sha256"] = _checksum(manifest)
    try:
        _make(folder)
        _write_synced(folder / name, data)
        _write_synced(folder / MANIFEST, json.dumps(manifest).encode())
    except OSError as error:
        raise SnapshotError(f"{folder} cannot be written to: {error.strerror}") from error
    for old in folder.iterdir():
        if OURS.fullmatch(old.name) and old.name != name:
            old.unlink()


def check_writable(value: Any) -> None:
    """Raise a `SnapshotError` where `write` would."""
    _encode(value, Arrays())


def read(folder: str | os.PathLike[str]) -> Any:
    """The value that `write` wrote, or a `SnapshotError` that says what is wrong with the folder."""
    folder = Path(folder)
    manifest = _read_manifest(folder)
    try:
        data = (folder / manifest["arrays"]).read_bytes()
    except OSError as error:
        if _read_manifest(folder)["arrays"] != manifest["arrays"]:
            return read(folder)  # somebody has written a newer one meanwhile
        raise SnapshotError(f"{folder} is torn: {manifest['arrays']} cannot be read ({error.strerror})") from None
    if hashlib.sha256(data).hexdigest() != manifest["arrays_sha256"]:
        raise SnapshotError(f"{folder} was altered or torn: {manifest['arrays']} does not match its checksum")
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return _decode(manifest["body"], dict(arrays))
    except (LookupError, TypeError, AttributeError, ValueError, ImportError) as error:
        if isinstance(error, SnapshotError):
            raise
        raise SnapshotError(f"{folder} does not hold what it should: {type(error).__name__}: {error}") from error


def _read_manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except FileNotFoundError:
        raise SnapshotError(f"{folder} is no snapshot: it holds no {MANIFEST}") from None
    except ValueError:
        raise SnapshotError(f"{folder} was altered or torn: {MANIFEST} cannot be read") from None
    if not isinstance(manifest, dict) or not {"format", "spanwise"} <= set(manifest):
        raise SnapshotError(f"{folder} is no snapshot: its {MANIFEST} was written by another program")
    if manifest["format"] != FORMAT:
        raise SnapshotError(
            f"{folder} has snapshot format {manifest['format']!r}, written by spanwise {manifest['spanwise']}; "
            f"this is spanwise {__version__}, which reads format {FORMAT}"
        )
    if manifest.pop("sha256", None) != _checksum(manifest) or "arrays" not in manifest:
        raise SnapshotError(f"{folder} was altered: {MANIFEST} does not match its checksum")
    return manifest


def _make(folder: Path) -> None:
    """Make the folder, to stay; refuse one in which another program keeps a manifest of its own."""
    new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    if new:
        _sync_folder(folder.absolute().parent)
    elif (folder / MANIFEST).exists():
        try:
            ours = "spanwise" in json.loads((folder / MANIFEST).read_bytes())
        except ValueError:
            ours = True  # a torn one of ours: nobody else's could be told apart from it
        if not ours:
            raise SnapshotError(f"{folder} holds a {MANIFEST} of another program: choose another folder")


def _checksum(manifest: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def _write_synced(path: Path, data: bytes) -> None:
    """Write beside, sync, rename, sync the folder: after this returns, the file is there to stay."""
    beside = path.with_name(path.name + ".tmp")
    with beside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class Arrays(dict[str, Array]):
    """Arrays by name; one that is held in several places is put aside once, and is one again when it is read."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}

    def put(self, value: Array) -> str:
        name = self.names.setdefault(id(value), f"a{len(self)}")
        self[name] = value  # kept, so that no other array may have its id
        return name


def _encode(value: Any, arrays: Arrays) -> Any:
    """`value` as JSON, with arrays put aside; `{"$": kind, ...}` marks what JSON has no word for."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is np.ndarray and value.dtype.kind not in "OV":
        return {"$": "array", "name": arrays.put(value)}
    if isinstance(value, np.generic) and value.dtype.kind not in "OV":
        return {"$": "scalar", "name": arrays.put(np.array(value))}
    if type(value) is bytes:
        return {"$": "bytes", "name": arrays.put(np.frombuffer(value, dtype=np.uint8))}
    if type(value) is list:
        return [_encode(item, arrays) for item in value]
    if type(value) is tuple:
        return {"$": "tuple", "items": [_encode(item, arrays) for item in value]}
    if type(value) is dict:
        if all(type(key) is str and key != "$" for key in value):
            return {key: _encode(item, arrays) for key, item in value.items()}
        return {"$": "dict", "items": [[_encode(k, arrays), _encode(v, arrays)] for k, v in value.items()]}
    return _encode_part(value, arrays)


def _encode_part(value: Any, arrays: Arrays) -> Any:
    part = type(value)
    if not part.__module__.startswith(ROOMS):
        raise SnapshotError(f"a {part.__module__}.{part.__qualname__} cannot be written to a snapshot")
    marked = {"$": "part", "class": f"{part.__module__}:{part.__qualname__}"}
    return {**marked, "state": _encode(_state_of(value), arrays)}


def _state_of(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Stateful):
        return value.state()
    if is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, tuple):  # a NamedTuple
        return dict(zip(value._fields, value, strict=True))  # type: ignore[attr-defined]
    raise SnapshotError(f"a {type(value).__name__} has neither state() nor fields: it cannot be written")


def _decode(value: Any, arrays: Mapping[str, Array]) -> Any:
    if isinstance(value, list):
        return [_decode(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("$")
    if kind is None:
        return {key: _decode(item, arrays) for key, item in value.items()}
    if kind == "array":
        return arrays[value["name"]]
    if kind == "scalar":
        return arrays[value["name"]][()]
    if kind == "bytes":
        return arrays[value["name"]].tobytes()
    if kind == "tuple":
        return tuple(_decode(item, arrays) for item in value["items"])
    if kind == "dict":
        return {_decode(k, arrays): _decode(v, arrays) for k, v in value["items"]}
    return _decode_part(value["class"], _decode(value["state"], arrays))


def _decode_part(path: str, state: Mapping[str, Any]) -> Any:
    """Only classes of this package, found by name: a folder brings values, never code."""
    module, _, name = path.partition(":")
    part = getattr(import_module(module), name, None) if module.startswith(ROOMS) else None
    if not isinstance(part, type) or part.__module__ != module:
        raise SnapshotError(f"the snapshot names {path}, which is no part of spanwise {__version__}")
    if issubclass(part, tuple):
        return part(**state)
    made = object.__new__(part)
    if isinstance(made, Stateful):
        made.restore(state)
    else:
        for key, item in state.items():
            object.__setattr__(made, key, item)
    return made
