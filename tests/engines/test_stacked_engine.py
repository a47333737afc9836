"""A stacked pool gives what one instance after another gives, and goes on where a stack cannot be had."""

import gc
import logging
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from threading import Event

import numpy as np
import pytest
import torch
from torch import nn

from spanwise import AWE, HoldOut, PlainEnsemble, Prequential, checks
from spanwise.core.loop import Loop
from spanwise.core.spans import Span
from spanwise.deep import CORAL, EWC, IRM, SGD, SI, Adam, AdamW, Stacking, StepDecay, TorchLearner
from spanwise.engines import memory, stacked
from spanwise.engines.stacked import Stack
from spanwise.errors import LearnerError, SettingError

CPU = torch.device("cpu")
LEARNERS = {
    "FT": {},
    "SI": {"penalty": SI()},
    "SI, Wild-Time": {"penalty": SI(wildtime=True)},
    "EWC": {"penalty": EWC(decay=0.9)},
    "EWC, Wild-Time": {"penalty": EWC(decay=0.9, wildtime=True)},
    "IRM": {"objective": IRM()},
    "IRM, Wild-Time": {"objective": IRM(wildtime=True)},
    "CORAL": {"objective": CORAL()},
    "CORAL, Wild-Time": {"objective": CORAL(wildtime=True)},
}
FIVE = ["FT", "SI", "EWC", "IRM", "CORAL"]
OPTIMIZERS = {"SGD": SGD(lr=0.05, momentum=0.9), "Adam": Adam(lr=0.01), "AdamW": AdamW(lr=0.01)}


def mlp(classes=3):
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, classes))


def normed():
    """No bias before the BatchNorm: its gradient would be rounding noise, which Adam magnifies."""
    return nn.Sequential(nn.Linear(4, 8, bias=False), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))


def dropped():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))


class Branching(nn.Module):
    """Looks at its numbers to decide what to do."""

    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x):
        hidden = self.body(x)
        return self.head(torch.relu(hidden) if hidden.sum() > 0 else torch.tanh(hidden))


class Itemising(Branching):
    def forward(self, x):
        hidden = self.body(x)
        return self.head(torch.relu(hidden) / (1 + abs(hidden.detach().mean().item())))


class Filling(Branching):
    """Writes into room of its own making, which is not as wide as a stack."""

    def forward(self, x):
        room = torch.zeros(len(x), 8, dtype=x.dtype)
        room[:, :4] = self.body(x)[:, :4]
        return self.head(room)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.LSTM(2, 8, batch_first=True), nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.body(x.reshape(len(x), 2, 2))[0][:, -1])


UNSTACKABLE = {"branch": Branching, "item": Itemising, "fill": Filling, "LSTM": Recurrent}


class Words(nn.Module):
    """A bag of words, with a mask for the places that hold none."""

    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(20, 6), nn.Linear(6, 3)

    def forward(self, ids, mask):
        seen = mask[..., None].to(self.table.weight.dtype)
        return self.head((self.table(ids) * seen).sum(1) / seen.sum(1).clamp(min=1))


class Counting(nn.Module):
    calls = 0

    def __init__(self):
        super().__init__()
        self.layers = mlp()

    def forward(self, x):
        Counting.calls += 1
        return self.layers(x)


class Starving(nn.Module):
    """Runs out of memory while it is told to."""

    full = False
    answering = False

    def __init__(self):
        super().__init__()
        self.layers = mlp()

    def forward(self, x):
        if Starving.full and (self.training or Starving.answering):
            raise torch.OutOfMemoryError("no room for another tensor")
        return self.layers(x)


def learner(network=mlp, *, stacked=True, **settings):
    torch.manual_seed(0)
    made = {"steps": 2, "batch_size": 8, "precision": "float64", "device": "cpu", **settings}
    return TorchLearner(network(), stacked=stacked, **made)


