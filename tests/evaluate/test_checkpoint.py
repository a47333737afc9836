"""An evaluation that was interrupted goes on from its checkpoint and ends as if nothing had happened."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from spanwise.adapters.functions import FunctionLearner
from spanwise.checks.toys import centroids, toy_batches
from spanwise.errors import SettingError
from spanwise.evaluate import compare, read
from spanwise.evaluate.checkpoint import Checkpoint

SCHEMES = {"awe": "awe", "saol": "saol", "awe-prequential": "awe-prequential"}


def timeless(rows):
    return [replace(row, seconds=0.0) for row in rows]


def dies_after(rounds):
    """A stream whose reader is killed, in a manner of speaking."""
    yield from islice(toy_batches(9), rounds)
    raise KeyboardInterrupt


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """A checkpoint after every round."""
    monkeypatch.setattr(Checkpoint.__init__, "__defaults__", (0.0,))


@pytest.mark.parametrize("rounds", [1, 4, 8])
def test_it_goes_on_where_it_was(tmp_path, rounds):
    whole = compare(centroids(), toy_batches(9), SCHEMES, seed=3)
    again = {"record": tmp_path / "rounds.jsonl", "checkpoint": tmp_path / "aside", "seed": 3}
    with pytest.raises(KeyboardInterrupt):
        compare(centroids(), dies_after(rounds), SCHEMES, **again)
    rest = compare(centroids(), toy_batches(9), SCHEMES, **again)
    assert timeless(rest.rows) == timeless(whole.rows)
    assert timeless(read(tmp_path / "rounds.jsonl")) == timeless(whole.rows)
    assert not (tmp_path / "aside").exists()


def test_rounds_that_are_done_are_not_learned_again(tmp_path):
    calls = []

    def counting():
        def learn(state, X, y):
            calls.append(len(y))
            return state

        return FunctionLearner(lambda seed: np.zeros(1), learn, lambda state, X: np.zeros((len(X), 3)))

    again = {"record": tmp_path / "rounds.jsonl", "checkpoint": tmp_path / "aside"}
    with pytest.raises(KeyboardInterrupt):
        compare(counting(), dies_after(6), {}, **again)
    assert len(calls) == 6
    compare(counting(), toy_batches(9), {}, **again)
    assert len(calls) == 9


def test_rows_after_the_last_checkpoint_are_written_anew(tmp_path):
    again = {"record": tmp_path / "rounds.jsonl", "checkpoint": tmp_path / "aside"}
    with pytest.raises(KeyboardInterrupt):
        compare(centroids(), dies_after(5), SCHEMES, **again)
    with (tmp_path / "rounds.jsonl").open("a") as file:
        for row in [row for row in read(tmp_path / "rounds.jsonl") if row.round == 5]:
            file.write(replace(row, round=6, accuracy=0.0).line())
        file.write('{"round": 7, "sch')
    assert timeless(compare(centroids(), toy_batches(9), SCHEMES, **again).rows) == timeless(
        compare(centroids(), toy_batches(9), SCHEMES).rows
    )


def test_a_torn_checkpoint_is_passed_over(tmp_path):
    again = {"record": tmp_path / "rounds.jsonl", "checkpoint": tmp_path / "aside"}
    with pytest.raises(KeyboardInterrupt):
        compare(centroids(), dies_after(5), SCHEMES, **again)
    (generation,) = (tmp_path / "aside").iterdir()
    for file in (generation / "saol").rglob("*"):
        if file.is_file():
            file.write_bytes(b"x")
    assert timeless(compare(centroids(), toy_batches(9), SCHEMES, **again).rows) == timeless(
        compare(centroids(), toy_batches(9), SCHEMES).rows
    )


def test_a_record_that_lacks_what_was_played_is_refused(tmp_path):
    again = {"record": tmp_path / "rounds.jsonl", "checkpoint": tmp_path / "aside"}
    with pytest.raises(KeyboardInterrupt):
        compare(centroids(), dies_after(5), SCHEMES, **again)
    (tmp_path / "rounds.jsonl").unlink()
    with pytest.raises(SettingError, match="remove the checkpoint"):
        compare(centroids(), toy_batches(9), SCHEMES, **again)


def test_a_learner_that_cannot_be_saved_runs_without_checkpoints(tmp_path, caplog):
    class Unsavable:
        def fresh(self, seed):
            return Unsavable()

        def learn(self, X, y):
            pass

        def logits(self, X):
            return np.zeros((len(X), 3))

    compare(Unsavable(), toy_batches(3), {}, checkpoint=tmp_path / "aside")
    assert "an interrupted run would begin again" in caplog.text
    assert not (tmp_path / "aside").exists()
