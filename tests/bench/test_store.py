"""Cells on the disk: what is there is whole, whatever happened."""

import os
from pathlib import Path

import pytest

from spanwise.bench.store import Cell, Key, Store, evaluations
from spanwise.errors import DataError
from spanwise.evaluate import Row

RESULTS = Path(__file__).parents[2] / "results" / "cells.jsonl"


def cell(scheme, seed=0, accuracy=0.5):
    rows = (
        Row(1, scheme, seed=seed, n=10),
        Row(2, scheme, seed=seed, n=10, accuracy=accuracy, weights={1: 0.5, 2: 0.5}),
    )
    return Cell(Key("digits", "ft", scheme, seed, 5), rows, {"precision": "float32"})


def test_a_cell_is_its_line():
    assert Cell.of(cell("awe").line()) == cell("awe")


def test_what_was_added_is_there_when_the_file_is_opened_again(tmp_path):
    store = Store(tmp_path / "new" / "cells.jsonl")
    store.add([cell("plain"), cell("awe")])
    store.add([cell("vote")])
    assert Store(store.path).cells == store.cells == {c.key: c for c in map(cell, ("plain", "awe", "vote"))}
    assert os.listdir(store.path.parent) == ["cells.jsonl"]


def test_opening_a_store_writes_nothing(tmp_path):
    path = tmp_path / "new" / "cells.jsonl"
    assert Store(path).cells == {}
    assert not path.parent.exists()
    torn = cell("plain").line() + cell("awe").line()[:-30]
    path.parent.mkdir()
    path.write_text(torn)
    Store(path)
    assert path.read_text() == torn, "another process may be writing there"


@pytest.mark.parametrize("cut", [1, 2, 40, 10_000])
def test_a_torn_line_does_not_count_and_is_gone_when_more_is_added(tmp_path, cut):
    path = tmp_path / "cells.jsonl"
    last = cell("awe").line()
    path.write_text(cell("plain").line() + last[: max(1, len(last) - cut)])
    store = Store(path)
    assert list(store.cells) == [cell("plain").key]
    store.add([cell("vote")])
    assert path.read_text() == cell("plain").line() + cell("vote").line()


def test_a_cell_that_is_there_stays_as_it_is(tmp_path):
    store = Store(tmp_path / "cells.jsonl")
    store.add([cell("plain", accuracy=0.5)])
    store.add([cell("plain", accuracy=0.6), cell("awe")])
    assert store.cells[cell("plain").key].rows[1].accuracy == 0.5
    assert Store(store.path).cells == store.cells
    assert len(store.path.read_text().splitlines()) == 2


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_the_cells_of_a_play_are_there_together_or_not_at_all(tmp_path, monkeypatch, step):
    store = Store(tmp_path / "cells.jsonl")
    store.add([cell("plain"), cell("awe")])

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(*((os, "fsync") if step == "fsync" else (Path, "replace")), killed)
        with pytest.raises(KeyboardInterrupt):
            store.add([cell("plain", 1), cell("awe", 1)])
    assert list(Store(store.path).cells) == list(store.cells) == [cell("plain").key, cell("awe").key]
    store.add([cell("plain", 1), cell("awe", 1)])
    assert len(Store(store.path).cells) == 4


def test_what_another_process_has_added_meanwhile_is_kept(tmp_path):
    one, other = Store(tmp_path / "cells.jsonl"), Store(tmp_path / "cells.jsonl")
    one.add([cell("plain")])
    other.add([cell("plain", 1)])
    one.add([cell("awe")])
    assert len(Store(one.path).cells) == 3


@pytest.mark.parametrize("line", ["{}", "[1]", "no JSON", '{"stream": "digits"}', '{"rows": 3}'])
def test_an_altered_line_is_refused_by_number(tmp_path, line):
    path = tmp_path / "cells.jsonl"
    path.write_text(cell("plain").line() + line + "\n" + cell("awe").line())
    with pytest.raises(DataError, match=r"cells\.jsonl, line 2 is no cell"):
        Store(path)


def test_cells_of_one_place_are_an_evaluation_a_seed():
    found = evaluations([cell("plain", 1), cell("plain", 0), cell("awe", 1)])
    assert [(one.rows[0].seed, one.schemes) for one in found] == [(0, ["plain"]), (1, ["plain", "awe"])]


@pytest.mark.skipif(not RESULTS.exists(), reason="nothing was measured yet")
def test_what_was_measured_can_be_read_and_is_compared_with_the_plain_learner():
    cells = Store(RESULTS).cells
    assert cells
    for key, found in cells.items():
        assert [row.round for row in found.rows] == list(range(1, len(found.rows) + 1))
        assert key._replace(scheme="plain") in cells