def rounds(count=10, seed=0, classes=lambda t: 3):
    """Rounds of unequal size, whose concept moves on."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(5, 4)) * 2
    for t in range(1, count + 1):
        y = rng.integers(classes(t), size=5 + 7 * t % 19)
        y[: classes(t)] = np.arange(classes(t))
        yield np.roll(centres, t // 4, axis=0)[y] + rng.normal(size=(len(y), 4)), y


def sentences(count=10, seed=0):
    """Rounds of word numbers, each as long as its longest sentence."""
    rng = np.random.default_rng(seed)
    for t in range(count):
        y, longest = rng.integers(3, size=12 + t), 4 + t % 3
        ids = rng.integers(20, size=(len(y), longest))
        ids[:, 0] = 3 * y + rng.integers(3, size=len(y))
        mask = np.arange(longest) < rng.integers(1, longest + 1, size=(len(y), 1))
        yield {"ids": ids * mask, "mask": mask.astype(int)}, y


def prequential(learner):
    return AWE(learner, evidence=Prequential(), seed=3)


def instances(model):
    return {span: one.instance for span, one in model.method.pool.engine.instances.items()}


def assert_close(got, expected, tolerance, what):
    assert np.isfinite(expected).all(), f"{what} is not finite"
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance, err_msg=what)


def assert_alike(one, two, tolerance=1e-9):
    """Every tensor of every instance, its age, its width and its random numbers."""
    assert list(instances(one)) == list(instances(two))
    for span, mine in instances(one).items():
        other = instances(two)[span]
        assert (mine is None) == (other is None), span
        if mine is None:
            continue
        assert list(mine.tensors) == list(other.tensors)
        for name, tensor in mine.tensors.items():
            assert_close(tensor.numpy(), other.tensors[name].numpy(), tolerance, f"{name} of {span}")
        assert (mine.age, mine.width, mine.random) == (other.age, other.width, other.random)
        assert [len(fold) for fold in mine.history] == [len(fold) for fold in other.history]


def assert_same_run(one, two, batches, tolerance=1e-9):
    for X, y in batches:
        checks.assert_same_report(one.learn(X, y), two.learn(X, y))
        assert_close(one.predict_proba(X), two.predict_proba(X), tolerance, f"predictions after round {one.round - 1}")
    assert_alike(one, two, tolerance)
    assert any(instance is not None for instance in instances(one).values())


@pytest.fixture
def sizes(monkeypatch):
    """How many instances were trained together, call by call."""
    seen, vmap = [], torch.func.vmap

    def watched(function, **settings):
        joint = vmap(function, **settings)

        def call(state, *rest):
            seen.append(len(state["theta"]))
            return joint(state, *rest)

        return call

    monkeypatch.setattr(stacked, "vmap", watched)
    return seen


# ---- stacked equals loop


@pytest.mark.parametrize(("name", "optimizer"), [*product(LEARNERS, ["Adam"]), *product(FIVE, ["SGD", "AdamW"])])
def test_a_stack_equals_the_loop_after_ten_rounds_of_births_and_retirements(name, optimizer, sizes):
    settings = {"optimizer": OPTIMIZERS[optimizer], **LEARNERS[name]}
    models = [prequential(learner(stacked=how, **settings)) for how in (True, False)]
    assert_same_run(*models, rounds())
    assert models[0].method.pool.spans != [Span(t) for t in range(1, 12)], "nobody has retired"
    assert max(sizes) == 7, "all seven instances of round 10 should have been trained together"


@pytest.mark.parametrize(("name", "optimizer"), [("FT", "SGD"), ("FT", "AdamW"), *((name, "Adam") for name in FIVE)])
def test_the_buffers_of_a_batchnorm_are_those_of_the_loop(name, optimizer):
    settings = {"optimizer": OPTIMIZERS[optimizer], **LEARNERS[name]}
    models = [prequential(learner(normed, stacked=how, **settings)) for how in (True, False)]
    assert_same_run(*models, rounds())
    first = instances(models[0])[Span(1)].tensors
    assert first["buffer.1.num_batches_tracked"] == 10 * 2
    assert (first["buffer.1.running_var"] != 1).all()


@pytest.mark.parametrize("name", [*FIVE, "CORAL, Wild-Time"])
def test_a_stack_equals_the_loop_when_classes_appear_late(name, sizes):
    """Two outputs; a third class from round 4, a fifth in round 7; then fewer, so that heads of unequal width meet."""
    count = {1: 2, 2: 2, 3: 2, 7: 5, 8: 2}
    models = [prequential(learner(lambda: mlp(2), stacked=how, **LEARNERS[name])) for how in (True, False)]
    assert_same_run(*models, rounds(9, classes=lambda t: count.get(t, 3)))
    widths = {instance.width for instance in instances(models[0]).values() if instance is not None}
    assert widths == {3, 5}, "heads of unequal width should have met in a stack"
    assert max(sizes) == 7


@pytest.mark.parametrize("name", ["FT", "EWC", "IRM"])
def test_copies_of_a_start_are_slots_like_any_other(name, sizes):
    models = [PlainEnsemble(learner(stacked=how, **LEARNERS[name]), copies=4, seed=3) for how in (True, False)]
    assert_same_run(*models, rounds(4))
    assert max(sizes) == 4
    weights = [instance.tensors["theta"] for instance in instances(models[0]).values()]
    assert not any(torch.equal(weights[0], other) for other in weights[1:]), "copies differ by their seed"


@pytest.mark.parametrize("name", ["FT", "IRM"])
def test_a_stack_equals_the_loop_on_word_numbers_of_unequal_length(name):
    models = [prequential(learner(Words, stacked=how, **LEARNERS[name])) for how in (True, False)]
    assert_same_run(*models, sentences(7))


def test_a_stack_equals_the_loop_in_the_literal_pool(sizes):
    models = [AWE(learner(stacked=how), horizon=10, literal=True, seed=3) for how in (True, False)]
    assert_same_run(*models, rounds())
    assert max(sizes) > 7


def test_hold_out_folds_are_scored_again_through_the_stack():
    models = [AWE(learner(stacked=how), evidence=HoldOut(0.3), seed=3) for how in (True, False)]
    assert_same_run(*models, rounds())


def test_a_stack_equals_the_loop_with_clipping_weight_decay_and_a_schedule_by_age():
    optimizer = SGD(lr=0.2, momentum=0.9, nesterov=True, weight_decay=0.1, clip=0.1, schedule=StepDecay(0.5, every=2))
    models = [prequential(learner(stacked=how, optimizer=optimizer)) for how in (True, False)]
    assert_same_run(*models, rounds())


@pytest.mark.parametrize("name", ["FT", "EWC", "CORAL"])
def test_a_stack_equals_learners_that_know_nothing_of_each_other(name):
    """The engine of the library's core, which calls `learn` and `logits` of one instance at a time."""
    made = learner(**LEARNERS[name])
    engines = made.engine(), Loop(made)
    spans = [Span(start) for start in range(1, 6)]
    for t, (X, y) in enumerate(rounds(5), start=1):
        for engine in engines:
            engine.start(spans[t - 1], seed=t)
            engine.learn(spans[:t], X, y)
        for mine, other in zip(*(engine.logits(spans[:t], X) for engine in engines), strict=True):
            assert_close(mine, other, 1e-9, f"logits in round {t}")


