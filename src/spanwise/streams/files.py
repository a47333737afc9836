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
from spanwise.streams.columns import as_features, as_labels, check_size, pictures
from spanwise.streams.features import doubts, first_rows, in_words, without_counter
from spanwise.streams.roles import assign, check_inputs, listed
from spanwise.streams.sorting import Runs, in_order
from spanwise.streams.survey import Survey, look, remarks, usable
from spanwise.streams.tables import open_table
from spanwise.streams.times import Clock

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
        time: column that orders the rows: dates, timestamps, years, or strings in ISO form; where a round is a
            number of rows, any numbers.
        every: what makes a round: year, quarter, month, week, day, hour, or a number of rows; without `time`, the
            latter.
        text: column of strings to be read as text.
        image: column of paths of images, relative to the file's folder; the images must be of one size.
        features: the other columns of X; if left out, every column that has no other role, or none beside
            text or image.
        drop: columns not to learn from, where that is easier to say than all others.
        time_format: form of times that are other strings or numbers: as for strptime, such as "%d/%m/%Y", or
            "s", "ms", "us" or "ns" for numbers that count these from 1970.

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
        drop: Sequence[str] = (),
        time_format: str | None = None,
    ) -> None:
        self.path = Path(path)
        self.every = periods.checked_every(every)
        self._clock = clock_of(time, self.every, time_format)
        self._table = open_table(self.path, as_text=[] if time is None else [time])
        if label is None:
            if self.path.suffix != ".npz":
                raise SettingError(f"label is needed: the column to predict, one of {listed(self._table.schema.names)}")
            label = "y"
        roles = assign(self._table.schema, label=label, time=time, text=text, image=image, features=features, drop=drop)
        first = first_rows(self._table, roles.features)
        self._roles = without_counter(roles, first) if features is None else roles
        check_inputs(self._roles)
        survey = look(self._table, self._roles, self._clock, self.every)
        ordered = survey.periods_ordered if isinstance(self.every, str) else survey.times_ordered
        self._runs: Runs | None = None if ordered else Runs(self._rows())
        self._sizes, self.periods = rounds(survey, self.every)
        self.classes: list[Hashable] = sorted(survey.labels)
        self.notes = remarks(survey, self._roles, self.every, sorted_on_disk=not ordered)
        self.notes += doubts(first, self._roles.features)

    @property
    def rows(self) -> int:
        """Of all rounds together."""
        return sum(self._sizes)

    @property
    def learned_from(self) -> str:
        """What X is made of, in words, such as "numbers age, spend; categories segment"."""
        return in_words(self._roles, self._table.schema)

    def __len__(self) -> int:
        return len(self.periods)

    def __iter__(self) -> Iterator[Batch]:
        size: tuple[int, ...] = ()
        for rows in cut(self._rows() if self._runs is None else self._runs, self._sizes, self.path.name):
            rows = in_order(rows).remove_column(0)  # the time; what is left has names of its own
            if self._roles.image is None:
                X = as_features(rows, self._roles.features, self._roles.text)
            else:
                paths = rows[self._roles.image].to_pylist()
                X = pictures(paths, self.path.parent)
                size = size or X.shape[1:]
                check_size(X.shape[1:], size, paths[0])
            yield Batch(X, as_labels(rows.column(0)))

    def _rows(self) -> Iterator[pa.RecordBatch]:
        return usable(self._table, self._roles, self._clock, self._roles.inputs, Survey())


def clock_of(time: str | None, every: str | int, form: str | None) -> Clock | None:
    """How times are read; None if there are none."""
    if time is not None:
        return Clock(time, every, form)
    if form is not None:
        raise SettingError(f"time_format={form!r} needs the column of times: name it by time=, --time")
    if isinstance(every, str):
        raise SettingError(
            f"every={every!r} needs to know the time: name its column by time=, --time, or pass a number of rows"
        )
    return None


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
