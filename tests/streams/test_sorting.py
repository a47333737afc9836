"""Sorting on disk gives what sorting in memory would, and leaves nothing behind."""

import gc
import tempfile

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise.streams.sorting import Runs


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def pieces(keys, size):
    table = pa.table({"key": pa.array(keys, pa.int64()), "row": range(len(keys)), "word": [f"w{k}" for k in keys]})
    return table.to_batches(max_chunksize=size)


@settings(max_examples=60, deadline=None)
@given(
    keys=st.lists(st.integers(-5, 5), max_size=60),
    size=st.integers(1, 20),
    run_bytes=st.sampled_from([1, 100, 1000, 10**6]),
    block_bytes=st.sampled_from([1, 50, 10**6]),
)
def test_the_result_is_that_of_a_stable_sort_in_memory(keys, size, run_bytes, block_bytes):
    runs = Runs(pieces(keys, size), run_bytes=run_bytes, block_bytes=block_bytes)
    merged = [row for batch in runs for row in batch["row"].to_pylist()]
    assert merged == np.argsort(np.array(keys, dtype=np.int64), kind="stable").tolist()
    runs.close()


def test_many_runs_of_many_blocks_come_out_whole_and_again(tmp_path):
    keys = np.random.default_rng(0).integers(0, 500, 20_000)
    runs = Runs(pieces(keys, 700), run_bytes=50_000, block_bytes=2_000)
    assert len(list(runs.folder.iterdir())) >= 10
    once, again = pa.Table.from_batches(runs), pa.Table.from_batches(runs)
    assert once.equals(again)
    assert once["row"].to_pylist() == np.argsort(keys, kind="stable").tolist()
    assert once["word"].to_pylist() == [f"w{k}" for k in sorted(keys)]


def test_the_folder_goes_with_the_runs(tmp_path):
    runs = Runs(pieces([2, 1], 1))
    assert len(list(tmp_path.iterdir())) == 1
    del runs
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_the_folder_goes_when_reading_fails(tmp_path):
    def failing():
        yield from pieces([3, 2, 1], 1)
        raise OSError("disk on fire")

    with pytest.raises(OSError, match="disk on fire"):
        Runs(failing(), run_bytes=1)
    assert not list(tmp_path.iterdir())