@pytest.mark.parametrize("evidence", [Prequential(), HoldOut(0.3)], ids=["prequential", "hold-out"])
def test_a_round_runs_the_network_once_a_step_and_once_a_scoring_however_many_instances_there_are(evidence):
    model, batches = AWE(learner(Counting, steps=20), evidence=evidence), list(rounds())
    for X, y in batches[:9]:
        model.learn(X, y)
    Counting.calls = 0
    model.learn(*batches[9])
    assert len(model.method.pool.spans) == 7
    assert Counting.calls < 40, "20 steps one after another for seven instances: they were not trained together"
    assert Counting.calls <= 24, f"{Counting.calls - 20} passes for scores: instances were asked one by one"


# ---- dropout


def run_through(model, batches):
    reports = [model.learn(X, y) for X, y in batches]
    return reports, {span: one for span, one in instances(model).items() if one is not None}


def assert_same_bits(one, two):
    for mine, other in zip(one[0], two[0], strict=True):
        checks.assert_same_report(mine, other)
    for span, mine in one[1].items():
        assert all(torch.equal(value, two[1][span].tensors[name]) for name, value in mine.tensors.items()), span


@pytest.mark.parametrize("how", [True, False], ids=["stacked", "loop"])
def test_with_dropout_a_seed_repeats_a_run_bit_for_bit(how):
    runs = [run_through(prequential(learner(dropped, stacked=how)), rounds(7)) for _ in range(2)]
    assert_same_bits(*runs)


