"""Every error this library raises on purpose.

    SpanwiseError
    ├── DataError (ValueError)              a batch that cannot be used
    │   ├── FeatureError                    features: width, names, NaN, infinity, container
    │   └── LabelError                      labels: all missing, of a type that cannot be a class, unknown
    ├── SettingError (ValueError)           a parameter out of range, or two that contradict each other
    ├── HorizonError (ValueError)           a round past the horizon of the literal cover
    ├── LearnerError (RuntimeError)         a wrapped learner raised, or answered in the wrong shape
    ├── BrokenModelError (RuntimeError)     a round failed half-way with transactional=False
    ├── SnapshotError (ValueError)          a folder that is torn, altered, of another version, or cannot be written
    ├── UnknownNameError (KeyError)         a name that the catalog does not hold
    └── MissingExtraError (ImportError)     an optional dependency is not installed

Each derives from the builtin that a caller would guess, so that `except ValueError` works too.
"""

from typing import Self


class SpanwiseError(Exception):
    """The root of them all."""


class DataError(SpanwiseError, ValueError):
    """A batch that cannot be used; nothing has been changed."""


class FeatureError(DataError):
    """Features that the learner cannot take, or that differ from those of earlier rounds."""


class LabelError(DataError):
    """Labels that cannot be used as classes."""


class SettingError(SpanwiseError, ValueError):
    """A parameter out of range, or two that contradict each other."""


class HorizonError(SpanwiseError, ValueError):
    """A round past the horizon that the literal cover was laid out for."""


class LearnerError(SpanwiseError, RuntimeError):
    """A wrapped learner raised, or answered in the wrong shape."""


class BrokenModelError(SpanwiseError, RuntimeError):
    """A round failed half-way and, without copies, could not be undone."""


class SnapshotError(SpanwiseError, ValueError):
    """A folder that is torn, altered, of another version, or cannot be written."""


class UnknownNameError(SpanwiseError, KeyError):
    """A name that the catalog does not hold."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class MissingExtraError(SpanwiseError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"this needs {package}, which is not installed: pip install 'spanwise[{extra}]'",
            name=package,
        )
        self.given = package, extra

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        """For a process that raises it to another that waits."""
        return type(self), self.given
