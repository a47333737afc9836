"""`import spanwise` is light: what a user did not ask for is neither loaded nor needed."""

import json
import subprocess
import sys

HEAVY = {"torch", "ray", "sklearn", "river", "pandas", "matplotlib", "scipy", "skops", "fastapi", "pyarrow"}

LOADED = "import json, sys; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
CORE = """
import importlib, pkgutil, spanwise.core

for module in pkgutil.iter_modules(spanwise.core.__path__, "spanwise.core."):
    importlib.import_module(module.name)
"""
WITHOUT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent!r}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
"""


def in_a_fresh_interpreter(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_spanwise_loads_none_of_the_heavy_libraries():
    loaded = set(json.loads(in_a_fresh_interpreter(f"import spanwise\n{LOADED}")))
    assert not loaded & HEAVY


def test_the_core_imports_with_numpy_alone():
    in_a_fresh_interpreter(WITHOUT.format(absent=HEAVY | {"click", "rich"}) + CORE)
