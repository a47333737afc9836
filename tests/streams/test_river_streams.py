"""River's data sets as streams: the rows are River's own, in its order."""

import numpy as np
import pytest

from spanwise import AWE
from spanwise.adapters.ready_files import columns_linear
from spanwise.errors import DataError, SettingError
from spanwise.evaluate import compare
from spanwise.streams.river import RiverStream

river = pytest.importorskip("river")
from river.datasets import Phishing, synth  # noqa: E402
from river.naive_bayes import GaussianNB  # noqa: E402


def test_the_rows_of_all_rounds_are_those_of_the_data_set_each_time():
    stream, rows = RiverStream(Phishing(), every=400), list(Phishing())
    for _ in range(2):
        batches = list(stream)
        assert [len(batch.y) for batch in batches] == [400, 400, 400, 50]
        assert [label for batch in batches for label in batch.y] == [y for _, y in rows]
        for name in rows[0][0]:
            found = np.concatenate([batch.X[name] for batch in batches])
            assert found.tolist() == [x[name] for x, _ in rows]


def test_a_generator_without_end_gives_as_many_rounds_as_asked_for():
    stream = RiverStream(synth.SEA(seed=1), every=50, rounds=3)
    first, again = list(stream), list(stream)
    assert len(first) == 3
    assert list(first[0].X) == ["0", "1", "2"]
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.X["0"], other.X["0"])


def test_features_that_a_row_does_not_have_are_missing():
    (batch,) = RiverStream([({"a": 1.0}, 0), ({"b": "x"}, 1), ({"a": True, "b": None}, 0)])
    np.testing.assert_array_equal(batch.X["a"], [1.0, np.nan, 1.0])
    assert batch.X["b"].tolist() == [None, "x", None]


@pytest.mark.parametrize("learner", [GaussianNB(), columns_linear()], ids=["river", "scikit-learn"])
def test_learners_of_either_kind_play_it(learner):
    found = compare(learner, RiverStream(Phishing(), every=250), {"awe": AWE})
    (awe,) = (line for line in found.summary() if line.scheme == "awe")
    assert awe.rounds == 4
    assert awe.accuracy > 0.7


def test_rows_that_can_be_iterated_only_once_are_refused():
    with pytest.raises(DataError, match="only once"):
        RiverStream(iter(list(Phishing())))


@pytest.mark.parametrize("settings", [{"every": 0}, {"rounds": 0}])
def test_settings_that_make_no_round_are_refused(settings):
    with pytest.raises(SettingError, match="1 or more"):
        RiverStream(Phishing(), **settings)
