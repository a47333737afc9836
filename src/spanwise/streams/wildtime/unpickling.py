"""A pickle is a program; this reader runs only the part of it that builds data.

Every name a pickle asks for is looked up in the table `ALLOWED` and nowhere else, and what stands there is ours: it
makes arrays and plain containers. All other names are refused, so nothing is imported or called.
"""

import pickle
import re
from collections.abc import Iterator
from enum import IntEnum
from io import BytesIO
from math import prod
from typing import Any, BinaryIO

import numpy as np

from spanwise.errors import DataError
from spanwise.learner import Array

PLAIN = re.compile(r"[<>|=]?[?bBhHiIlLqQefdgSUOuc]\d*")
TENSORS = {"Long": "<i8", "Int": "<i4", "Short": "<i2", "Byte": "u1", "Char": "i1", "Double": "<f8", "Float": "<f4"}


class Mode(IntEnum):
    """Stands for `data.utils.Mode` of Wild-Time's first release; equal to the second's numbers."""

    TRAIN = 0
    TEST_ID = 1
    TEST_OOD = 2


class DataUnpickler(pickle.Unpickler):
    """Reads dicts, lists, strings, numbers, numpy arrays, torch tensors (as arrays) and `Mode`.

    Args:
        file: the pickle.
        where: what to call it in an error.
    """

    def __init__(self, file: BinaryIO, where: str) -> None:
        super().__init__(file)
        self.where = where

    def find_class(self, module: str, name: str) -> Any:
        asked = f"{module.replace('numpy._core.', 'numpy.core.')}.{name}"
        if asked in ALLOWED:
            return ALLOWED[asked]
        raise DataError(
            f"{self.where} asks for {module}.{name}, which is no part of Wild-Time's data, so it was not read further: "
            "a pickle can run any program. Get the file from a source you trust."
        )

    def persistent_load(self, pid: Any) -> Any:
        raise DataError(f"{self.where} refers to data outside of it ({pid!r}): this is not one of Wild-Time's pickles")


class StorageUnpickler(DataUnpickler):
    """The part of a torch storage that says what lies behind it."""

    def persistent_load(self, pid: Any) -> Any:
        return pid


class Plain:
    """Stands for numpy.dtype, whose own way of being restored takes flags from the pickle on trust."""

    def __init__(self, kind: str, *_: Any) -> None:
        if not PLAIN.fullmatch(kind):
            raise DataError(f"an array of type {kind!r} in a pickle: expected numbers or strings")
        self.dtype = np.dtype(kind)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.dtype = self.dtype.newbyteorder(state[1] if state[1] in ("<", ">") else "=")


class Stored:
    """Stands for numpy.ndarray; `np.asarray` makes one of it."""

    def __init__(self, *_: Any) -> None:
        self.array: Array = np.empty(0)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, plain, by_column, data = state
        if plain.dtype == object:
            self.array = np.empty(len(data), dtype=object)
            self.array[:] = data
            self.array = self.array.reshape(shape, order="F" if by_column else "C")
        else:
            self.array = _from_buffer(data, plain, shape, "F" if by_column else "C")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self.array if dtype is None else self.array.astype(dtype)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.array)


def _from_buffer(buffer: Any, plain: Plain, shape: tuple[int, ...], order: Any) -> Array:
    flat = np.frombuffer(buffer, dtype=plain.dtype) if len(buffer) else np.empty(0, dtype=plain.dtype)
    return flat.reshape(shape, order=order)


def _scalar(plain: Plain, data: bytes) -> Any:
    return np.frombuffer(data, dtype=plain.dtype)[0]


def _member(owner: Any, name: str) -> Mode:
    """What Python 3.11 writes for a member of an Enum."""
    if owner is not Mode:
        raise DataError(f"a pickle asks for the attribute {name!r} of {owner!r}, which is not data")
    return Mode[name]


def _storage(data: bytes) -> Array:
    """The numbers behind a tensor: five pickles, a count, and then the numbers themselves."""
    file = BytesIO(data)
    _, _, _, (_, kind, _, _, size, *_), _ = (StorageUnpickler(file, "a tensor").load() for _ in range(5))
    if int.from_bytes(file.read(8), "little") != size:
        raise DataError("a tensor in a pickle is torn. Get the file again.")
    return np.frombuffer(file.read(), dtype=kind, count=size)


def _tensor(storage: Array, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: Any) -> Array:
    if stride != tuple(prod(size[i + 1 :]) for i in range(len(size))):
        raise DataError(f"a tensor of size {size} and stride {stride} in a pickle: expected rows one after another")
    return storage[offset : offset + prod(size)].reshape(size)


ALLOWED: dict[str, Any] = {
    "numpy.ndarray": "numpy.ndarray",
    "numpy.dtype": Plain,
    "numpy.core.multiarray._reconstruct": Stored,
    "numpy.core.multiarray.scalar": _scalar,
    "numpy.core.numeric._frombuffer": _from_buffer,
    "data.utils.Mode": Mode,
    "builtins.getattr": _member,
    "collections.OrderedDict": dict,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch.storage._load_from_bytes": _storage,
} | {f"torch.{name}Storage": dtype for name, dtype in TENSORS.items()}
