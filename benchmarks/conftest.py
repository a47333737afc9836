"""Counts are asserted, clocks are recorded: every benchmark adds a row to results/core_cost.json."""

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path

import pytest

RESULTS = Path(__file__).parent.parent / "results" / "core_cost.json"
PACKAGES = ("numpy", "scikit-learn", "torch")


@pytest.fixture
def record():
    """`record(benchmark=..., figure=...)`: keep figures, replacing those of an earlier run of the same benchmark."""

    def keep(**row: object) -> None:
        old = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []
        rows = [one for one in old if one["benchmark"] != row["benchmark"]] + [row]
        rows.sort(key=lambda one: one["benchmark"])
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps({"machine": machine(), "versions": versions(), "rows": rows}, indent=1) + "\n")

    return keep


def machine() -> dict[str, object]:
    return {"cpus": os.cpu_count(), "processor": platform.machine(), "system": platform.system()}


def versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
