"""Which column of a table is what."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from spanwise.errors import DataError, FeatureError, LabelError, MissingExtraError, SettingError
from spanwise.streams.columns import is_number, is_string

try:
    import pyarrow as pa
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
    drop: Sequence[str] = (),
) -> Roles:
    """Roles, checked against the columns that there are."""
    given = {"label": label, "time": time, "text": text, "image": image}
    roles = {role: name for role, name in given.items() if name is not None}
    for name in (*roles.values(), *(features or ()), *drop):
        check_known(name, schema.names)
    if wanted := sorted({*roles.values(), *(features or ())} & {*drop}):
        raise SettingError(f"column {wanted[0]!r} cannot be both used and dropped")
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
            holds = "nothing, null in every row" if pa.types.is_null(kind) else f"{kind}, not strings"
            remedy = "name it among the features" if is_number(kind) else "name another column"
            raise FeatureError(f"{role} column {roles[role]!r} holds {holds}: {remedy}")
    taken = [*roles.values(), *drop]
    chosen, notes = _features(schema, taken, features, alone=text is not None or image is not None)
    return Roles(label, time, text, image, tuple(chosen), notes)


def check_inputs(roles: Roles) -> None:
    if not roles.inputs:
        raise FeatureError("no column is left to learn from: numbers, strings, or a column named as text are needed")


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


def sound_label(kind: pa.DataType) -> bool:
    return is_string(kind) or bool(pa.types.is_null(kind)) or (is_number(kind) and not pa.types.is_decimal(kind))
