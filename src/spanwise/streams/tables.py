"""Tables on disk: CSV, Parquet, JSON lines and NPZ look alike from here on, and so do their faults."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from zipfile import BadZipFile

from spanwise.errors import DataError, MissingExtraError, SpanwiseError
from spanwise.streams.formats import CSV, NPZ, JSONLines, Parquet

try:
    import pyarrow as pa
except ImportError as error:
    raise MissingExtraError("pyarrow", "files") from error

PACKED = {".gz", ".bz2", ".zst"}
DAMAGED = "It may be cut short or damaged: copy or write it again"


class Table(Protocol):
    """Columns with names and types, read as often as needed."""

    @property
    def schema(self) -> pa.Schema: ...

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows in the file's order, with these columns in this order."""
        ...


def open_table(path: Path, as_text: Collection[str] = ()) -> Table:
    """The table in a file, its format told by the ending of its name.

    Args:
        path: a file.
        as_text: columns whose strings are left as they are, though they look like dates.
    """
    if not path.is_file():
        raise DataError(f"there is no file {path}: check the path, which is seen from the folder you are in")
    endings = [s.lower() for s in path.suffixes if s.lower() not in PACKED]
    if not endings or endings[-1] not in FORMATS:
        raise DataError(f"{path.name} has none of the endings {', '.join(FORMATS)}: write it in one of these formats")
    name, hint, reader = FORMATS[endings[-1]]
    with reading(path, name, hint):
        table = reader(path, as_text)
    twice = [column for column, n in Counter(table.schema.names).items() if n > 1]
    if twice:
        raise DataError(f"{path.name} has more than one column {twice[0]!r}: give each a name of its own")
    checked = Checked(table, path, name, hint)
    if not any(batch.num_rows for batch in checked.batches(table.schema.names[:1])):
        raise DataError(f"{path.name} is empty: it has {len(table.schema.names)} columns, but no rows to learn from")
    return checked


@contextmanager
def reading(path: Path, name: str, hint: str) -> Iterator[None]:
    """What goes wrong inside is told as a fault of the file."""
    try:
        yield
    except SpanwiseError:
        raise
    except (pa.ArrowException, OSError, BadZipFile, EOFError, ValueError) as error:
        if "Empty CSV" in str(error) or path.stat().st_size == 0:
            raise DataError(f"{path.name} is empty: a header and at least one row are needed") from error
        said = str(error).strip().partition("\n")[0][:300].rstrip(".")
        remedy = DAMAGED if isinstance(error, OSError) else hint
        raise DataError(f"{path.name} cannot be read as {name}: {said}. {remedy}.") from error


@dataclass(frozen=True)
class Checked:
    """A table whose faults are told as `DataError`, and whose categories and strings are plain ones."""

    table: Table
    path: Path
    name: str
    hint: str

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([pa.field(f.name, plain(f.type)) for f in self.table.schema])

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with reading(self.path, self.name, self.hint):
            for batch in self.table.batches(columns):
                yield pa.RecordBatch.from_arrays([a.cast(plain(a.type)) for a in batch.columns], names=list(columns))


def plain(kind: pa.DataType) -> pa.DataType:
    """What a column is taken for: a category for its value, and any kind of string for a string.

    >>> plain(pa.dictionary(pa.int8(), pa.large_string())), plain(pa.string_view()), plain(pa.int8())
    (DataType(string), DataType(string), DataType(int8))
    """
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.string() if pa.types.is_large_string(value) or pa.types.is_string_view(value) else value


Reader = Callable[[Path, Collection[str]], Table]
_JSON: tuple[str, str, Reader] = ("JSON lines", "Write one object a line, its values of one type throughout", JSONLines)
_CSV: tuple[str, str, Reader] = ("CSV", "Make every row as long as the header, and quote what has a comma in it", CSV)
_PARQUET: tuple[str, str, Reader] = ("Parquet", DAMAGED, Parquet)
_NPZ: tuple[str, str, Reader] = ("NPZ", "Write it again with numpy.savez(path, X=X, y=y)", NPZ)
FORMATS = {
    ".csv": _CSV,
    ".tsv": _CSV,
    ".parquet": _PARQUET,
    ".pq": _PARQUET,
    ".jsonl": _JSON,
    ".ndjson": _JSON,
    ".json": _JSON,
    ".npz": _NPZ,
}
