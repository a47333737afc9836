"""Columns of a table as the arrays that learners take."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spanwise.errors import DataError, MissingExtraError
from spanwise.learner import Array

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as error:
    raise MissingExtraError("pyarrow", "files") from error


def is_string(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind))


def is_number(kind: pa.DataType) -> bool:
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
    return any(test(kind) for test in tests)


def absent(column: pa.Array) -> Array:
    """Where a label is missing: null, NaN or an empty string."""
    missing = pc.is_null(column, nan_is_null=bool(pa.types.is_floating(column.type)))
    if is_string(column.type):
        missing = pc.or_(missing, pc.equal(column, "").fill_null(True))
    return np.asarray(missing.to_numpy(zero_copy_only=False))


def as_labels(column: pa.ChunkedArray) -> Array:
    """Labels, none of them missing, in an array of their own type."""
    if is_string(column.type):
        return np.array(column.to_pylist(), dtype=str)
    if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type):
        return np.asarray(column.to_numpy())
    return np.asarray(column.cast(pa.float64()).to_numpy())


def as_features(rows: pa.Table, features: Sequence[str], text: str | None) -> Any:
    """X of one round: a list of texts, or a dict of columns."""
    columns: dict[str, Array] = {}
    for name in features:
        columns[name] = as_objects(rows[name]) if is_string(rows[name].type) else as_floats(rows[name])
    if text is None:
        return columns
    texts = rows[text].fill_null("")
    return {**columns, text: as_objects(texts)} if columns else texts.to_pylist()


def as_floats(column: pa.ChunkedArray) -> Array:
    """Numbers, NaN for null."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    return np.array(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)


def as_objects(column: pa.ChunkedArray) -> Array:
    """Strings, None for null."""
    return np.array(column.to_numpy(), dtype=object)


def pictures(paths: list[str], folder: Path) -> Array:
    """Images (n, height, width, 3), which must all be of one size.

    Args:
        paths: as they stand in the file.
        folder: what they are relative to.
    """
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise MissingExtraError("Pillow", "vision") from error
    images: list[Array] = []
    for path in paths:
        try:
            with Image.open(folder / path) as image:
                images.append(np.asarray(image.convert("RGB")))
        except (OSError, UnidentifiedImageError) as error:
            raise DataError(
                f"image {path!r} cannot be read: {error}. Paths are relative to the file's folder."
            ) from error
        check_size(images[-1].shape, images[0].shape, path)
    return np.stack(images)


def check_size(size: tuple[int, ...], first: tuple[int, ...], path: str) -> None:
    if size != first:
        raise DataError(
            f"image {path!r} is {size[1]} x {size[0]} pixels, those before it {first[1]} x {first[0]}: "
            "scale them to one size"
        )
