"""Wild-Time's data in each of its forms gives Wild-Time's folds."""

import importlib
import json
import os
import pickle
import re
import sys
from enum import Enum
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

import spanwise.streams
from spanwise.core.split import leading
from spanwise.errors import DataError, LabelError, MissingExtraError, SettingError, UnknownNameError
from spanwise.streams import Stream
from spanwise.streams.download import fetch
from spanwise.streams.wildtime import WildTime
from spanwise.streams.wildtime.facts import DATASETS, FACES, LAND_USE, NEWS
from spanwise.streams.wildtime.period import training_rows
from spanwise.streams.wildtime.pickles import load

SHARED = Path(os.environ.get("SPANWISE_SHARED", Path(__file__).parents[3] / "shared")) / "data"
real_data = pytest.mark.skipif(not SHARED.is_dir(), reason=f"no real data: there is no folder {SHARED}")


def folds(n, *, text):
    """Positions of train, ID test and everything, as Wild-Time's scripts draw them."""
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    order = np.random.permutation(np.arange(n))  # noqa: NPY002
    np.random.set_state(state)  # noqa: NPY002
    cut = int((1 - 0.1) * n)
    return order[:cut], order[cut + 1 if text else cut :], np.arange(n)


def stored(rows, labels, fields, *, text, keys=(0, 1, 2)):
    """One timestamp of a pickle."""
    return {
        key: {fields[0]: np.asarray(rows)[at], fields[1]: np.asarray(labels)[at]}
        for key, at in zip(keys, folds(len(rows), text=text), strict=True)
    }


def headlines(year, n):
    return [f"headline {i} of {year}" for i in range(n)], [i % 11 for i in range(n)]


def write_huffpost(folder, *, keys=(0, 1, 2), protocol=4, sizes=((2012, 40), (2013, 57))):
    data = {year: stored(*headlines(year, n), ("headline", "category"), text=True, keys=keys) for year, n in sizes}
    (folder / "huffpost.pkl").write_bytes(pickle.dumps(data, protocol=protocol))
    return {
        year: {int(getattr(key, "value", key)): value for key, value in modes.items()} for year, modes in data.items()
    }


def assert_folds_in_order(stream, data, fields, names):
    for batch, (timestamp, modes) in zip(stream, data.items(), strict=True):
        rows = [str(row) for mode in (0, 1) for row in modes[mode][fields[0]]]
        y = [names[k] for mode in (0, 1) for k in modes[mode][fields[1]]]
        assert batch.X[: len(rows)] == rows
        assert batch.y[: len(y)].tolist() == y
        assert stream.training[timestamp] == len(modes[0][fields[1]])
        assert sorted(batch.X) == sorted(map(str, modes[2][fields[0]]))
        assert len(batch.y) == len(batch.X) == len(modes[2][fields[1]])


class Mode(Enum):
    TRAIN = 0
    TEST_ID = 1
    TEST_OOD = 2


Mode.__module__ = "data.utils"


@pytest.mark.parametrize("protocol", [3, 4, 5])
def test_pickles_of_the_second_release_give_training_rows_first_and_the_row_in_neither_fold_last(tmp_path, protocol):
    data = write_huffpost(tmp_path, protocol=protocol)
    stream = WildTime("huffpost", tmp_path)
    assert isinstance(stream, Stream)
    assert (len(stream), stream.timestamps, stream.classes) == (2, [2012, 2013], list(NEWS))
    assert_folds_in_order(stream, data, ("headline", "category"), NEWS)
    assert stream.training == {2012: 36, 2013: 51}


def test_pickles_of_the_first_release_need_not_have_its_enum(tmp_path, monkeypatch):
    module = ModuleType("data.utils")
    module.Mode = Mode
    monkeypatch.setitem(sys.modules, "data", ModuleType("data"))
    monkeypatch.setitem(sys.modules, "data.utils", module)
    data = write_huffpost(tmp_path, keys=tuple(Mode))
    monkeypatch.undo()
    assert_folds_in_order(WildTime("huffpost", tmp_path), data, ("headline", "category"), NEWS)
    assert "data.utils" not in sys.modules