@pytest.mark.parametrize("how", [True, False], ids=["stacked", "loop"])
def test_with_dropout_a_seed_repeats_a_run_of_the_same_learner(how):
    """What a learner found out about its network in the first run must not change the second."""
    made = learner(dropped, stacked=how)
    assert_same_bits(*(run_through(prequential(made), rounds(7)) for _ in range(2)))


@pytest.mark.parametrize("how", [True, False], ids=["stacked", "loop"])
def test_with_dropout_a_loaded_model_goes_on_bit_for_bit(how, tmp_path):
    model, batches = prequential(learner(dropped, stacked=how)), list(rounds(7))
    run_through(model, batches[:4])
    model.save(tmp_path)
    again = AWE.load(tmp_path, learner(dropped, stacked=how))
    assert_same_bits(run_through(again, batches[4:]), run_through(model, batches[4:]))


@pytest.mark.parametrize("how", [True, False], ids=["stacked", "loop"])
@pytest.mark.parametrize("network", [mlp, dropped])
def test_instances_draw_dropout_masks_of_their_own(network, how):
    """From one seed come the same weights and the same mini-batches: only dropout can tell instances apart."""
    made = learner(network, stacked=how)
    twins = [made.fresh(5) for _ in range(4)]
    made.learn_together(twins, *next(rounds()), names="abcd")
    weights = [twin.instance.tensors["theta"] for twin in twins]
    same = [torch.allclose(weights[i], weights[j], atol=1e-12) for i in range(4) for j in range(i)]
    assert not any(same) if network is dropped else all(same)


def test_with_dropout_a_stack_and_the_loop_are_equal_in_distribution():
    """The same weights and mini-batches, other masks: what the masks do must be the same on average and in spread."""
    X, y = next(rounds())
    made = [learner(dropped, stacked=how, steps=3, optimizer=SGD(lr=0.2)) for how in (True, False)]
    loss = nn.CrossEntropyLoss()
    found = []
    for seed in range(40):
        pools = [[one.fresh(seed * 4 + copy) for copy in range(4)] for one in made]
        for one, pool in zip(made, pools, strict=True):
            one.learn_together(pool, X, y, names="abcd")
        logits = [one.logits_together(pool, X) for one, pool in zip(made, pools, strict=True)]
        found.append([[float(loss(torch.from_numpy(each), torch.from_numpy(y))) for each in side] for side in logits])
    losses = np.array(found)  # (seeds, stack or loop, copies)
    apart = (losses[:, 0] - losses[:, 1]).ravel()
    assert apart.std() > 0.001, "dropout has done nothing"
    assert abs(apart.mean()) < 4 * apart.std() / np.sqrt(apart.size)
    assert 0.75 < losses[:, 0].std() / losses[:, 1].std() < 1.33


