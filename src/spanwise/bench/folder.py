"""The folder of a run: whose it is, what it was made with, and tables as files."""

import json
import os
import platform
import sys
from collections.abc import Collection, Mapping, Sequence
from hashlib import file_digest
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from spanwise._version import __version__
from spanwise.errors import SettingError


def take(folder: Path, settings: Mapping[str, Any], files: Mapping[str, str | None], *, begun: bool) -> None:
    """Take possession of a folder, which must be new or of an interrupted run with the same settings.

    Args:
        folder: of the run.
        settings: of the run.
        files: that the run reads, by what they are; what they hold must not have changed. None for one it has not.
        begun: whether a round was played. A run without one is none yet, whatever its settings.
    """
    config = folder / "config.json"
    now = {"settings": settings, "digests": {what: digest(file) for what, file in files.items()}}
    before = read_config(config)
    if before is None and folder.exists() and any(folder.iterdir()):
        raise SettingError(f"{folder} is not empty and holds no run: choose another folder with --out")
    changed = differences(before or now, now)
    if before is not None and changed and begun:
        raise SettingError(
            f"{folder} holds a run with other settings ({', '.join(changed)}): choose another folder "
            "with --out, or remove this one"
        )
    if before is None or changed:
        folder.mkdir(parents=True, exist_ok=True)
        new = config.with_name("config.json.new")
        new.write_text(json.dumps({**now, **made_with()}, indent=1) + "\n", encoding="utf-8")
        new.replace(config)


def read_config(config: Path) -> dict[str, Any] | None:
    """The configuration of a run; None where there is none, or something else of that name."""
    try:
        found = json.loads(config.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("settings"), dict) else None


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What another run had otherwise: names of settings, or which file of the same name holds something else."""
    one, other = before["settings"], now["settings"]
    changed = sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
    digests = before.get("digests", {})
    altered = [what for what, known in now["digests"].items() if digests.get(what) != known]
    return changed or [f"the {what} has changed" for what in altered]


def digest(file: str | None) -> str | None:
    """What a file is known by."""
    if file is None:
        return None
    with open(file, "rb") as opened:
        return file_digest(opened, "blake2b").hexdigest()[:32]


def made_with(used: Collection[str] = ()) -> dict[str, Any]:
    """Versions and machine.

    Args:
        used: packages that other processes have loaded.
    """
    packages = ("numpy", "scikit-learn", "river", "torch", "pyarrow", "plotly")
    modules = {"scikit-learn": "sklearn"}
    loaded = {name: version(name) for name in packages if name in used or modules.get(name, name) in sys.modules}
    versions = {"spanwise": __version__, "python": platform.python_version(), **loaded}
    machine = {"cpus": os.cpu_count(), "processor": platform.machine(), "system": platform.system()}
    return {"versions": versions, "machine": machine}


def where() -> str:
    """The machine and the versions, in words."""
    made = made_with()
    versions = (f"{name} {number}" for name, number in made["versions"].items())
    return ", ".join([f"{made['machine']['cpus']} CPUs", *versions])


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    pyarrow = import_module("pyarrow")  # not at the top, as it is optional
    import_module("pyarrow.parquet").write_table(pyarrow.Table.from_pylist(list(rows)), path)