@pytest.mark.parametrize(
    "member",
    [b"cbuiltins\ngetattr\n(cdata.utils\nMode\nX\x05\x00\x00\x00TRAINtR", b"cdata.utils\nMode\n(K\x00tR"],
    ids=["by name, as Python 3.11 writes it", "by value"],
)
def test_an_enum_member_is_read_however_python_wrote_it(tmp_path, member):
    (tmp_path / "huffpost.pkl").write_bytes(b"\x80\x04}" + member + b"K\x07s.")
    assert load(tmp_path / "huffpost.pkl") == {0: 7}


class Evil:
    state = None

    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call[0], self.call[1:], self.state


@pytest.mark.parametrize("call", [os.mkdir, os.system, eval, exec, importlib.import_module, np.load, np.memmap])
def test_a_pickle_that_asks_for_anything_but_data_is_refused_and_nothing_runs(tmp_path, call):
    canary = tmp_path / "canary"
    argument = {os.mkdir: str(canary), os.system: f"touch {canary}"}.get(call, f"open({str(canary)!r}, 'w')")
    (tmp_path / "huffpost.pkl").write_bytes(pickle.dumps({2012: Evil(call, argument)}))
    with pytest.raises(DataError, match=f"{call.__name__}.*source you trust"):
        WildTime("huffpost", tmp_path)
    assert not canary.exists()


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (b"\x80\x04cbuiltins\ngetattr\n(cnumpy\ndtype\nX\x07\x00\x00\x00__new__tR.", "is not data"),
        (b"\x80\x04cnumpy\ndtype\n(X\x06\x00\x00\x00i4, O8tR.", "expected numbers or strings"),
        (b"\x80\x04cnumpy\nndarray\n(K\x01tR.", "cannot be read"),
        (b"\x80\x04K\x01Q.", "refers to data outside"),
        (b"\x80\x04]\x94.", "dict of timestamps"),
        (b"", "Is the file whole"),
        (b"\x80\x04}\x94(K", "Is the file whole"),
        (b"not a pickle", "Is the file whole"),
        (b"\x80\x04}\x94M\xdc\x07K\x01s.", "not laid out"),
        (b"\x80\x04}\x94.", "none of the timestamps"),
    ],
)
def test_pickles_that_are_crafted_torn_or_of_something_else_are_refused(tmp_path, program, says):
    (tmp_path / "huffpost.pkl").write_bytes(program)
    with pytest.raises(DataError, match=says):
        WildTime("huffpost", tmp_path)


def test_a_type_cannot_be_made_to_pass_numbers_off_as_objects(tmp_path):
    """numpy's own way of restoring a dtype believes such flags, and would follow the numbers as addresses."""
    dtype = Evil(np.dtype, "i8", False, True)
    dtype.state = (3, "<", None, None, None, -1, -1, 63)
    (tmp_path / "huffpost.pkl").write_bytes(pickle.dumps({2012: dtype}))
    assert not load(tmp_path / "huffpost.pkl")[2012].dtype.hasobject


def leading_rows(n):
    train, held = leading(0.9)(n, np.random.default_rng(0))
    assert [*train, *held] == list(range(n))
    return len(train)


@pytest.mark.parametrize("n", [2, 9, 10, 11, 19, 20, 57, 99, 100, 101])
def test_the_leading_nine_tenths_are_wild_times_training_fold(tmp_path, n):
    news = write_huffpost(tmp_path, sizes=((2012, n),))[2012][0]
    images = {0: stored(np.arange(n), n * [0], ("image_idxs", "labels"), text=False)}
    (tmp_path / "fmow.pkl").write_bytes(pickle.dumps(images))
    for name, fold in (("huffpost", news["headline"]), ("fmow", images[0][0]["image_idxs"])):
        stream = WildTime(name, tmp_path, decode=False)
        (batch,) = stream
        lead = leading_rows(len(batch.y))
        assert [lead] == list(stream.training.values()) == [len(fold)]
        assert batch.X[:lead] == [str(tmp_path / f"images/rgb_img_{i}.png") if name == "fmow" else i for i in fold]


def test_the_leading_nine_tenths_are_as_many_as_wild_time_trains_on():
    """HuffPost's rows a year, and those of its training fold."""
    years = {7446: 6701, 8325: 7492, 10599: 9539, 13140: 11826, 11721: 10548, 8786: 7907, 3890: 3501}
    assert {n: leading_rows(n) for n in years} == years
    assert all(leading_rows(n) == training_rows(n) == int((1 - 0.1) * n) for n in range(2, 2000))