# ---- networks that cannot be stacked


@pytest.mark.parametrize(
    ("network", "name"), [*((network, "FT") for network in UNSTACKABLE), *(("branch", name) for name in FIVE[1:])]
)
def test_a_network_that_cannot_be_stacked_runs_one_after_another_and_the_log_says_why(network, name, caplog):
    caplog.set_level(logging.WARNING, "spanwise")
    made = [learner(UNSTACKABLE[network], stacked=how, **LEARNERS[name]) for how in (True, False)]
    assert_same_run(*(PlainEnsemble(one, copies=3) for one in made), rounds(3), tolerance=1e-12)
    assert_same_run(*(prequential(one) for one in made), rounds(3), tolerance=1e-12)
    told = [record.getMessage() for record in caplog.records if record.name == "spanwise"]
    assert told, "the log is silent"
    assert all("cannot be stacked" in line and "Error: " in line for line in told), told
    caplog.clear()
    run_through(prequential(made[0]), rounds(3))
    assert not caplog.records, "it is said once, not once a round"


@pytest.mark.parametrize("name", ["FT", "SI", "IRM", "CORAL"])
def test_without_stacking_nothing_is_vectorised(name, monkeypatch):
    def never(*_, **__):
        raise AssertionError("stacked=False, and many were run at once")

    monkeypatch.setattr(stacked, "vmap", lambda *_, **__: never)
    model = prequential(learner(stacked=False, **LEARNERS[name]))
    for X, y in rounds(5):
        model.learn(X, y)
        model.predict(X)


def test_a_network_that_can_be_stacked_leaves_the_log_empty(caplog):
    caplog.set_level(logging.DEBUG, "spanwise")
    run_through(prequential(learner()), rounds(4))
    assert not [record for record in caplog.records if record.name == "spanwise"]


# ---- memory


def test_the_less_memory_there_is_the_smaller_the_chunks_and_the_results_are_the_same(monkeypatch, sizes):
    whole, batches = prequential(learner()), list(rounds(8))
    run_through(whole, batches)
    largest = []
    for room in (1, 3e4, 6e4, 1e5, 1e9):
        monkeypatch.setattr(memory, "available", lambda device, room=room: int(room))
        sizes.clear()
        model = prequential(learner())
        run_through(model, batches)
        assert_alike(model, whole)
        largest.append(max(sizes, default=1))
    assert largest == sorted(largest)
    assert largest[0] == 1, "nothing fits, and a stack of two was made"
    assert any(1 < size < 6 for size in largest), f"the pool of six was never split: {largest}"
    assert largest[-1] == 6


def test_the_share_of_memory_that_a_stack_may_take_can_be_set(monkeypatch, sizes):
    monkeypatch.setattr(memory, "available", lambda device: 200_000)
    run_through(prequential(learner(stacked=Stacking(memory=1.0))), rounds(8))
    assert max(sizes) > 2
    sizes.clear()
    run_through(prequential(learner(stacked=Stacking(memory=0.01))), rounds(8))
    assert max(sizes, default=1) == 1


def starve(monkeypatch, most, calls=lambda: True):
    """Stacks of more than `most` instances run out of memory, when `calls` says so."""
    vmap, tried = torch.func.vmap, []

    def tight(function, **settings):
        joint = vmap(function, **settings)

        def call(state, *rest):
            if len(state["theta"]) > most and calls():
                tried.append(len(state["theta"]))
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
            return joint(state, *rest)

        return call

    monkeypatch.setattr(stacked, "vmap", tight)
    return tried


