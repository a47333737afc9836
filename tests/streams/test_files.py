"""Files as streams: the same rows, in the order of time, whatever the format; and bad files told clearly."""

import importlib
import json
import os
import sys
import tempfile
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from spanwise.errors import DataError, FeatureError, LabelError, MissingExtraError, SettingError, SpanwiseError
from spanwise.streams import Batch, Stream, formats, sorting, survey
from spanwise.streams.files import FileStream

ROWS = {
    "when": ["2013-04-05", "2013-04-06", "2013-06-01", "2014-01-01"],
    "price": [1.5, None, 2.0, 3.0],
    "shop": ["a", "b", None, "a"],
    "open": [True, False, None, True],
    "title": ["one", None, "three, or four", "fünf"],
    "kind": ["x", "y", "x", "y"],
}


def write(path, columns):
    """The columns in the format that the path's ending says."""
    table = pa.table(columns)
    if path.suffix == ".parquet":
        pa.parquet.write_table(table, path, row_group_size=3)
    elif path.suffix == ".csv":
        pa.csv.write_csv(table, path)
    else:
        rows = ({k: v for k, v in row.items() if v is not None} for row in table.to_pylist())
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(params=["csv", "parquet", "jsonl"])
def path(request, tmp_path):
    return tmp_path / f"rows.{request.param}"


def test_columns_come_as_numbers_and_categories_with_their_gaps(path):
    stream = FileStream(write(path, ROWS), label="kind", time="when")
    assert isinstance(stream, Stream)
    first, second, third = stream
    assert isinstance(first, Batch)
    assert (len(stream), stream.periods, stream.classes) == (3, ["2013-04", "2013-06", "2014-01"], ["x", "y"])
    assert list(first.X) == ["price", "shop", "open", "title"]
    np.testing.assert_array_equal(first.X["price"], [1.5, np.nan])
    np.testing.assert_array_equal(first.X["open"], [1.0, 0.0])
    assert np.isnan(second.X["open"]).all()
    assert first.X["price"].dtype == first.X["open"].dtype == np.float64
    assert [b.X["shop"].tolist() for b in (first, second, third)] == [["a", "b"], [None], ["a"]]
    assert first.X["title"].tolist() == ["one", None]
    assert [b.y.tolist() for b in stream] == [["x", "y"], ["x"], ["y"]]
    assert stream.notes == ["empty months skipped (7): 2013-05, 2013-07, 2013-08, 2013-09, 2013-10, ..."]


def test_text_alone_is_a_list_of_strings_and_a_null_is_empty(path):
    stream = FileStream(write(path, ROWS), label="kind", time="when", every="year", text="title")
    assert [b.X for b in stream] == [["one", "", "three, or four"], ["fünf"]]
    assert stream.notes == ["nulls in 'title' read as empty text: 1"]


def test_text_beside_features_is_one_of_the_columns(path):
    stream = FileStream(write(path, ROWS), label="kind", time="when", every=3, text="title", features=["price"])
    first, _ = stream
    assert {name: column.tolist() for name, column in first.X.items() if name != "price"} == {
        "title": ["one", "", "three, or four"]
    }
    assert list(first.X) == ["price", "title"]
    assert stream.periods == ["rows 1-3", "rows 4-4"]


def test_without_time_the_order_is_that_of_the_file(path):
    stream = FileStream(write(path, ROWS), label="kind", every="3", features=["price", "shop"])
    assert [b.X["price"][0] for b in stream] == [1.5, 3.0]


def test_every_iteration_gives_the_same_batches(path):
    shuffled = {name: [column[i] for i in (3, 0, 2, 1)] for name, column in ROWS.items()}
    stream = FileStream(write(path, shuffled), label="kind", time="when")
    assert "sorted on disk" in stream.notes[0]
    for one, again in zip(stream, stream, strict=True):
        assert one.y.tolist() == again.y.tolist()
        for name in one.X:
            np.testing.assert_array_equal(one.X[name], again.X[name])


def test_rows_without_label_or_time_are_dropped_and_counted(path):
    columns = {"t": [2001, None, 2003, 2003, 2003], "x": [1, 2, 3, 4, 5], "y": ["a", "a", None, "", "b"]}
    stream = FileStream(write(path, columns), label="y", time="t", every="year")
    assert [b.X["x"].tolist() for b in stream] == [[1.0], [5.0]]
    assert stream.notes == [
        "rows dropped as they have no label 'y': 2",
        "rows dropped as they have no time 't': 1",
        "empty years skipped (1): 2002",
        "labels seen once (2): 'a', 'b'",
    ]


