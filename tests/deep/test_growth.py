"""A class that comes late gets a row of its own in the head, and nothing of the others is lost."""

import numpy as np
import pytest
import torch
from torch import nn

from spanwise import AWE, PlainEnsemble, Prequential
from spanwise.deep import CORAL, EWC, IRM, SGD, SI, Adam, TorchLearner

LEARNERS = {
    "FT": {},
    "SI": {"penalty": SI()},
    "SI, Wild-Time": {"penalty": SI(wildtime=True)},
    "EWC": {"penalty": EWC()},
    "IRM": {"objective": IRM()},
    "CORAL": {"objective": CORAL()},
}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 4))
OLD = RNG.integers(2, size=20)
NEW = np.where(np.arange(20) % 4, OLD, 4)
"""Labels 0 and 1, then 4 as well: classes 2 and 3 get their rows without having been seen."""


def network(hidden=8, bias=True, classes=2):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, classes, bias=bias))


def learner(net=None, **settings):
    made = {"steps": 3, "batch_size": 8, "precision": "float64", "device": "cpu", **settings}
    return TorchLearner(network() if net is None else net, **made)


def trained(made, rounds=2):
    one = made.fresh(1)
    for _ in range(rounds):
        one.learn(X, OLD)
    return one


def grown(one, classes=5):
    """What it becomes at the moment a class appears, before any step is taken."""
    return one.trainer._with_room_for(one.instance, classes)


def by_name(one, instance, vector="theta"):
    return one.trainer.network.layout(instance.width).weights(instance.tensors[vector])


def old_rows(one, instance, vector="theta"):
    return {
        name: value[:2] if name.startswith("2.") else value for name, value in by_name(one, instance, vector).items()
    }


def new_rows(one, instance, vector="theta"):
    return {name: value[2:] for name, value in by_name(one, instance, vector).items() if name.startswith("2.")}


def same(one, two):
    return set(one) == set(two) and all(torch.equal(value, two[name]) for name, value in one.items())


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("hidden", [2, 3, 8, 13])
def test_at_the_moment_of_growth_old_classes_have_the_logits_they_had(hidden, bias):
    one = trained(learner(network(hidden, bias)))
    before = one.logits(X)
    one.instance = grown(one)
    after = one.logits(X)
    assert after.shape == (20, 5)
    assert np.allclose(after[:, :2], before, rtol=0, atol=1e-14)


@pytest.mark.parametrize("settings", LEARNERS.values(), ids=LEARNERS)
def test_growth_keeps_all_that_is_remembered_of_old_classes_exactly(settings):
    one = trained(learner(optimizer=Adam(amsgrad=True), **settings))
    old, new = one.instance, grown(one)
    vectors = [name for name, value in old.tensors.items() if value.shape == old.tensors["theta"].shape]
    assert {"theta", "mean", "square", "largest"} <= set(vectors)
    for name in vectors:
        assert same(old_rows(one, new, name), by_name(one, old, name)), name
    assert new.tensors["steps"] == old.tensors["steps"]
    assert (new.age, new.width, new.history) == (old.age, 5, old.history)


@pytest.mark.parametrize("settings", LEARNERS.values(), ids=LEARNERS)
def test_of_new_classes_nothing_is_remembered(settings):
    one = trained(learner(**settings))
    new = grown(one)
    for name in set(new.tensors) & {"mean", "square", "omega", "path", "importance", "fisher"}:
        assert all((value == 0).all() for value in new_rows(one, new, name).values()), name


def test_the_rows_of_new_classes_are_drawn_as_for_a_new_layer():
    one = trained(learner(network(hidden=64)))
    rows = new_rows(one, grown(one, classes=40))
    for value in rows.values():
        assert value.abs().max() <= 1 / 8
        assert value.std() > 0.04
    assert abs(rows["2.weight"].mean()) < 0.01
    assert same(rows, new_rows(one, grown(one, classes=40))), "the same random numbers give the same rows"
    other = learner(network(hidden=64)).fresh(2)
    other.learn(X, OLD)
    assert not same(rows, new_rows(other, grown(other, classes=40))), "each instance draws its own"


@pytest.mark.parametrize("penalty", [SI(strength=100.0), EWC(strength=100.0)], ids=["SI", "EWC"])
def test_a_new_class_is_not_pulled_towards_zero(penalty):
    """The anchor grows by the same numbers as the weights, so that growing by itself costs no penalty."""
    one = trained(learner(penalty=penalty))
    new = grown(one)
    assert same(new_rows(one, new, "anchor"), new_rows(one, new))
    assert penalty.penalty(new.tensors["theta"], new.tensors) == penalty.penalty(
        one.instance.tensors["theta"], one.instance.tensors
    )