@pytest.mark.parametrize(("name", "most"), [("FT", 1), ("FT", 2), ("FT", 3), ("EWC", 2), ("CORAL", 2)])
def test_out_of_memory_halves_the_chunk_and_goes_on(name, most, monkeypatch, caplog):
    whole = prequential(learner(**LEARNERS[name]))
    run_through(whole, rounds(8))
    tried = starve(monkeypatch, most)
    caplog.set_level(logging.WARNING, "spanwise")
    model = prequential(learner(**LEARNERS[name]))
    run_through(model, rounds(8))
    assert_alike(model, whole)
    if most > 1:
        assert "did not fit into the memory of cpu" in caplog.text
    assert len(tried) <= 3 * (1 + name.count("EWC")), f"stacks that are too large are tried over and over: {tried}"


def test_a_stack_is_halved_until_it_fits_and_the_log_says_so(monkeypatch, caplog):
    tried = starve(monkeypatch, 3)
    PlainEnsemble(learner(), copies=8).learn(*next(rounds()))
    assert tried == [8, 4]
    told = [record.getMessage() for record in caplog.records if record.name == "spanwise"]
    assert [line.split(" did")[0] for line in told] == ["a stack of 8", "a stack of 4"]
    assert told[1].endswith("going on with 2")


def test_out_of_memory_in_the_middle_of_a_round_halves_the_chunk_and_goes_on(monkeypatch):
    whole = prequential(learner(steps=9))
    run_through(whole, rounds(8))
    countdown = iter(range(100))
    starve(monkeypatch, 3, lambda: next(countdown) == 5)
    model = prequential(learner(steps=9))
    run_through(model, rounds(8))
    assert next(countdown) > 5, "memory never ran out"
    assert_alike(model, whole)


@pytest.mark.parametrize("how", [True, False], ids=["stacked", "loop"])
@pytest.mark.parametrize("before", [0, 4])
def test_when_one_network_alone_does_not_fit_nothing_changes_and_the_round_can_be_tried_again(before, how, monkeypatch):
    batches = list(rounds(6))
    model, twin = prequential(learner(Starving, stacked=how)), prequential(learner(Starving, stacked=how))
    for X, y in batches[:before]:
        model.learn(X, y)
        twin.learn(X, y)
    monkeypatch.setattr(Starving, "full", True)
    with pytest.raises(LearnerError, match=r"does not fit into the memory of cpu: .*batch_size"):
        model.learn(*batches[before])
    monkeypatch.setattr(Starving, "full", False)
    assert_same_run(model, twin, batches[before:], tolerance=1e-12)


@pytest.mark.parametrize("copies", [1, 3])
def test_out_of_memory_while_answering_says_so_and_can_be_tried_again(copies, monkeypatch):
    model = PlainEnsemble(learner(Starving), copies=copies)
    X, y = next(rounds())
    model.learn(X, y)
    expected = model.predict_proba(X)
    monkeypatch.setattr(Starving, "full", True)
    monkeypatch.setattr(Starving, "answering", True)
    with pytest.raises(LearnerError, match="does not fit into the memory of cpu"):
        model.predict(X)
    monkeypatch.setattr(Starving, "full", False)
    assert_close(model.predict_proba(X), expected, 1e-12, "predictions")


def test_out_of_memory_while_answering_halves_the_chunk_and_goes_on(monkeypatch):
    whole, X = PlainEnsemble(learner(), copies=6), next(rounds())[0]
    run_through(whole, rounds(2))
    starve(monkeypatch, 2)
    model = PlainEnsemble(learner(), copies=6)
    run_through(model, rounds(2))
    assert_close(model.predict_proba(X), whole.predict_proba(X), 1e-9, "predictions")


def test_settings_of_a_stack_that_make_no_sense_are_refused():
    with pytest.raises(SettingError, match="slots=0"):
        Stacking(slots=0)
    for share in (0, 1.5, -0.1):
        with pytest.raises(SettingError, match=f"memory={share}"):
            Stacking(memory=share)


# ---- the stack by itself


def added(state, batch):
    """The state moves by the mean of its mini-batch."""
    return {**state, "theta": state["theta"] + batch["x"].mean(0)}


