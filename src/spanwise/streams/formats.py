"""Readers of CSV, Parquet, JSON lines and NPZ: columns with names and types, a piece of the rows at a time.

A type is one for the whole file. Parquet states its types; CSV and JSON lines do not, and what the
first rows suggest may turn out too narrow (whole numbers, then 1.5), so those are looked through once.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np

from spanwise.errors import DataError, MissingExtraError

try:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.json
    import pyarrow.parquet
except ImportError as error:
    raise MissingExtraError("pyarrow", "files") from error

BATCH_ROWS = 65_536
"""Rows read at once, where the format counts rows."""
BLOCK_BYTES = 8 * 2**20
"""Bytes read at once, where it does not; a longer row cannot be read."""
HEADER_BYTES = 2**16
"""So much is searched for the end of a header."""
SEPARATORS = {";": "';'", "\t": "tabs", "|": "'|'", ",": "','"}
"""What may stand between the columns of a header, and what it is called."""
WIDER = {"null": pa.int64(), "int64": pa.float64()}
"""What a column of CSV may be instead when a value does not fit; strings, for all other types."""


class Parquet:
    """A Parquet file; a row group may be larger than memory, but a column's page may not."""

    def __init__(self, path: Path, as_text: Collection[str]) -> None:
        self.path = path
        self.schema = pa.parquet.read_schema(path)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with pa.parquet.ParquetFile(self.path, pre_buffer=False) as file:
            for batch in file.iter_batches(BATCH_ROWS, columns=list(columns), use_threads=False):
                yield batch.select(list(columns))


class CSV:
    """Text with commas, or tabs if the file's name ends in .tsv; the first line names the columns."""

    def __init__(self, path: Path, as_text: Collection[str]) -> None:
        self.path = path
        self.separator = "\t" if ".tsv" in path.suffixes else ","
        check_separator(path, self.separator)
        with self._open({}) as reader:
            self.schema = with_text(reader.schema, as_text)
        for field in self.schema:
            if pa.types.is_binary(field.type):
                raise DataError(f"column {field.name!r} of {path.name} is not UTF-8 text: save the file as UTF-8")
        while (misfit := self._misfit()) is not None:
            wider = WIDER.get(str(self.schema.types[misfit]), pa.string())
            self.schema = self.schema.set(misfit, pa.field(self.schema.names[misfit], wider))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with self._open({f.name: f.type for f in self.schema}, columns) as reader:
            yield from reader

    def _misfit(self) -> int | None:
        """Number of the first column that holds something its type cannot."""
        try:
            with self._open({f.name: f.type for f in self.schema}) as reader:
                for _ in reader:
                    pass
        except pa.ArrowInvalid as error:
            found = re.search(r"column #(\d+):.*conversion error", str(error))
            if found is None or self.schema.types[int(found[1])] == pa.string():
                raise
            return int(found[1])
        return None

    def _open(self, types: dict[str, pa.DataType], columns: Sequence[str] = ()) -> pa.csv.CSVStreamingReader:
        return pa.csv.open_csv(
            self.path,
            pa.csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False),  # one thread: faults then have row numbers
            pa.csv.ParseOptions(delimiter=self.separator, newlines_in_values=True),
            pa.csv.ConvertOptions(
                column_types=types,
                include_columns=list(columns),
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )


def check_separator(path: Path, expected: str) -> None:
    """Raises if the header is one column, and seems to be several with something else between them."""
    with pa.input_stream(path) as file:
        header = file.read(HEADER_BYTES).partition(b"\n")[0].decode(errors="replace").strip()
    found = [sign for sign in SEPARATORS if sign in header]
    if found and expected not in found:
        wanted = "commas" if expected == "," else "tabs"
        raise DataError(
            f"{path.name} has a single column, {header[:60]!r}: is it separated by {SEPARATORS[found[0]]}? "
            f"Expected {wanted}: save it so"
        )


class JSONLines:
    """An object a line; a key that a line lacks is a missing value."""

    def __init__(self, path: Path, as_text: Collection[str]) -> None:
        self.path = path
        types: dict[str, pa.DataType] = {}
        for block in self._blocks():
            for field in self._parse(block, None).schema:
                types[field.name] = common(field.name, types.get(field.name, pa.null()), field.type)
        self.schema = with_text(pa.schema(list(types.items())), as_text)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([self.schema.field(name) for name in columns])
        for block in self._blocks():
            yield from self._parse(block, schema).select(list(columns)).to_batches()

    def _parse(self, block: bytes, schema: pa.Schema | None) -> pa.Table:
        unexpected = "infer" if schema is None else "ignore"
        return pa.json.read_json(
            pa.BufferReader(block),
            pa.json.ReadOptions(use_threads=False, block_size=len(block)),
            pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=unexpected),
        )

    def _blocks(self) -> Iterator[bytes]:
        """Whole lines, some at a time."""
        with pa.input_stream(self.path) as file:
            rest = b""
            while block := file.read(BLOCK_BYTES):
                lines, newline, tail = block.rpartition(b"\n")
                if newline and (rest + lines).strip():
                    yield rest + lines + newline
                rest = tail if newline else rest + block
            if rest.strip():
                yield rest


def with_text(schema: pa.Schema, as_text: Collection[str]) -> pa.Schema:
    """The schema, with strings for those columns of `as_text` that were taken for dates."""
    dated = {f.name for f in schema if f.name in as_text and pa.types.is_temporal(f.type)}
    return pa.schema([pa.field(f.name, pa.string()) if f.name in dated else f for f in schema])


def common(name: str, one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """The type that holds both, for a column that changes its own on the way."""
    if one == other or pa.types.is_null(other) or pa.types.is_nested(one):
        return one
    if pa.types.is_null(one) or pa.types.is_nested(other):
        return other
    kinds = {str(one), str(other)}
    if kinds == {"int64", "double"}:
        return pa.float64()
    if kinds == {"string", "timestamp[s]"}:
        return pa.string()
    raise DataError(
        f"column {name!r} holds {one} in one place and {other} in another: make it one of the two throughout"
    )


class NPZ:
    """Arrays X (n, d) and y (n,); if there, `columns` names those of X and `time` is one more. Read whole."""

    def __init__(self, path: Path, as_text: Collection[str]) -> None:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files if name in {"X", "y", "columns", "time"}}
        X, y = arrays.get("X"), arrays.get("y")
        if X is None or y is None or X.ndim != 2 or y.shape != X.shape[:1]:
            shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "neither"
            raise DataError(f"{path.name} must hold X of shape (n, d) and y of shape (n,); it holds {shapes}")
        names = arrays.get("columns", np.array([f"x{j}" for j in range(X.shape[1])])).tolist()
        columns = {str(name): pa.array(X[:, j]) for j, name in enumerate(names[: X.shape[1]])}
        if len(columns) != X.shape[1] or len(names) != X.shape[1]:
            raise DataError(f"{path.name}: `columns` must name each of the {X.shape[1]} columns of X once")
        columns |= {name: pa.array(arrays[name]) for name in ("y", "time") if name in arrays}
        self._table = pa.table(columns)
        self.schema = self._table.schema

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from self._table.select(list(columns)).to_batches(max_chunksize=BATCH_ROWS)
