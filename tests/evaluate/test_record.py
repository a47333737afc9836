"""A record reads back as it was written, up to where it was torn."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise.errors import DataError, SettingError
from spanwise.evaluate.record import Record, Row, read

starts = st.integers(1, 1000)
counts = st.integers(0, 100)
figures = st.none() | st.floats(0, 1)
row_of_any_kind = st.builds(
    Row,
    round=starts,
    scheme=st.text(max_size=8),
    seed=st.just(3),
    n=st.integers(0, 100),
    skipped=st.booleans(),
    shift=st.booleans(),
    holds_back=st.booleans(),
    accuracy=figures,
    by_class=st.dictionaries(st.text(max_size=3), st.tuples(counts, counts), max_size=3),
    ahead=st.none() | counts,
    behind=st.none() | counts,
    regret=figures,
    chosen=st.none() | starts | st.just("ensemble"),
    span=st.none() | starts,
    starts=st.lists(starts, max_size=4).map(tuple),
    estimates=st.dictionaries(starts, st.floats(0, 1), max_size=4),
    windows=st.dictionaries(starts, starts, max_size=4),
    weights=st.dictionaries(starts, st.floats(-1e6, 1e6), max_size=4),
    seconds=st.floats(0, 10),
)


def write(path, rows):
    with Record(path, {row.scheme for row in rows}, rows[0].seed) as record:
        for row in rows:
            record.write(row)


@given(rows=st.lists(row_of_any_kind, min_size=1, max_size=4), data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_record_cut_off_anywhere_reads_back_as_the_rows_that_were_whole(tmp_path_factory, rows, data):
    path = tmp_path_factory.mktemp("records") / "run.jsonl"
    write(path, rows)
    assert read(path) == rows
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    assert read(path) == rows[: whole[:cut].count(b"\n")]


def test_every_row_is_on_the_file_before_the_next_is_written(tmp_path):
    path = tmp_path / "run.jsonl"
    with Record(path, ["awe"]) as record:
        for t in (1, 2, 3):
            record.write(Row(t, "awe"))
            assert [row.round for row in read(path)] == list(range(1, t + 1))


def test_writing_after_a_torn_line_cuts_it_off_and_keeps_the_rest(tmp_path):
    path = tmp_path / "run.jsonl"
    write(path, [Row(1, "awe"), Row(2, "awe")])
    path.write_bytes(path.read_bytes()[:-7])
    write(path, [Row(1, "saol")])
    assert read(path) == [Row(1, "awe"), Row(1, "saol")]


def test_a_second_run_of_a_scheme_is_refused_and_the_first_kept(tmp_path):
    path = tmp_path / "run.jsonl"
    write(path, [Row(1, "awe")])
    with pytest.raises(SettingError, match="already holds a record of awe"):
        write(path, [Row(1, "awe"), Row(1, "saol")])
    assert read(path) == [Row(1, "awe")]


def test_the_same_schemes_with_another_seed_go_on_the_same_file(tmp_path):
    path = tmp_path / "run.jsonl"
    write(path, [Row(1, "awe", seed=0)])
    write(path, [Row(1, "awe", seed=1)])
    assert read(path) == [Row(1, "awe", seed=0), Row(1, "awe", seed=1)]
    with pytest.raises(SettingError, match="of awe with seed 1: choose another file or another seed"):
        write(path, [Row(1, "awe", seed=1)])


def test_a_record_older_than_seeds_and_counts_can_be_read(tmp_path):
    path = tmp_path / "run.jsonl"
    old = json.loads(Row(1, "awe", n=4, accuracy=0.5).line())
    for field in ("seed", "by_class", "ahead", "behind"):
        del old[field]
    path.write_text(json.dumps(old) + "\n")
    assert read(path) == [Row(1, "awe", n=4, accuracy=0.5)]


@pytest.mark.parametrize("line", ["not JSON", "{}", "[1]", '{"round": 1, "scheme": "awe", "starts": [], "more": 2}'])
def test_a_line_that_is_no_row_is_named(tmp_path, line):
    path = tmp_path / "run.jsonl"
    path.write_text(Row(1, "awe").line() + line + "\n" + Row(2, "awe").line())
    with pytest.raises(DataError, match=r"run\.jsonl, line 2"):
        read(path)


def test_without_a_path_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(None, [Row(1, "awe")])
    assert list(tmp_path.iterdir()) == []
