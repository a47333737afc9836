"""Which column of a table is what, and columns as the arrays that learners take."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from spanwise.errors import DataError, FeatureError, LabelError, MissingExtraError, SettingError
from spanwise.learner import Array

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as error:
    raise MissingExtraError("pyarrow", "files") from error


@dataclass(frozen=True)
class Roles:
    """What each column is for.

    Attributes:
        label, time, text, image: names of columns.
        features: the other columns wanted, numbers and categories.
        notes: what was left out, and why.
    """

    label: str
    time: str | None = None
    text: str | None = None
    image: str | None = None
    features: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)

    @property
    def inputs(self) -> list[str]:
        """The columns that X is made of."""
        return [name for name in (*self.features, self.text, self.image) if name is not None]


def assign(
    schema: pa.Schema,
    *,
    label: str,
    time: str | None,
    text: str | None,
    image: str | None,
    features: Sequence[str] | None,
) -> Roles:
    """Roles, checked against the columns that there are."""
    given = {"label": label, "time": time, "text": text, "image": image}
    roles = {role: name for role, name in given.items() if name is not None}
    for name in (*roles.values(), *(features or ())):
        check_known(name, schema.names)
    for role, name in roles.items():
        for other, same in roles.items():
            if role < other and name == same:
                raise SettingError(f"column {name!r} cannot be both {role} and {other}: name another for one of them")
        if name in (features or ()):
            raise SettingError(f"column {name!r} is the {role}: leave it out of features")
    if image is not None and (text is not None or features):
        raise SettingError(f"image={image!r} makes X the images alone: leave out text and features, or image")
    if not sound_label(schema.field(label).type):
        raise LabelError(
            f"label column {label!r} holds {schema.field(label).type}: strings, numbers or bools are needed"
        )
    for role in ("text", "image"):
        if role in roles and not is_string(kind := schema.field(roles[role]).type):
            raise FeatureError(f"{role} column {roles[role]!r} holds {kind}, not strings: name it among the features")
    chosen, notes = _features(schema, list(roles.values()), features, alone=text is not None or image is not None)
    if not chosen and text is None and image is None:
        raise FeatureError("no column is left to learn from: numbers, strings, or a column named as text are needed")
    return Roles(label, time, text, image, tuple(chosen), notes)


def _features(
    schema: pa.Schema, taken: list[str], features: Sequence[str] | None, alone: bool
) -> tuple[list[str], list[str]]:
    """The feature columns, and a note on those of a type that is no feature."""
    kinds = {f.name: f.type for f in schema}
    if features is not None:
        for name in features:
            if not (is_number(kinds[name]) or is_string(kinds[name])):
                raise FeatureError(
                    f"feature {name!r} holds {kinds[name]}: only numbers, bools and strings can be features"
                )
        return list(dict.fromkeys(features)), []
    if alone:
        return [], []
    rest = {name: kind for name, kind in kinds.items() if name not in taken}
    out = [f"{name} ({kind})" for name, kind in rest.items() if not (is_number(kind) or is_string(kind))]
    notes = [f"columns left out, neither numbers nor strings: {', '.join(out)}"] if out else []
    return [name for name, kind in rest.items() if is_number(kind) or is_string(kind)], notes


def check_known(name: str, names: Sequence[str]) -> None:
    """Raises if there is no such column, and names those that are nearly spelt so."""
    if name in names:
        return
    lower = {n.lower(): n for n in names}
    near = [lower[n] for n in get_close_matches(name.lower(), lower, n=3, cutoff=0.5)]
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"There are {listed(names)}."
    raise DataError(f"there is no column {name!r}. {hint}")


def listed(names: Sequence[str]) -> str:
    """The names of columns, not too many of them."""
    return ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")


def is_string(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(kind: pa.DataType) -> bool:
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
    return any(test(kind) for test in tests)


def sound_label(kind: pa.DataType) -> bool:
    return is_string(kind) or bool(pa.types.is_null(kind)) or (is_number(kind) and not pa.types.is_decimal(kind))


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


def as_features(rows: pa.Table, roles: Roles, folder: Path) -> Any:
    """X of one round: images, a list of texts, or a dict of columns."""
    if roles.image is not None:
        return pictures(rows[roles.image].to_pylist(), folder)
    columns: dict[str, Array] = {}
    for name in roles.features:
        columns[name] = as_objects(rows[name]) if is_string(rows[name].type) else as_floats(rows[name])
    if roles.text is None:
        return columns
    texts = rows[roles.text].fill_null("")
    return {**columns, roles.text: as_objects(texts)} if columns else texts.to_pylist()


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
