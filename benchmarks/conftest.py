"""Counts are asserted, clocks are recorded: every benchmark adds a row to a file of results."""

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path

import pytest

RESULTS = Path(__file__).parent.parent / "results"
PACKAGES = ("numpy", "scikit-learn", "torch", "pyarrow")


@pytest.fixture
def record(request):
    """`record(benchmark=..., figure=...)`: keep figures, replacing those of an earlier run of the same benchmark.

    They go to core_cost.json, or to the file that the module names as its `RESULTS`.
    """
    path = RESULTS / getattr(request.module, "RESULTS", "core_cost.json")

    def keep(**row: object) -> None:
        old = json.loads(path.read_text())["rows"] if path.exists() else []
        rows = [one for one in old if one["benchmark"] != row["benchmark"]] + [row]
        rows.sort(key=lambda one: one["benchmark"])
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"machine": machine(), "versions": versions(), "rows": rows}, indent=1) + "\n")

    return keep


def machine() -> dict[str, object]:
    return {"cpus": os.cpu_count(), "processor": platform.machine(), "system": platform.system()}


def versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