@pytest.mark.parametrize("protocol", [3, 4, 5])
@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(3, dtype=">i4"),
        np.array(["a", "é"]), np.array(["a", None, "bc"], dtype=object), np.empty((0, 4)), np.array([True, False]),
    ],
    ids=str,
)  # fmt: skip
def test_arrays_are_restored_as_they_were(tmp_path, array, protocol):
    (tmp_path / "x.pkl").write_bytes(pickle.dumps({"x": array, "y": array.ravel()[:1].tolist()}, protocol=protocol))
    np.testing.assert_array_equal(np.asarray(load(tmp_path / "x.pkl")["x"]), array)


def test_a_class_number_out_of_range_is_refused(tmp_path):
    data = {2012: stored(["a"] * 20, [11] * 20, ("headline", "category"), text=True)}
    (tmp_path / "huffpost.pkl").write_bytes(pickle.dumps(data))
    with pytest.raises(LabelError, match="between 0 and 10"):
        WildTime("huffpost", tmp_path)


def test_pickled_portraits_are_images_in_0_to_1_and_torch_order_on_demand(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (20, 32, 32, 3)) / 255
    data = {1930: stored(images, [0, 1] * 10, ("images", "labels"), text=False)}
    (tmp_path / "yearbook.pkl").write_bytes(pickle.dumps(data))
    stream = WildTime("yearbook", tmp_path)
    (batch,) = stream
    np.testing.assert_allclose(batch.X[:18], data[1930][0]["images"], atol=1e-6)
    assert (batch.X.shape, batch.X.dtype, stream.classes) == ((20, 32, 32, 3), np.float32, ["M", "F"])
    (turned,) = WildTime("yearbook", tmp_path, channels_first=True)
    np.testing.assert_array_equal(turned.X.transpose(0, 2, 3, 1), batch.X)


def write_png(path, value, side=8):
    image = pytest.importorskip("PIL.Image")
    path.parent.mkdir(parents=True, exist_ok=True)
    image.fromarray(np.full((side, side, 3), value, dtype=np.uint8)).save(path)


def test_pickled_fmow_holds_tensors_and_its_images_lie_in_the_folder_of_wilds(tmp_path):
    torch = pytest.importorskip("torch")
    labels = torch.arange(20) % 62
    data = {11: stored(np.arange(100, 120), labels, ("image_idxs", "labels"), text=False)}
    data[11][0]["labels"] = torch.tensor(data[11][0]["labels"])
    data[11][2]["labels"] = torch.arange(-3, 20)[3:] % 62
    (tmp_path / "fmow.pkl").write_bytes(pickle.dumps(data))
    for number in range(100, 120):
        write_png(tmp_path / f"fmow_v1.1/images/rgb_img_{number}.png", number)
    (batch,) = WildTime("fmow", tmp_path)
    assert (batch.X.shape, batch.X.dtype) == ((20, 8, 8, 3), np.uint8)
    assert batch.X[:, 0, 0, 0].tolist() == [*data[11][0]["image_idxs"], *data[11][1]["image_idxs"]]
    assert batch.y.tolist() == [LAND_USE[i - 100] for i in batch.X[:, 0, 0, 0]]
    (paths,) = WildTime("fmow", tmp_path, decode=False)
    assert paths.X[0] == str(tmp_path / "fmow_v1.1/images" / f"rgb_img_{batch.X[0, 0, 0, 0]}.png")


def test_fmow_without_its_images_says_where_they_are(tmp_path):
    data = {0: stored(np.arange(20), [0] * 20, ("image_idxs", "labels"), text=False)}
    (tmp_path / "fmow.pkl").write_bytes(pickle.dumps(data))
    with pytest.raises(DataError, match=r"images.*wilds\.stanford\.edu.*decode=False"):
        WildTime("fmow", tmp_path)


def write_hdf5(path, field, folds_by_timestamp):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        for timestamp, parts in folds_by_timestamp.items():
            for fold, (rows, labels) in parts.items():
                file[f"{timestamp}/{fold}/{field}"] = rows
                file[f"{timestamp}/{fold}/labels"] = np.array(labels, dtype="u1")