def test_zones_are_converted_to_utc_and_told(path):
    times = ["2014-01-01 00:30:00+02:00", "2013-12-31 23:30:00-05:00"]
    stream = FileStream(write(path, {"t": times, "x": [1, 2], "y": [0, 0]}), label="y", time="t", every="day")
    assert stream.periods == ["2013-12-31", "2014-01-01"]
    assert stream.notes == ["times were converted to UTC from these zones: +02:00, -05:00"]


def test_rows_that_stray_within_their_month_are_sorted_without_the_disk(path):
    columns = {"t": ["2013-04-05", "2013-04-02", "2013-05-01"], "x": [1, 2, 3], "y": [0, 0, 0]}
    stream = FileStream(write(path, columns), label="y", time="t")
    assert [b.X["x"].tolist() for b in stream] == [[2.0, 1.0], [3.0]]
    assert "sorted within it" in stream.notes[0]


@pytest.mark.parametrize("late", ["1.5", "word"])
def test_a_type_that_the_first_rows_do_not_show_is_found(tmp_path, monkeypatch, late):
    monkeypatch.setattr(formats, "BLOCK_BYTES", 64)
    path = tmp_path / "late.csv"
    path.write_text("n,x,y\n" + 40 * ",1,0\n" + f"{late},{late},1\n")
    (batch,) = FileStream(path, label="y", every=100)
    assert batch.X["x"][-1] == batch.X["n"][-1] == (1.5 if late == "1.5" else "word")
    assert len(batch.y) == 41


def test_lines_of_json_may_change_from_whole_numbers_to_others(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "BLOCK_BYTES", 16)
    path = tmp_path / "late.jsonl"
    path.write_text('{"x": 1, "y": 0}\n\n{"x": 1.5, "y": 1}\n{"y": 0, "z": "new"}')
    (batch,) = FileStream(path, label="y", every=100)
    np.testing.assert_array_equal(batch.X["x"], [1, 1.5, np.nan])
    assert batch.X["z"].tolist() == [None, None, "new"]


def test_packed_text_is_read_too(tmp_path):
    path = tmp_path / "rows.csv.gz"
    with pa.output_stream(path, compression="gzip") as file:
        file.write(b"x,y\n1,a\n2,b\n")
    assert [b.y.tolist() for b in FileStream(path, label="y", every=1)] == [["a"], ["b"]]


def test_categories_dates_and_nested_columns_of_parquet(tmp_path):
    columns = {
        "t": pa.array([date(2013, 12, 30), date(2014, 1, 6)]),
        "c": pa.array(["a", None]).dictionary_encode(),
        "seen": pa.array([datetime(2013, 1, 1), None]),
        "tags": pa.array([["q"], []]),
        "y": pa.array(["p", "q"]).dictionary_encode(),
    }
    stream = FileStream(write(tmp_path / "a.parquet", columns), label="y", time="t", every="week")
    assert [b.X["c"].tolist() for b in stream] == [["a"], [None]]
    assert stream.periods == ["2014-W01", "2014-W02"]
    assert "seen (timestamp[us]), tags (list<" in stream.notes[0]
    with pytest.raises(FeatureError, match="feature 'tags' holds list"):
        FileStream(tmp_path / "a.parquet", label="y", time="t", features=["tags"])


@pytest.mark.parametrize(
    "kind", [pa.string_view(), pa.large_string(), pa.dictionary(pa.int32(), pa.large_string())], ids=str
)
@pytest.mark.parametrize("name", ["when", "shop", "title", "kind"])
@pytest.mark.parametrize("text", [None, "title"])
def test_strings_of_parquet_are_alike_however_they_are_stored(tmp_path, kind, name, text):
    stored = pa.chunked_array([pa.array(ROWS[name], kind)])
    path = write(tmp_path / "a.parquet", {**ROWS, name: stored})
    assert pa.parquet.read_schema(path).field(name).type != pa.string()
    stream = FileStream(path, label="kind", time="when", text=text)
    expected = FileStream(write(tmp_path / "b.parquet", ROWS), label="kind", time="when", text=text)
    assert (stream.periods, stream.classes, stream.notes) == (expected.periods, expected.classes, expected.notes)
    for one, other in zip(stream, expected, strict=True):
        assert one.y.tolist() == other.y.tolist()
        np.testing.assert_equal(one.X, other.X)