@pytest.mark.parametrize("hidden", [1, 2, 3, 5, 8])
def test_a_head_of_any_size_grows_class_by_class(hidden):
    """Weights lie at multiples of eight numbers: heads of two widths can take as much room and are not the same."""
    one = learner(network(hidden), optimizer=Adam(lr=0.05), steps=20).fresh(1)
    for classes in range(2, 9):
        one.learn(X, np.arange(20) % classes)
        assert one.logits(X).shape == (20, classes)
        assert one.instance.width == classes


@pytest.mark.parametrize("hidden", [2, 8])
def test_a_stack_of_heads_of_unequal_width_answers_each_in_its_own(hidden):
    made = learner(network(hidden))
    ones = [made.fresh(seed) for seed in range(3)]
    for one, classes in zip(ones, (2, 3, 5), strict=True):
        one.learn(X, np.arange(20) % classes)
    alone = [one.logits(X) for one in ones]
    together = made.logits_together(ones, X)
    assert [logits.shape[1] for logits in together] == [2, 3, 5]
    assert all(np.allclose(mine, other, atol=1e-12) for mine, other in zip(together, alone, strict=True))


@pytest.mark.parametrize("settings", LEARNERS.values(), ids=LEARNERS)
def test_training_beside_a_wider_head_changes_nothing(settings):
    """Columns that only fill the stack take no part in any loss."""
    made = learner(**settings)
    one, wide = trained(made), trained(made)
    wide.learn(X, NEW)
    alone = one.copy()
    alone.learn(X, OLD)
    made.learn_together([one, wide], X, OLD, ["one", "wide"])
    assert one.instance.width == 2
    for name, value in one.instance.tensors.items():
        assert torch.allclose(value, alone.instance.tensors[name], atol=1e-10), name


def test_classes_between_that_were_never_seen_get_rows_too():
    one = trained(learner())
    one.learn(X, NEW)
    assert one.logits(X).shape == (20, 5)
    assert np.isfinite(one.logits(X)).all()


def test_a_late_class_is_learned_and_the_others_are_not_forgotten():
    rng = np.random.default_rng(1)
    centres = np.eye(4)[:3] * 6
    y = np.repeat(np.arange(3), 20)
    rows = centres[y] + rng.normal(size=(60, 4))
    one = learner(optimizer=Adam(lr=0.02), steps=60, batch_size=16).fresh(1)
    one.learn(rows[y < 2], y[y < 2])
    for _ in range(3):
        one.learn(rows, y)
    assert (one.logits(rows).argmax(1) == y).mean() > 0.9


def test_a_network_wider_than_the_classes_known_is_not_narrowed():
    made = learner(network(classes=6), optimizer=SGD(lr=0.1))
    one = trained(made)
    assert one.logits(X).shape == (20, 6)
    model = AWE(made, evidence=Prequential())
    model.learn(X, OLD)
    assert model.predict_proba(X).shape == (20, 2)


def test_every_instance_of_a_pool_grows_by_itself():
    model = PlainEnsemble(learner(), copies=3)
    model.learn(X, OLD)
    model.learn(X, NEW)
    ones = list(model.method.pool.engine.instances.values())
    assert [one.instance.width for one in ones] == [3, 3, 3], "labels are numbered in the order they appear"
    rows = [by_name(one, one.instance)["2.weight"][2] for one in ones]
    assert not any(torch.equal(rows[i], rows[j]) for i in range(3) for j in range(i))


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.logits, self.extra = nn.Linear(4, 8), nn.Linear(8, 2), nn.Linear(8, 8)

    def forward(self, x):
        hidden = torch.tanh(self.body(x))
        return self.logits(hidden + self.extra(hidden))


def test_a_head_that_is_named_is_the_one_that_grows():
    one = trained(learner(Head(), head="logits"))
    before = one.logits(X)
    one.instance = grown(one, classes=4)
    assert np.allclose(one.logits(X)[:, :2], before, rtol=0, atol=1e-14)
    assert by_name(one, one.instance)["logits.weight"].shape == (4, 8)
    one.learn(X, np.arange(20) % 4)
    assert one.logits(X).shape == (20, 4)


class Counted(nn.Module):
    """Keeps a buffer as long as all its weights together."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 2)
        self.register_buffer("memory", torch.arange(16.0))

    def forward(self, x):
        return self.head(x + self.memory.sum() * 0)


def test_buffers_do_not_grow_with_the_head():
    one = trained(learner(Counted()))
    assert one.instance.tensors["theta"].shape == one.instance.tensors["buffer.memory"].shape, "or the test is void"
    one.learn(X, NEW)
    assert torch.equal(one.instance.tensors["buffer.memory"], torch.arange(16.0, dtype=torch.float64))