def test_hdf5_texts_are_train_then_test(tmp_path):
    parts = {"train": (["A b", "C d", "É"], [0, 1, 171]), "test": (["E f"], [2])}
    write_hdf5(tmp_path / "arxiv.hdf5", "text", {2007: parts, 2008: parts})
    stream = WildTime("arxiv", tmp_path)
    assert (stream.timestamps, stream.classes, stream.training) == ([2007, 2008], list(range(172)), {2007: 3, 2008: 3})
    X, y = next(iter(stream))
    assert (X, y.tolist()) == (["a b", "c d", "é", "e f"], [0, 1, 171, 2])
    train, held = stream.split(4, np.random.default_rng(0))
    assert (train.tolist(), held.tolist()) == ([0, 1, 2], [3])
    with pytest.raises(DataError, match="5 rows"):
        stream.split(5, np.random.default_rng(0))
    with pytest.raises(SettingError, match="every_year"):
        WildTime("arxiv", tmp_path, every_year=True)


@pytest.mark.parametrize("shape", [(32, 32), (32, 32, 1), (32, 32, 3)])
def test_hdf5_portraits_come_as_those_of_the_pickles_do(tmp_path, shape):
    images = np.full((3, *shape), 51, dtype=np.uint8)
    write_hdf5(tmp_path / "yearbook.hdf5", "images", {1930: {"train": (images[:2], [0, 1]), "test": (images[2:], [1])}})
    ((X, y),) = WildTime("yearbook", tmp_path)
    assert (X.shape, X.dtype, y.tolist()) == ((3, 32, 32, 3), np.float32, ["M", "F", "F"])
    np.testing.assert_allclose(X, 0.2)


def test_hdf5_headlines_have_the_names_of_their_classes(tmp_path):
    parts = {"train": (["Goal! Élan", "Match drawn"], [8, 8]), "test": (["A Star Is Born"], [7])}
    write_hdf5(tmp_path / "huffpost.hdf5", "text", {2012: parts, 2018: parts})
    stream = WildTime("huffpost", tmp_path)
    assert (stream.timestamps, stream.classes, stream.training) == ([2012, 2018], list(NEWS), {2012: 2, 2018: 2})
    for X, y in stream:
        assert (X, y.tolist()) == (["goal! élan", "match drawn", "a star is born"], ["SPORTS", "SPORTS", "SCIENCE"])


def test_hdf5_satellite_images_are_bytes_as_those_of_wilds_are(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (4, 224, 224, 3), dtype=np.uint8)
    parts = {"train": (images[:2], [0, 61]), "test": (images[2:], [1, 2])}
    write_hdf5(tmp_path / "fmow.hdf5", "images", {0: parts, 15: parts})
    stream = WildTime("fmow", tmp_path)
    assert (stream.timestamps, stream.classes, stream.training) == ([0, 15], list(LAND_USE), {0: 2, 15: 2})
    for X, y in stream:
        np.testing.assert_array_equal(X, images)
        assert (X.dtype, y.tolist()) == (np.uint8, ["airport", "zoo", "airport_hangar", "airport_terminal"])
    for X, _ in WildTime("fmow", tmp_path, channels_first=True):
        np.testing.assert_array_equal(X, images.transpose(0, 3, 1, 2))


def test_a_file_that_is_no_hdf5_is_refused(tmp_path):
    pytest.importorskip("h5py")
    (tmp_path / "huffpost.hdf5").write_bytes(b"<html>quota exceeded</html>")
    with pytest.raises(DataError, match="not one of wild-time-data's"):
        WildTime("huffpost", tmp_path)


def write_lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def news(begin, end, n):
    """Lines of the News Category Dataset; two of its categories end before 2017."""
    rng = np.random.default_rng(0)
    days = np.arange(begin, end, 6, dtype="datetime64[D]")
    categories = [*NEWS, "WORLDPOST", "ARTS"]
    records = [
        {"headline": f"Row {i}", "category": rng.choice(categories), "date": str(rng.choice(days))} for i in range(n)
    ]
    return [r for r in records if r["category"] not in {"WORLDPOST", "ARTS"} or r["date"] < "2017"]