def test_views_of_strings_that_are_out_of_order_are_sorted(tmp_path):
    columns = {name: pa.array(ROWS[name][::-1], pa.string_view()) for name in ("when", "shop", "title", "kind")}
    stream = FileStream(write(tmp_path / "a.parquet", columns), label="kind", time="when", every="year", text="title")
    assert "sorted on disk" in stream.notes[0]
    assert [b.X for b in stream] == [["one", "", "three, or four"], ["fünf"]]


def test_arrays_of_npz(tmp_path):
    X, y = np.arange(8, dtype=np.float32).reshape(4, 2), np.array([0, 1, 0, 1], np.int8)
    np.savez(tmp_path / "a.npz", X=X, y=y, columns=["u", "v"], time=np.array(["2013", "2015", "2013", "2014"], "M8[D]"))
    stream = FileStream(tmp_path / "a.npz", time="time", every="year")
    assert [b.X["v"].tolist() for b in stream] == [[1.0, 5.0], [7.0], [3.0]]
    np.savez(tmp_path / "b.npz", X=X, y=y)
    (batch,) = FileStream(tmp_path / "b.npz", every=4)
    assert list(batch.X) == ["x0", "x1"]
    assert batch.y.tolist() == y.tolist()
    np.savez(tmp_path / "c.npz", x=X)
    with pytest.raises(DataError, match=r"must hold X of shape \(n, d\)"):
        FileStream(tmp_path / "c.npz", every=4)


def test_images_are_read_from_beside_the_file(tmp_path):
    for i, size in enumerate([(4, 3), (4, 3), (5, 3)]):
        Image.new("L", size, color=10 * i).save(tmp_path / f"{i}.png")
    columns = {"t": [2001, 2001, 2002], "file": ["0.png", "1.png", "0.png"], "y": [0, 1, 0]}
    first, second = FileStream(write(tmp_path / "a.csv", columns), label="y", time="t", every="year", image="file")
    assert (first.X.shape, first.X.dtype, second.X.shape) == ((2, 3, 4, 3), np.uint8, (1, 3, 4, 3))
    assert first.X[:, 0, 0, 0].tolist() == [0, 10]
    for names in (["0.png", "2.png", "0.png"], ["0.png", "1.png", "2.png"]):
        stream = FileStream(
            write(tmp_path / "b.csv", {**columns, "file": names}), label="y", time="t", every="year", image="file"
        )
        with pytest.raises(DataError, match=r"'2.png' is 5 x 3 pixels, those before it 4 x 3"):
            list(stream)
    lost = FileStream(write(tmp_path / "c.csv", {**columns, "file": 3 * ["9.png"]}), label="y", every=3, image="file")
    with pytest.raises(DataError, match=r"image '9.png' cannot be read"):
        list(lost)
    with pytest.raises(DataError, match="1 nulls"):
        FileStream(
            write(tmp_path / "d.jsonl", {**columns, "file": ["0.png", None, "1.png"]}), label="y", every=3, image="file"
        )


moments = st.datetimes(datetime(2013, 12, 1), datetime(2014, 2, 1)) | st.just(datetime(2014, 1, 1))


@settings(max_examples=50, deadline=None)
@given(
    times=st.lists(moments, min_size=1, max_size=40),
    every=st.sampled_from(["year", "month", "week", "day", 1, 7]),
    pieces=st.sampled_from([1, 3, 50]),
    ordered=st.booleans(),
)
def test_batches_together_are_the_file_sorted_by_time_and_periods_never_mix(times, every, pieces, ordered):
    times = sorted(times) if ordered else times
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(formats, "BATCH_ROWS", pieces)
        patch.setattr(sorting.Runs.__init__, "__kwdefaults__", {"run_bytes": 64, "block_bytes": 32})
        path = write(Path(folder) / "a.parquet", {"t": times, "row": range(len(times)), "y": len(times) * ["c"]})
        stream = FileStream(path, label="y", time="t", every=every)
        rounds = [b.X["row"].astype(int).tolist() for b in stream]
        del stream
    assert [row for rows in rounds for row in rows] == sorted(range(len(times)), key=lambda i: times[i])
    if isinstance(every, int):
        assert all(len(rows) == every for rows in rounds[:-1])
    else:
        keys = [{period(times[i], every) for i in rows} for rows in rounds]
        assert all(len(key) == 1 for key in keys)
        assert len(set.union(*keys)) == len(rounds)


