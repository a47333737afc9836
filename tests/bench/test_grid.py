"""What is to be run: the settings are Wild-Time's, and every experiment has its schemes."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spanwise.bench.grid import BASELINES, EXPERIMENTS, Grid, Play, make_schemes, schemes_of
from spanwise.bench.settings import LEARNERS, NAMED, SETTINGS, Places, encoder
from spanwise.bench.store import Key
from spanwise.bench.tables import TABLES
from spanwise.deep.networks.mlp import MLP
from spanwise.deep.objectives.erm import CrossEntropy
from spanwise.errors import SettingError, UnknownNameError
from spanwise.streams import Abrupt

SHARED = Path(os.environ.get("SPANWISE_SHARED", Path(__file__).parents[3] / "shared")) / "data"
HERE = Places(Path("data"), device="cpu")

# PAPER.md, A.4 and B.1, of the second release of Wild-Time. Its loop makes one step more than its settings say.
# stream: (optimiser, lr, weight decay), (batch of FT, SI, EWC; of IRM, CORAL), (iterations of the same),
#         SI's epsilon, (groups, their size)
WILD_TIME = {
    "fmow": (("Adam", 1e-4, 0.0), (64, 64), (500 + 1, 500 + 1), 1e-3, (3, 3)),
    "huffpost": (("AdamW", 2e-5, 0.01), (16, 32), (1000 + 1, 6000 + 1), 1e-4, (3, 2)),
    "arxiv": (("AdamW", 2e-5, 0.01), (64, 64), (1000 + 1, 6000 + 1), 1e-4, (4, 4)),
    "yearbook": (("Adam", 1e-3, 0.0), (32, 32), (300 + 1, 300 + 1), 1e-3, (10, 5)),
}
ROWS = dict(zip(range(2012, 2019), (7446, 8325, 10598, 13139, 11721, 8786, 3890), strict=True))
"""HuffPost's, by year, in the file of the shared data."""


@pytest.mark.parametrize("stream", WILD_TIME)
def test_settings_are_wild_times(stream):
    (kind, lr, decay), batch, iterations, damping, groups = WILD_TIME[stream]
    setting = SETTINGS[stream]
    optimizer = setting.optimizer
    assert (type(optimizer).__name__, optimizer.lr, getattr(optimizer, "weight_decay", 0.0)) == (kind, lr, decay)
    for name in ("ft", "si", "ewc"):
        assert setting.steps(name) == iterations[0]
    for name in ("irm", "coral", "irm-wildtime", "coral-wildtime"):
        assert setting.steps(name) == iterations[1]
    assert setting.batch == batch
    assert setting.parts("si")["penalty"].damping == damping
    for name in ("irm", "coral"):
        objective = setting.parts(name)["objective"]
        assert (objective.groups, objective.size) == groups


@pytest.mark.parametrize("stream", WILD_TIME)
def test_strengths_are_wild_times_on_every_stream(stream):
    setting = SETTINGS[stream]
    assert setting.parts("si")["penalty"].strength == 0.1
    assert (setting.parts("ewc")["penalty"].strength, setting.parts("ewc")["penalty"].decay) == (0.5, 1.0)
    assert setting.parts("irm")["objective"].strength == 1.0
    assert setting.parts("coral")["objective"].strength == 0.9


def test_fmow_has_amsgrad_and_a_rate_that_falls_once_a_round():
    optimizer = SETTINGS["fmow"].optimizer
    assert optimizer.amsgrad
    assert optimizer.schedule.gamma == 0.96


def test_a_learner_is_made_with_the_batch_and_the_iterations_of_its_kind():
    setting = replace(SETTINGS["huffpost"], network=lambda places: MLP)
    for name, rows in {"ft": 16, "si": 16, "ewc": 16, "irm": 32, "coral": 32, "coral-wildtime": 32}.items():
        made = setting.learner(name, setting.steps(name), HERE)
        assert made.trainer.shape == (setting.steps(name), rows)
        assert isinstance(made.trainer.recipe.objective, CrossEntropy) == (rows == 16)


def test_wild_times_quirks_come_with_a_name_of_their_own():
    for name in NAMED:
        (part,) = SETTINGS["huffpost"].parts(name).values() or [None]
        assert getattr(part, "wildtime", False) == name.endswith("-wildtime")
    assert "ft-wildtime" not in NAMED


@pytest.mark.skipif(not (SHARED / "huffpost.parquet").exists(), reason="needs huffpost.parquet of the shared data")
def test_the_folds_of_huffpost_are_wild_times():
    stream = SETTINGS["huffpost"].stream(SHARED)
    assert stream.training == {year: int(0.9 * n) for year, n in ROWS.items()}
    for scheme in make_schemes(["awe", "awe-literal", "vote", "single-resolution-4"], stream).values():
        split = scheme.keywords["split"]
        for n in ROWS.values():
            train, held = split(n, np.random.default_rng(0))
            assert (list(train[[0, -1]]), list(held[[0, -1]])) == ([0, int(0.9 * n) - 1], [int(0.9 * n), n - 1])


