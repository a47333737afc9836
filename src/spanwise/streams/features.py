"""What is learned from: told in words, and told where it is probably not what was meant.

Whether a column counts the rows, looks like an id or holds texts is judged by the first rows alone.
"""

from collections.abc import Sequence
from dataclasses import replace

from spanwise.errors import MissingExtraError
from spanwise.streams.columns import is_string
from spanwise.streams.roles import Roles
from spanwise.streams.tables import Table

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as error:
    raise MissingExtraError("pyarrow", "files") from error

FIRST_ROWS = 10_000
"""So many rows are looked at."""
SHOWN = 6
"""So many columns of a kind are named."""
UNNAMED = ("", "Unnamed: 0", "__index_level_0__")
"""Names of a column that was given none; the latter two are what pandas calls it."""


def too_many(different: int, rows: int) -> bool:
    """Whether so many values are no classes or categories: more than 50, and more than a tenth of the rows.

    >>> too_many(60, rows=100), too_many(60, rows=1000), too_many(3, rows=3)
    (True, False, False)
    """
    return different > 50 and 10 * different > rows


def in_words(roles: Roles, schema: pa.Schema) -> str:
    """What is learned from, such as "numbers age, spend; categories segment"."""
    strings = [name for name in roles.features if is_string(schema.field(name).type)]
    numbers = [name for name in roles.features if name not in strings]
    parts = {
        "numbers": numbers,
        "categories": strings,
        "the texts of": [roles.text] if roles.text is not None else [],
        "the images of": [roles.image] if roles.image is not None else [],
    }
    return "; ".join(f"{kind} {named(names)}" for kind, names in parts.items() if names)


def named(names: Sequence[str]) -> str:
    """The names of columns, the first of them if they are many.

    >>> named(["a", ""]), named([f"x{i}" for i in range(60)])
    ("a, ''", 'x0, x1, x2, x3, x4, x5 and 54 more')
    """
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(name or "''" for name in names[:SHOWN]) + more


def first_rows(table: Table, columns: Sequence[str]) -> pa.Table:
    """The first rows of these columns."""
    pieces: list[pa.RecordBatch] = []
    for batch in table.batches(columns) if columns else ():
        pieces.append(batch)
        if sum(piece.num_rows for piece in pieces) >= FIRST_ROWS:
            break
    return pa.Table.from_batches(pieces).slice(0, FIRST_ROWS) if pieces else pa.table({})


def without_counter(roles: Roles, first: pa.Table) -> Roles:
    """The roles, less columns that have no name and merely count the rows."""
    out = [name for name in roles.features if name in UNNAMED and counts_rows(first[name])]
    if not out:
        return roles
    note = f"column without a name left out, as it only counts the rows: {named(out)}"
    return replace(roles, features=tuple(n for n in roles.features if n not in out), notes=[*roles.notes, note])


def counts_rows(column: pa.ChunkedArray) -> bool:
    """Whether the values are 0, 1, 2, ... or 1, 2, 3, ...

    >>> [counts_rows(pa.chunked_array([column])) for column in ([0, 1, 2], [1, 2, 3], [0, 2, 3])]
    [True, True, False]
    """
    if not grows(column):
        return False
    first, last = column[0].as_py(), column[-1].as_py()
    return first in (0, 1) and last - first == len(column) - 1


def grows(column: pa.ChunkedArray) -> bool:
    """Whether these are whole numbers, each larger than the one before."""
    if not pa.types.is_integer(column.type) or column.null_count or not len(column):
        return False
    numbers = column.to_numpy()
    return bool((numbers[1:] > numbers[:-1]).all())


def doubts(first: pa.Table, features: Sequence[str]) -> list[str]:
    """Notes on features that look like ids or like texts."""
    rows = first.num_rows
    ids = [name for name in features if grows(first[name]) and too_many(rows, rows)]
    strings = [name for name in features if is_string(first[name].type)]
    different = {name: pc.count_distinct(first[name]).as_py() for name in strings}
    texts = [f"{name} ({n:,})" for name, n in different.items() if too_many(n, rows)]
    notes = []
    if ids:
        notes.append(
            f"numbers that grow with every one of the first {rows:,} rows, as ids do: {named(ids)}; "
            "leave them out (drop=, --drop) if they are ids"
        )
    if texts:
        notes.append(
            f"categories with very many values in the first {rows:,} rows, as texts or numbers with units have: "
            f"{named(texts)}"
        )
    return notes
