"""One process at a time: a lock that goes with the process that holds it, however that ends."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has none; two commands that share a folder are then the user's to keep apart
    fcntl = None  # type: ignore[assignment]


@contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Wait until no other process is within this for the same file, which is made empty and stays."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with Path(path).open("ab") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