def period(when, every):
    return {"year": when.year, "month": (when.year, when.month), "day": when.date()}.get(every, when.isocalendar()[:2])


def test_no_folder_is_left_behind_when_a_later_pass_fails(tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    columns = {"t": [2002, 2001], "file": ["0.png", "1.png"], "y": [0, 1]}
    stream = FileStream(write(tmp_path / "a.csv", columns), label="y", time="t", every="year", image="file")
    assert list((tmp_path / "temporary").iterdir())
    with pytest.raises(DataError, match="cannot be read"):
        list(stream)
    del stream
    assert not list((tmp_path / "temporary").iterdir())


def test_a_file_that_changes_between_passes_is_noticed(tmp_path):
    stream = FileStream(write(tmp_path / "a.csv", {"x": [1, 2], "y": [0, 1]}), label="y", every=1)
    write(tmp_path / "a.csv", {"x": [1, 2, 3], "y": [0, 1, 1]})
    with pytest.raises(DataError, match="has changed since"):
        list(stream)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"label": "knd"}, DataError, "no column 'knd'. Did you mean 'kind'"),
        ({"time": "Wen"}, DataError, "no column 'Wen'. Did you mean 'when'"),
        ({"features": ["qqqq"]}, DataError, "no column 'qqqq'. There are 'when', 'price'"),
        ({"time": "shop"}, DataError, "'shop' must hold dates in ISO form.*row 1: 'a'"),
        ({"time": "kind"}, SettingError, "'kind' cannot be both label and time"),
        ({"drop": ["kind"]}, SettingError, "'kind' cannot be both used and dropped"),
        ({"time": None}, SettingError, "every='month' needs to know the time: name its column by time=, --time"),
        ({"time": None, "every": 2, "time_format": "%Y"}, SettingError, "time_format.*needs the column.*--time"),
        ({"time_format": "DD/MM/YYYY"}, SettingError, "time_format='DD/MM/YYYY'.*%d/%m/%Y"),
        ({"every": "moon"}, SettingError, "every='moon'.*year, quarter, month, week, day, hour"),
        ({"label": None}, SettingError, "label is needed"),
        ({"text": "price"}, FeatureError, "text column 'price' holds double, not strings: name it among the features"),
        ({"features": ["kind"]}, SettingError, "'kind' is the label"),
        ({"features": []}, FeatureError, "no column is left"),
        ({"image": "shop", "text": "title"}, SettingError, "images alone"),
    ],
)
def test_wrong_settings_are_told(tmp_path, options, error, says):
    path = write(tmp_path / "a.csv", ROWS)
    with pytest.raises(error, match=says):
        FileStream(path, **{"label": "kind", "time": "when", **options})


@pytest.mark.parametrize(
    ("name", "content", "error", "says"),
    [
        ("a.csv", b"", DataError, "a.csv is empty"),
        ("a.jsonl", b"", DataError, "a.jsonl is empty"),
        ("a.parquet", b"", DataError, "a.parquet is empty"),
        ("a.csv", b"x,y\n1,\xe9\n", DataError, "'y' of a.csv is not UTF-8"),
        ("a.csv", b"x,y\n", DataError, "2 columns, but no rows"),
        ("a.csv", b"x,y\n1,2\n1,2,3\n", DataError, "cannot be read as CSV.*Row #3.*Expected 2 columns, got 3.*header"),
        ("a.csv", b"x;y\n1,5;2\n", DataError, "'x;y': is it separated by ';'. Expected commas"),
        ("a.csv", b"x\ty\n1\t2\n", DataError, "is it separated by tabs. Expected commas"),
        ("a.tsv", b"x,y\n1,2\n", DataError, "is it separated by ','. Expected tabs"),
        ("a.csv", b"y,y\n1,2\n", DataError, "more than one column 'y'"),
        ("a.csv", b"x,y\n1,\n2,\n", LabelError, "label column 'y' is missing in all 2 rows"),
        ("a.jsonl", b'{"x": 1, "y": 1}\n{"x": 1', DataError, "cannot be read as JSON lines.*one object a line"),
        ("a.jsonl", b'{"x": 1, "y": 1}\n{"x": "w", "y": 1}', DataError, "'x' holds int64 in one place and string in"),
        ("a.jsonl", b'{"x": 1, "y": 1}\n{"x": "w", "y": 1}\n', DataError, "changed from number to string"),
        ("a.npz", b"not a zip", SpanwiseError, "cannot be read as NPZ"),
        ("a.xlsx", b"?", DataError, "none of the endings"),
    ],
)
def test_bad_files_are_told(tmp_path, name, content, error, says):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(error, match=says):
        FileStream(tmp_path / name, label="y", every=2)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(DataError, match=r"there is no file .*gone.csv"):
        FileStream(tmp_path / "gone.csv", label="y", every=2)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_parquet_file_is_told(tmp_path, share):
    path = write(tmp_path / "a.parquet", ROWS)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(DataError, match=r"a.parquet cannot be read as Parquet.*[^.]\. It may be cut short"):
        FileStream(path, label="kind", time="when")