def by_hand(states, data, plans):
    return [
        state["theta"] + sum(data["x"][rows].mean(0) for rows in plan["rows"])
        for state, plan in zip(states, plans, strict=True)
    ]


@pytest.mark.parametrize("how", [True, False, Stacking(memory=0.5)], ids=["stacked", "loop", "settings"])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_each_state_takes_the_rows_of_its_own_plan(k, how):
    data = {"x": torch.arange(12, dtype=torch.float64).reshape(6, 2)}
    states = [{"theta": torch.full((2,), float(i), dtype=torch.float64)} for i in range(k)]
    plans = [{"rows": torch.tensor([[i, (i + 1) % 6], [5 - i, 5 - i]])} for i in range(k)]
    got = Stack(CPU, how).train(added, states, data, plans)
    for mine, expected in zip(got, by_hand(states, data, plans), strict=True):
        assert_close(mine["theta"].numpy(), expected.numpy(), 1e-12, "theta")
    assert [float(state["theta"][0]) for state in states] == list(range(k)), "a state was changed in place"


@pytest.mark.parametrize("how", [True, False], ids=["stacked", "loop"])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_every_state_answers_every_row(k, how):
    states = [{"theta": torch.full((2,), float(i))} for i in range(k)]
    rows = {"x": torch.ones(3, 2)}
    got = Stack(CPU, how).score(lambda state, rows: rows["x"] * state["theta"], states, rows)
    assert got.shape == (k, 3, 2)
    assert all((got[i] == i).all() for i in range(k))


def test_a_learner_that_nobody_needs_any_more_is_let_go_of():
    made = learner()
    run_through(prequential(made), rounds(3))
    seen = weakref.ref(made.trainer)
    del made
    gc.collect()
    assert seen() is None, "something holds on to the networks of a learner that is gone"


def test_threads_that_ask_at_once_are_each_answered_by_their_own_instance():
    """All instances run through one module: one thread must not find the weights of another in it."""
    interval = sys.getswitchinterval()
    X, made = next(rounds())[0], learner()
    ones = [made.fresh(seed) for seed in range(2)]
    for one in ones:
        one.learn(*next(rounds()))
    expected = [one.logits(X) for one in ones]

    def ask(i):
        return sum(not np.array_equal(ones[i].logits(X), expected[i]) for _ in range(200))

    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(2) as threads:
            assert list(threads.map(ask, range(2))) == [0, 0], "of 200 answers, so many were wrong"
    finally:
        sys.setswitchinterval(interval)


def test_predicting_while_another_thread_learns_sees_only_whole_rounds():
    X = next(rounds())[0]
    model, twin = (AWE(learner(), evidence=Prequential(), classes=[0, 1, 2]) for _ in range(2))
    whole, (first, *others) = set(), list(rounds(6))
    for batch in (first, *others):
        twin.learn(*batch)
        whole.add(twin.predict_proba(X).tobytes())
    model.learn(*first)
    done = Event()

    def predict():
        seen = set()
        while not done.is_set():
            seen.add(model.predict_proba(X).tobytes())
        return seen

    with ThreadPoolExecutor(1) as threads:
        seen = threads.submit(predict)
        try:
            for batch in others:
                model.learn(*batch)
        finally:
            done.set()
        assert seen.result(10) <= whole


def test_what_a_seed_gives_does_not_depend_on_other_threads():
    """torch has one generator for the whole process, which both sides seed."""
    X, made, other, done = next(rounds())[0], learner(), learner(), Event()
    expected = made.fresh(3).logits(X)

    def begin_others():
        while not done.is_set():
            other.fresh(9).logits(X)

    with ThreadPoolExecutor(1) as threads:
        threads.submit(begin_others)
        try:
            right = [np.array_equal(made.fresh(3).logits(X), expected) for _ in range(200)]
        finally:
            done.set()
    assert all(right), f"{right.count(False)} of {len(right)} instances started from weights of another seed"
