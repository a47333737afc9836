"""Ctrl-C."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stoppable() -> Iterator[None]:
    """Ctrl-C ends the command and says how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("stopped; cells that are done are kept, and the same command goes on from there\n")
        raise SystemExit(130) from None