@pytest.mark.parametrize(("ending", "codec"), [("gz", "gzip"), ("bz2", "bz2"), ("zst", "zstd")])
@pytest.mark.parametrize(("name", "row"), [("a.csv", "{},{}\n"), ("a.jsonl", '{{"x": {}, "y": {}}}\n')])
def test_packed_text_that_is_cut_off_or_damaged_is_told(tmp_path, ending, codec, name, row):
    path = tmp_path / f"{name}.{ending}"
    rows = "x,y\n" if name == "a.csv" else ""
    rows += "".join(row.format(i * 7919 % 10_007, i % 2) for i in range(10_000))
    with pa.output_stream(path, compression=codec) as file:
        file.write(rows.encode())
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:-1], b"not packed at all"):
        path.write_bytes(content)
        with pytest.raises(DataError, match=rf"{path.name} cannot be read.*\. It may be cut short or damaged"):
            FileStream(path, label="y", every=2)


def test_a_bad_row_of_packed_text_is_still_a_bad_row(tmp_path):
    path = tmp_path / "a.csv.gz"
    with pa.output_stream(path, compression="gzip") as file:
        file.write(b"x,y\n1,2\n1,2,3\n")
    with pytest.raises(DataError, match=r"Row #3.*as long as the header"):
        FileStream(path, label="y", every=2)


@pytest.mark.parametrize("role", ["text", "image"])
def test_a_text_that_is_never_there_is_told(path, role):
    write(path, {"x": [1, 2], "word": pa.nulls(2), "y": [0, 1]})
    if path.suffix == ".jsonl":
        path.write_text(2 * '{"x": 1, "word": null, "y": 0}\n')
    with pytest.raises(FeatureError, match=f"{role} column 'word' holds nothing, null in every row: name another"):
        FileStream(path, label="y", every=2, **{role: "word"})


def test_a_date_that_does_not_exist_is_told(path):
    write(path, {"t": ["2020-02-28", "2020-02-30"], "x": [2, 1], "y": [0, 1]})
    with pytest.raises(DataError, match=r"row 2: '2020-02-30'\)\. There is no such date"):
        FileStream(path, label="y", time="t")


def test_a_damaged_page_of_parquet_is_told(tmp_path):
    path = write(tmp_path / "a.parquet", {"x": np.random.default_rng(0).random(1000), "y": 1000 * [1]})
    content = bytearray(path.read_bytes())
    content[4:60] = 56 * b"\xff"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a.parquet cannot be read as Parquet"):
        list(FileStream(path, label="y", every=100))


def test_years_make_no_months(path):
    write(path, {"t": [2001, 2002], "x": [1, 2], "y": [0, 1]})
    with pytest.raises(SettingError, match="'t' holds years: pass every='year'"):
        FileStream(path, label="y", time="t")
    assert len(FileStream(path, label="y", time="t", every="year")) == 2
    assert len(FileStream(path, label="y", time="t", every=1)) == 2