def test_raw_news_is_what_wild_time_makes_of_it_with_pandas(tmp_path):
    """Classes, texts, folds, and the order of rows of one day, which pandas' sort decides."""
    records = news("2012-01-01", "2018-05-27", 4000)
    write_lines(tmp_path / "News_Category_Dataset_v2.json", records)

    frame = pd.DataFrame(records)
    frame["date"] = pd.to_datetime(frame["date"])
    frame = frame.sort_values(by=["date"])
    frame = frame[frame["category"].isin(NEWS)]
    data = {
        year: stored(
            of_year["headline"].str.lower().tolist(),
            [NEWS.index(c) for c in of_year["category"]],
            ("headline", "category"),
            text=True,
        )
        for year, of_year in frame.groupby(frame["date"].dt.year)
    }
    stream = WildTime("huffpost", tmp_path)
    assert stream.classes == list(NEWS)
    assert_folds_in_order(stream, data, ("headline", "category"), NEWS)


def test_version_3_of_the_news_is_version_2_up_to_its_last_day(tmp_path):
    rows = [*news("2012-01-01", "2018-05-26", 2000), {"headline": "Last", "category": "TECH", "date": "2018-05-26"}]
    later = [{"headline": "New", "category": "ARTS", "date": "2018-05-27"}, *news("2018-05-27", "2022-09-24", 500)]
    (tmp_path / "2").mkdir()
    write_lines(tmp_path / "2/News_Category_Dataset_v2.json", rows)
    write_lines(tmp_path / "News_Category_Dataset_v3.json", later + rows)
    second, third = WildTime("huffpost", tmp_path / "2"), WildTime("huffpost", tmp_path)
    assert (third.classes, third.training) == (second.classes, second.training)
    for one, other in zip(third, second, strict=True):
        assert (one.X, one.y.tolist()) == (other.X, other.y.tolist())
    assert "last" in [text for batch in third for text in batch.X]
    (tmp_path / "2/News_Category_Dataset_v3.json").touch()
    assert WildTime("huffpost", tmp_path / "2").source == tmp_path / "2/News_Category_Dataset_v2.json"


def test_a_folder_without_the_news_is_told_of_both_versions(tmp_path):
    with pytest.raises(DataError, match=r"News_Category_Dataset_v2\.json, News_Category_Dataset_v3\.json"):
        WildTime("huffpost", tmp_path)


def write_arxiv(folder):
    papers = [
        {"title": f"Paper {i}\n  On It", "categories": f"{c} cs.LG", "update_date": f"{year}-0{1 + i % 9}-02", "id": i}
        for year in (2007, 2008)
        for i, c in enumerate(["math.CO", "hep-th"] * 20 + (["q-fin.PM"] if year == 2008 else []))
    ]
    write_lines(folder / "arxiv-metadata-oai-snapshot.json", papers)


def test_raw_arxiv_takes_the_first_category_and_lower_case(tmp_path):
    write_arxiv(tmp_path)
    stream = WildTime("arxiv", tmp_path)
    assert (stream.timestamps, stream.classes) == ([2007, 2008], ["hep-th", "math.CO", "q-fin.PM"])
    assert stream.training == {2007: 36, 2008: 36}
    batches = list(stream)
    assert [len(batch.y) for batch in batches] == [40, 41]
    assert batches[0].X[0].startswith("paper ")


def test_arxiv_with_the_categories_of_every_year_and_a_cap(tmp_path):
    write_arxiv(tmp_path)
    whole, stream = WildTime("arxiv", tmp_path, every_year=True), WildTime("arxiv", tmp_path, every_year=True, most=20)
    assert stream.classes == ["hep-th", "math.CO"]
    assert stream.training == {2007: 18, 2008: 18}
    for batch, full in zip(stream, whole, strict=True):
        assert [*full.X[:18], *full.X[36:38]] == batch.X


@pytest.mark.parametrize(
    "line",
    ['{"headline": "x", "category": "TECH"}', '{"headline": "x", "category": "TECH", "date": "soon"}', '{"head', "[1]",
     '{"headline": null, "category": "TECH", "date": "2012-01-01"}'],
)  # fmt: skip
def test_a_bad_line_is_named(tmp_path, line):
    good = '{"headline": "x", "category": "TECH", "date": "2012-01-01"}\n'
    (tmp_path / "News_Category_Dataset_v2.json").write_text(good + "\n" + line)
    with pytest.raises(DataError, match="line 3"):
        WildTime("huffpost", tmp_path)


