"""A file as a stream: its rows in the order of time, a round for every period.

A file need not fit into memory. It is looked through once, to count; then each pass over the stream
holds one period and one piece of the file. Rows that are out of order are first sorted on disk, unless
they only stray within their period.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path

from spanwise.errors import DataError, MissingExtraError, SettingError
from spanwise.streams import periods
from spanwise.streams.batch import Batch
from spanwise.streams.columns import as_features, as_labels, assign, check_size, listed
from spanwise.streams.sorting import Runs, in_order
from spanwise.streams.survey import Survey, look, remarks, usable
from spanwise.streams.tables import open_table

try:
    import pyarrow as pa
except ImportError as error:
    raise MissingExtraError("pyarrow", "files") from error


class FileStream:
    """The rows of a CSV, Parquet, JSON lines or NPZ file, round by round.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "news.csv"
    ...     _ = path.write_text("date,headline,topic\\n2013-04-05,Goal!,sport\\n2013-04-09,Votes,politics\\n"
    ...                         "2013-06-01,Match drawn,sport\\n")
    ...     stream = FileStream(path, label="topic", time="date", text="headline")
    ...     batches = list(stream)
    >>> stream.periods, stream.classes
    (['2013-04', '2013-06'], ['politics', 'sport'])
    >>> batches[0].X, batches[0].y.tolist()
    (['Goal!', 'Votes'], ['sport', 'politics'])
    >>> stream.notes
    ['empty months skipped (1): 2013-05', "labels seen once (1): 'politics'"]

    X is a list of strings if `text` alone is given; an array (n, height, width, 3) of bytes if `image` is;
    and otherwise a dict of columns: numbers as floats, NaN where missing, and strings as objects, None where
    missing. With text and features, the text is one of the columns.

    Args:
        path: the file; its ending tells the format.
        label: column to predict; "y" if left out, for NPZ alone.
        time: column that orders the rows: dates, timestamps, years, or strings in ISO form.
        every: what makes a round: year, month, week, day, or a number of rows; without `time`, the latter.
        text: column of strings to be read as text.
        image: column of paths of images, relative to the file's folder; the images must be of one size.
        features: the other columns of X; if left out, every column that has no other role, or none beside
            text or image.

    Attributes:
        classes: all labels there will be, sorted.
        periods: the names of the rounds.
        notes: what a report should tell: rows dropped or sorted, periods skipped, and the like.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        label: str | None = None,
        time: str | None = None,
        every: str | int = "month",
        text: str | None = None,
        image: str | None = None,
        features: Sequence[str] | None = None,
    ) -> None:
        self.path = Path(path)
        self.every = periods.checked_every(every)
        if time is None and isinstance(self.every, str):
            raise SettingError(f"every={every!r} needs to know the time: name its column, or pass a number of rows")
        self._table = open_table(self.path, as_text=[] if time is None else [time])
        if label is None:
            if self.path.suffix != ".npz":
                raise SettingError(f"label is needed: the column to predict, one of {listed(self._table.schema.names)}")
            label = "y"
        self._roles = assign(self._table.schema, label=label, time=time, text=text, image=image, features=features)
        if time is not None and self.every in ("month", "week", "day"):
            check_finer_than_years(self._table.schema.field(time))
        survey = look(self._table, self._roles, self.every)
        ordered = survey.periods_ordered if isinstance(self.every, str) else survey.times_ordered
        self._runs: Runs | None = None if ordered else Runs(self._rows())
        self._sizes, self.periods = rounds(survey, self.every)
        self.classes: list[Hashable] = sorted(survey.labels)
        self.notes = remarks(survey, self._roles, self.every, sorted_on_disk=not ordered)

    def __len__(self) -> int:
        return len(self.periods)

    def __iter__(self) -> Iterator[Batch]:
        size: tuple[int, ...] = ()
        for rows in cut(self._rows() if self._runs is None else self._runs, self._sizes, self.path.name):
            rows = in_order(rows)
            X = as_features(rows, self._roles, self.path.parent)
            if self._roles.image is not None:
                size = size or X.shape[1:]
                check_size(X.shape[1:], size, rows[self._roles.image][0].as_py())
            yield Batch(X, as_labels(rows.column(1)))

    def _rows(self) -> Iterator[pa.RecordBatch]:
        return usable(self._table, self._roles, self._roles.inputs, Survey())


def check_finer_than_years(column: pa.Field) -> None:
    if periods.holds_years(column.type):
        raise SettingError(f"time column {column.name!r} holds years: pass every='year', or a number of rows")


def rounds(survey: Survey, every: str | int) -> tuple[list[int], list[str]]:
    """The rows of each round, and its name."""
    if isinstance(every, str):
        present = sorted(survey.counts)
        return [survey.counts[n] for n in present], [periods.name(n, every) for n in present]
    starts = range(0, survey.used, every)
    ends = [min(start + every, survey.used) for start in starts]
    sizes = [end - start for start, end in zip(starts, ends, strict=True)]
    return sizes, [f"rows {start + 1}-{end}" for start, end in zip(starts, ends, strict=True)]


def cut(pieces: Iterable[pa.RecordBatch], sizes: Sequence[int], file: str) -> Iterator[pa.Table]:
    """Pieces of any length joined and cut into tables of these sizes.

    >>> pieces = [pa.record_batch({"n": [1, 2, 3]}), pa.record_batch({"n": [4, 5]})]
    >>> [table["n"].to_pylist() for table in cut(pieces, [1, 3, 1], "some.csv")]
    [[1], [2, 3, 4], [5]]
    """
    coming = iter(sizes)
    wanted = next(coming, 0)
    held: list[pa.RecordBatch] = []
    have = 0
    for piece in pieces:
        while wanted and have + piece.num_rows >= wanted:
            yield pa.Table.from_batches([*held, piece.slice(0, wanted - have)])
            piece = piece.slice(wanted - have)
            held, have, wanted = [], 0, next(coming, 0)
        if piece.num_rows:
            held.append(piece)
            have += piece.num_rows
    if wanted or have:
        raise DataError(f"{file} has changed since the stream was made: make the stream again")