@pytest.mark.parametrize(
    ("times", "form"),
    [
        ([1643673600, 1640995200], "s"),
        ([1643673600000, 1640995200000], "ms"),
        ([1643673600.5, 1640995200.25], "s"),
        ([20220201, 20220101], "%Y%m%d"),
        ([202202, 202201], "%Y%m"),
    ],
)
@pytest.mark.parametrize("every", ["year", "month"])
def test_numbers_that_are_no_years_are_told_and_what_is_told_works(path, times, form, every):
    write(path, {"t": times, "x": [2, 1], "y": [0, 1]})
    with pytest.raises(DataError, match="'t' holds numbers that are no years") as told:
        FileStream(path, label="y", time="t", every=every)
    assert f'time_format="{form}"' in str(told.value)
    assert "every=500" in str(told.value)
    by_form = FileStream(path, label="y", time="t", every="month", time_format=form)
    assert by_form.periods == ["2022-01", "2022-02"]
    by_rows = FileStream(path, label="y", time="t", every=1)
    assert [b.X["x"].tolist() for b in by_rows] == [b.X["x"].tolist() for b in by_form] == [[1.0], [2.0]]


def test_any_numbers_order_rows(path):
    write(path, {"t": [0.5, None, -2.5, 2.0**60, -3.0, 0.25], "x": [3, 9, 1, 4, 0, 2], "y": 6 * [0]})
    stream = FileStream(path, label="y", time="t", every=2)
    assert [b.X["x"].tolist() for b in stream] == [[0.0, 1.0], [2.0, 3.0], [4.0]]


def test_dates_of_another_form_are_told_and_read_by_it(path):
    write(path, {"t": ["01/02/2022", "31/01/2022", ""], "x": [2, 1, 0], "y": [0, 1, 0]})
    with pytest.raises(DataError, match=r"row 1: '01/02/2022', row 2.*time_format=\"%d/%m/%Y\".*--time-format"):
        FileStream(path, label="y", time="t")
    stream = FileStream(path, label="y", time="t", time_format="%d/%m/%Y")
    assert stream.periods == ["2022-01", "2022-02"]
    assert "rows dropped as they have no time 't': 1" in stream.notes


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
@pytest.mark.parametrize(
    ("values", "left_out"), [([0, 1, 2], True), ([1, 2, 3], True), ([0, 2, 4], False), (["a", "b", "c"], False)]
)
def test_a_column_without_a_name_is_left_out_only_if_it_counts_the_rows(path, order, values, left_out):
    times = [["2013-04-05", "2013-05-05", "2013-06-05"][i] for i in order]
    write(path, {"": values, "t": times, "x": [5, 6, 7], "y": ["a", "b", "a"]})
    stream = FileStream(path, label="y", time="t")
    assert [list(b.X) for b in stream] == 3 * [["x"] if left_out else ["", "x"]]
    assert [b.X["x"].tolist() for b in stream] == [[5.0 + order.index(i)] for i in range(3)]
    assert any("only counts the rows" in note for note in stream.notes) == left_out
    named = FileStream(path, label="y", time="t", features=["", "x"])
    assert [list(b.X) for b in named] == 3 * [["", "x"]]


def test_the_name_that_pandas_gives_is_none(tmp_path):
    path = write(tmp_path / "a.csv", {"Unnamed: 0": [0, 1], "row": [0, 1], "y": [0, 1]})
    assert FileStream(path, label="y", every=1).learned_from == "numbers row"


def test_a_column_that_counts_the_rows_is_not_enough_to_learn_from(tmp_path):
    with pytest.raises(FeatureError, match="no column is left"):
        FileStream(write(tmp_path / "a.csv", {"": [0, 1], "y": [0, 1]}), label="y", every=1)


def test_what_is_learned_from_is_told(tmp_path):
    path = write(tmp_path / "a.csv", {**ROWS, "link": 4 * ["0.png"]})

    def told(**options):
        return FileStream(path, label="kind", time="when", **options).learned_from

    assert told() == "numbers price, open; categories shop, title, link"
    assert told(text="title") == "the texts of title"
    assert told(text="title", features=["shop"]) == "categories shop; the texts of title"
    assert told(image="link") == "the images of link"
    wide = write(tmp_path / "b.csv", {**{f"x{i}": [1, 2] for i in range(60)}, "y": [0, 1]})
    assert FileStream(wide, label="y", every=1).learned_from == "numbers x0, x1, x2, x3, x4, x5 and 54 more"