def write_fmow(folder):
    """Ten images of each part in 2002, 2014 and 2017; some sequestered; one from after the last year."""
    rows = [
        (part, LAND_USE[i % 62], f"{year}-05-01T10:00:00Z")
        for year in (2002, 2014, 2017)
        for part in ("train", "val", "seq", "test")
        for i in range(10)
    ]
    rows.append(("test", "zoo", "2018-02-01T00:00:00Z"))
    lines = ["split,img_filename,category,timestamp,country_code"]
    lines += [f"{part},x.jpg,{category},{timestamp},USA" for part, category, timestamp in rows]
    folder.mkdir(exist_ok=True)
    (folder / "rgb_metadata.csv").write_text("\n".join(lines) + "\n")


def numbers(batch):
    return [int(Path(path).stem.removeprefix("rgb_img_")) for path in batch.X]


@pytest.mark.parametrize("inner", ["", "fmow_v1.1"])
def test_fmow_from_wilds_in_the_form_of_either_release(tmp_path, inner):
    write_fmow(tmp_path / inner)
    first, second = (WildTime("fmow", tmp_path, release=release, decode=False) for release in (1, 2))
    assert first.timestamps == second.timestamps == [0, 12, 15]
    train, test, _ = folds(10, text=False)
    own = {0: 0, 12: 50, 15: 110}  # where the ten rows of the year's part begin
    for batch, start in zip(first, own.values(), strict=True):
        assert numbers(batch) == [start + i for i in (*train, *test)]
    assert first.training == {0: 9, 12: 9, 15: 9}
    early, *late = second
    assert numbers(early) == [*range(20), *range(30, 40)]
    assert [numbers(b) for b in late] == [numbers(b) for b in list(first)[1:]]
    assert second.training == {0: 20, 12: 9, 15: 9}
    assert [len(part) for part in second.split(30, np.random.default_rng(0))] == [20, 10]
    assert early.y.tolist() == [LAND_USE[i % 10] for i in range(30)]


def test_bad_metadata_of_fmow_is_named_by_line(tmp_path):
    (tmp_path / "rgb_metadata.csv").write_text("split,category,timestamp\ntrain,moon_base,2002-01-01T00:00:00Z\n")
    with pytest.raises(DataError, match=r"line 2.*moon_base"):
        WildTime("fmow", tmp_path, decode=False)


