"""Rows put in order without holding them all: sorted runs on disk, then merged.

The rows come in pieces. As many as fit are sorted and written as one run; another run follows, and
so on. Merging reads a block of every run. Of the blocks' last rows the earliest is the limit: no row
still on disk can come before it, so all rows up to it are sorted and handed out, and the run whose
block they used up moves on to its next.

Equal keys keep the order they came in: an earlier run holds earlier rows, so ties go by run.
"""

import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from spanwise.errors import MissingExtraError
from spanwise.learner import Array

try:
    import pyarrow as pa
except ImportError as error:
    raise MissingExtraError("pyarrow", "files") from error

RUN_BYTES = 256 * 2**20
BLOCK_BYTES = 2**20


class Runs:
    """Rows on disk, in runs; iterating merges them, and again the next time.

    The folder goes when this object does, when `close` is called, or when writing fails.

    >>> one = pa.record_batch({"key": [3, 1, 2], "row": [0, 1, 2]})
    >>> other = pa.record_batch({"key": [1, 3], "row": [3, 4]})
    >>> pa.Table.from_batches(Runs([one, other], run_bytes=1))["row"].to_pylist()
    [1, 3, 2, 0, 4]

    Args:
        pieces: rows; their first column is the key, a number that is never null.
        run_bytes: how much is sorted at once, in memory.
        block_bytes: how much of each run is held while merging.
    """

    def __init__(
        self, pieces: Iterable[pa.RecordBatch], *, run_bytes: int = RUN_BYTES, block_bytes: int = BLOCK_BYTES
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="spanwise-sort-"))
        self.close = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self.paths: list[Path] = []
        try:
            for run in _gathered(pieces, run_bytes):
                self.paths.append(self.folder / f"{len(self.paths)}.arrow")
                _write(in_order(run), self.paths[-1], block_bytes)
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        waiting = [_blocks(path) for path in self.paths]
        heads = dict(enumerate(next(blocks) for blocks in waiting))
        while heads:
            limit, last = min((_key(head)[-1], run) for run, head in heads.items())
            ready = []
            for run, head in sorted(heads.items()):
                n = int(np.searchsorted(_key(head), limit, side="right" if run <= last else "left"))
                ready.append(head.slice(0, n))
                heads[run] = head.slice(n)
                if n == head.num_rows and (following := next(waiting[run], None)) is not None:
                    heads[run] = following
            heads = {run: head for run, head in heads.items() if head.num_rows}
            yield from in_order(pa.Table.from_batches(ready)).combine_chunks().to_batches()


def in_order(table: pa.Table) -> pa.Table:
    """Rows by their first column; equal ones stay as they were."""
    key = _key(table)
    return table if (key[1:] >= key[:-1]).all() else table.take(pa.array(np.argsort(key, kind="stable")))


def _key(rows: pa.Table | pa.RecordBatch) -> Array:
    column = rows.column(0)
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return np.concatenate([chunk.to_numpy(zero_copy_only=False) for chunk in chunks] or [np.empty(0, np.int64)])


def _gathered(pieces: Iterable[pa.RecordBatch], run_bytes: int) -> Iterator[pa.Table]:
    held: list[pa.RecordBatch] = []
    size = 0
    for piece in (p for p in pieces if p.num_rows):
        if held and size + piece.nbytes > run_bytes:
            yield pa.Table.from_batches(held)
            held, size = [], 0
        held.append(piece)
        size += piece.nbytes
    if held:
        yield pa.Table.from_batches(held)


def _write(run: pa.Table, path: Path, block_bytes: int) -> None:
    rows = max(1, run.num_rows * block_bytes // max(run.nbytes, 1))
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, run.schema) as writer:
        writer.write_table(run.combine_chunks(), max_chunksize=rows)


def _blocks(path: Path) -> Iterator[pa.RecordBatch]:
    with pa.OSFile(str(path)) as file:
        reader = pa.ipc.open_file(file)
        for i in range(reader.num_record_batches):
            batch = reader.get_batch(i)
            if batch.num_rows:
                yield batch