def test_a_stream_without_folds_of_its_own_trains_on_nine_tenths():
    split = make_schemes(["awe"], Abrupt(rounds=4, size=40))["awe"].keywords["split"]
    train, held = split(40, np.random.default_rng(0))
    assert (train.tolist(), held.tolist()) == (list(range(36)), [36, 37, 38, 39])


def test_the_schemes_of_the_papers_tables():
    assert {"plain-ensemble", "awe-literal", "awe", "saol", "vote"} <= set(EXPERIMENTS["table1"])
    assert {"awe-literal", "saol", "vote"} <= set(EXPERIMENTS["wins"])
    assert {"awe-literal", "vote"} <= set(EXPERIMENTS["voting"])
    assert set(EXPERIMENTS["figures"]) == set(EXPERIMENTS["table1"])
    assert {"plain-ensemble", "awe", "awe-literal"} <= set(EXPERIMENTS["controls"])
    assert set(EXPERIMENTS) == {*TABLES, "figures"}
    assert not any(set(BASELINES) & set(schemes) for schemes in EXPERIMENTS.values())


@pytest.mark.parametrize(
    ("rounds", "lengths"), [(2, [2]), (7, [2, 4, 8]), (16, [2, 4, 8, 16]), (17, [2, 4, 8, 16, 32])]
)
def test_resolutions_are_the_powers_of_two_up_to_the_stream(rounds, lengths):
    assert schemes_of("resolutions", rounds) == ["awe", *(f"single-resolution-{length}" for length in lengths)]
    made = make_schemes(schemes_of("resolutions", rounds), Abrupt(rounds=rounds, size=20))
    assert [made[f"single-resolution-{length}"].keywords["length"] for length in lengths] == lengths


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_scheme_of_an_experiment_can_be_made(experiment):
    stream = Abrupt(rounds=8, size=20)
    names = schemes_of(experiment, 8)
    assert list(make_schemes(names, stream)) == names


def test_plays_are_all_combinations_each_once():
    grid = Grid("voting", ["digits", "huffpost", "digits"], ["ft", "irm", "ft"], 2)
    assert [(p.stream, p.learner, p.seed, p.iterations) for p in grid.plays({"digits": 16, "huffpost": 7})] == [
        ("digits", "ft", 0, 20),
        ("digits", "irm", 0, 20),
        ("digits", "ft", 1, 20),
        ("digits", "irm", 1, 20),
        ("huffpost", "ft", 0, 1001),
        ("huffpost", "irm", 0, 6001),
        ("huffpost", "ft", 1, 1001),
        ("huffpost", "irm", 1, 6001),
    ]
    assert {p.iterations for p in Grid("voting", ["huffpost"], LEARNERS, 1, 9).plays({"huffpost": 7})} == {9}


def test_what_is_done_is_left_out():
    task = Play("digits", "ft", 0, 5, ("awe", "vote"))
    done = {Key("digits", "ft", "awe", 0, 5): None, Key("digits", "ft", "vote", 1, 5): None}
    assert task.without(done).schemes == ("vote",)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("tabel1", ["digits"], ["ft"]), "no experiment 'tabel1'; did you mean table1"),
        (("table1", ["hufpost"], ["ft"]), "no stream 'hufpost'; did you mean huffpost"),
        (("table1", ["digits"], ["cora"]), "no learner 'cora'; did you mean coral"),
        (("table1", ["digits"], ["xyz"]), "no learner 'xyz'. All: ft, si, ewc, irm, coral, si-wildtime"),
        (("table1", ["digits"], ["ft-wildtime"]), "no learner 'ft-wildtime'"),
    ],
)
def test_an_unknown_name_is_refused_with_the_near_ones(names, message):
    with pytest.raises(UnknownNameError, match=message):
        Grid(*names, 1)


@pytest.mark.parametrize("stream", ["huffpost", "arxiv"])
def test_texts_need_an_encoder(stream):
    assert SETTINGS[stream].network is encoder
    with pytest.raises(SettingError, match="--encoder"):
        SETTINGS[stream].learner("ft", 1, HERE)


def test_a_missing_file_is_named_with_where_to_get_it(tmp_path):
    for name in WILD_TIME:
        with pytest.raises(ValueError, match=rf"{name}\.pkl.* Where to get them: ") as told:
            SETTINGS[name].stream(tmp_path)
        assert str(tmp_path) in str(told.value)