def test_yearbook_folders_seed_once_and_drop_the_years_before_1930(tmp_path):
    for sex, base in (("M", 0), ("F", 100)):
        for year in (1929, 1930, 1931):
            for i in range(10):
                write_png(tmp_path / FACES / sex / f"{year}_{i:02d}.png", base + 10 * (year - 1929) + i, side=40)
    stream = WildTime("yearbook", tmp_path)
    assert (stream.timestamps, stream.training) == ([1930, 1931], {1930: 18, 1931: 18})
    rng = np.random.RandomState(0)
    for year, (X, y) in zip(stream.timestamps, stream, strict=True):
        order = rng.permutation(20)
        values = [10 * (year - 1929) + i % 10 + 100 * (i // 10) for i in order]
        assert (X.shape, X.dtype) == ((20, 32, 32, 3), np.float32)
        np.testing.assert_allclose(X[:, 16, 16, 0] * 255, values, atol=1e-3)
        assert y.tolist() == ["F" if i >= 10 else "M" for i in order]


def test_yearbook_folders_must_hold_both_sexes_and_whole_images(tmp_path):
    write_png(tmp_path / FACES / "M" / "1950_a.png", 7)
    with pytest.raises(DataError, match="no folder F"):
        WildTime("yearbook", tmp_path)
    (tmp_path / FACES / "F").mkdir()
    (tmp_path / FACES / "F" / "1950_b.png").write_bytes(b"no image")
    with pytest.raises(DataError, match=r"1950_b\.png cannot be read"):
        list(WildTime("yearbook", tmp_path))


def write_parquet(path, columns):
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(columns), path)


def test_parquet_texts_keep_only_news_of_every_year(tmp_path):
    n = 40
    rows = [(f"News {i}", ["TECH", "CRIME"][i % 2], year) for year in range(2012, 2019) for i in range(n)]
    rows.append(("Odd One", "ARTS", 2018))
    texts, categories, years = map(list, zip(*rows, strict=True))
    write_parquet(tmp_path / "huffpost.parquet", {"headline": texts, "category": categories, "year": years})
    stream = WildTime("huffpost", tmp_path)
    assert (stream.classes, len(stream), set(stream.training.values())) == (["CRIME", "TECH"], 7, {36})
    train, test, _ = folds(n, text=True)
    for batch in stream:
        assert batch.X[:-1] == [f"news {i}" for i in (*train, *test)]


def test_parquet_that_is_torn_lacks_a_column_or_has_holes_is_refused(tmp_path):
    path = tmp_path / "arxiv.parquet"
    write_parquet(path, {"title": ["a", None], "primary_cat": ["x", "y"], "year": [2007, 2007]})
    with pytest.raises(DataError, match=r"missing values in title \(1\)"):
        WildTime("arxiv", tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"not a whole Parquet file.*[^.]\. Get it again"):
        WildTime("arxiv", tmp_path)
    write_parquet(path, {"title": ["a"], "year": [2007]})
    with pytest.raises(DataError, match="no column primary_cat"):
        WildTime("arxiv", tmp_path)
    write_parquet(path, {"title": ["a"], "primary_cat": ["x"], "year": [1999]})
    with pytest.raises(DataError, match=r"no text is dated 2007\.\.2018"):
        WildTime("arxiv", tmp_path)


@pytest.mark.parametrize("name", DATASETS)
def test_an_empty_folder_is_told_what_is_missing_and_where_to_get_it(tmp_path, name):
    with pytest.raises(DataError, match=rf"none of {name}\.pkl, {name}\.hdf5, .*Where to get them.*Wild-Time"):
        WildTime(name, tmp_path)


def test_an_unknown_dataset_or_release_is_refused(tmp_path):
    with pytest.raises(UnknownNameError, match="'drug'"):
        WildTime("drug", tmp_path)
    with pytest.raises(SettingError, match="release=3"):
        WildTime("fmow", tmp_path, release=3)
    with pytest.raises(SettingError, match="most=1"):
        WildTime("fmow", tmp_path, most=1)


def test_the_global_generator_of_numpy_is_left_alone_and_iterating_again_gives_the_same(tmp_path):
    write_arxiv(tmp_path)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    stream = WildTime("arxiv", tmp_path)
    one, again = list(stream), list(stream)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert [b.X for b in one] == [b.X for b in again]


@pytest.mark.parametrize(
    ("module", "library", "extra"),
    [("parquet", "pyarrow", "files"), ("hdf5", "h5py", "wildtime"), ("pictures", "PIL", "vision")],
)
def test_without_a_library_the_install_line_is_given_for_wildtime(monkeypatch, module, library, extra):
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"spanwise.streams.wildtime.{module}", raising=False)
    with pytest.raises(MissingExtraError, match=rf"pip install 'spanwise\[{extra}\]'"):
        importlib.import_module(f"spanwise.streams.wildtime.{module}")


def test_only_the_module_that_downloads_imports_the_network():
    sources = Path(spanwise.streams.__file__).parent.rglob("*.py")
    users = [
        path.name for path in sources if re.search(r"^(import|from) (urllib|http|socket|ssl)", path.read_text(), re.M)
    ]
    assert users == ["download.py"]


def test_a_file_that_is_there_is_not_downloaded_and_fmow_is_not_offered(tmp_path):
    (tmp_path / "arxiv.hdf5").touch()
    assert fetch("arxiv", tmp_path) == tmp_path / "arxiv.hdf5"
    with pytest.raises(UnknownNameError, match="wilds"):
        fetch("fmow", tmp_path)


@real_data
def test_real_headlines_have_wild_times_counts_a_year():
    stream = WildTime("huffpost", SHARED)
    assert stream.classes == list(NEWS)
    assert [len(batch.y) for batch in stream] == [7446, 8325, 10598, 13139, 11721, 8786, 3890]
    assert list(stream.training.values()) == [6701, 7492, 9538, 11825, 10548, 7907, 3501]
    assert all(text == text.lower() for batch in stream for text in batch.X)


@real_data
def test_real_titles_have_101_categories_in_every_year():
    stream = WildTime("arxiv", SHARED, every_year=True, most=10_000)
    assert stream.timestamps == list(range(2007, 2019))
    assert len(stream.classes) == 101
    assert set(stream.training.values()) == {9000}