def test_columns_that_look_like_ids_or_texts_are_noted(path):
    rows = 60
    columns = {
        "id": [7 * i for i in range(rows)],
        "age": [i % 9 for i in range(rows)],
        "price": [f"{i} EUR" for i in range(rows)],
        "shop": [str(i % 9) + "a" for i in range(rows)],
        "y": [i % 2 for i in range(rows)],
    }
    assert FileStream(write(path, columns), label="y", every=10).notes == [
        "numbers that grow with every one of the first 60 rows, as ids do: id; leave them out (drop=, --drop) if they "
        "are ids",
        "categories with very many values in the first 60 rows, as texts or numbers with units have: price (60)",
    ]


def test_a_column_that_is_dropped_is_not_learned_from(path):
    columns = {"id": [0, 1, 2, 3], "age": [4, 2, 3, 1], "shop": ["a", "b", "b", "a"], "y": [0, 1, 0, 1]}
    stream = FileStream(write(path, columns), label="y", every=2, drop=["id", "shop"])
    assert stream.learned_from == "numbers age"
    assert [list(X) for X, _ in stream] == [["age"], ["age"]]
    with pytest.raises(DataError, match=r"no column 'ids'\. Did you mean 'id'"):
        FileStream(path, label="y", every=2, drop=["ids"])


@pytest.mark.parametrize("label", ["id", "word"])
def test_ids_are_no_labels(path, label):
    write(path, {"id": range(60), "word": [f"w{i}" for i in range(60)], "x": 60 * [1]})
    with pytest.raises(
        LabelError, match=f"'{label}' has 60 different values in 60 rows: these are amounts or ids, not"
    ):
        FileStream(path, label=label, features=["x"], every=10)


def test_many_classes_with_many_rows_each_are_labels(tmp_path):
    path = write(tmp_path / "a.parquet", {"x": range(600), "y": [i % 60 for i in range(600)]})
    assert len(FileStream(path, label="y", every=100).classes) == 60


def test_ids_as_labels_are_refused_before_they_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "BATCH_ROWS", 10)
    monkeypatch.setattr(survey, "MOST_CLASSES", 45)
    path = write(tmp_path / "a.parquet", {"x": range(100), "y": range(100)})
    with pytest.raises(LabelError, match="'y' has 50 different values in 50 rows"):
        FileStream(path, label="y", every=10)


def shared(name):
    folder = Path(os.environ.get("SPANWISE_SHARED", Path(__file__).parents[2].parent / "shared"))
    if not (folder / "data" / name).is_file():
        pytest.skip(f"no {name}: point SPANWISE_SHARED to a folder with data/{name}")
    return folder / "data" / name


def test_huffpost_by_year():
    stream = FileStream(shared("huffpost.parquet"), label="category", time="date", every="year", text="headline")
    assert [len(b.X) for b in stream] == [7446, 8325, 10598, 13139, 11721, 8786, 3890]
    assert stream.periods == [str(year) for year in range(2012, 2019)]
    assert len(stream.classes) == 11
    assert stream.notes == []


def test_flights_by_week():
    stream = FileStream(shared("flights.parquet"), label="delayed", time="time", every="week")
    batches = list(stream)
    assert sum(len(b.y) for b in batches) == 327_346
    assert (len(batches), stream.periods[0], stream.periods[-1]) == (53, "2013-W01", "2014-W01")
    weather = ("temp", "dewp", "humid", "wind_speed", "precip", "pressure", "visib")
    assert sum(int(np.isnan(b.X[name]).sum()) for b in batches for name in weather) == 45_433


def test_moments_are_kept_to_the_microsecond(tmp_path):
    begin = datetime(2013, 1, 1, tzinfo=UTC)
    times = [begin + timedelta(microseconds=us) for us in (2, 0, 1)]
    stream = FileStream(
        write(tmp_path / "a.parquet", {"t": times, "x": [2, 0, 1], "y": [0, 0, 0]}), label="y", time="t", every=1
    )
    assert [b.X["x"].tolist() for b in stream] == [[0.0], [1.0], [2.0]]


def test_without_pyarrow_the_install_line_is_given(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for name in (
        "files",
        "tables",
        "formats",
        "columns",
        "roles",
        "features",
        "times",
        "dates",
        "numerals",
        "sorting",
        "survey",
    ):
        monkeypatch.delitem(sys.modules, f"spanwise.streams.{name}")
    with pytest.raises(MissingExtraError, match=r"pyarrow.*pip install 'spanwise\[files\]'"):
        importlib.import_module("spanwise.streams.files")
