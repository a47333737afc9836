"""Which layer is the head, what else a network may hold, and what is refused before it can do harm."""

import numpy as np
import pytest
import torch
from torch import nn

from spanwise import AWE, Plain, Prequential, checks
from spanwise.deep import CORAL, EWC, IRM, SI, Adam, TorchLearner
from spanwise.deep.networks.transformer import Transformer
from spanwise.errors import FeatureError, LabelError, LearnerError, SettingError, SnapshotError

(X, Y), *_ = checks.toy_batches(1)


class HeadFirst(nn.Module):
    """Registers its head before its body, and an unused layer last."""

    def __init__(self):
        super().__init__()
        self.classifier = nn.Linear(6, 3)
        self.body = nn.Sequential(nn.Linear(4, 6), nn.ReLU())
        self.unused = nn.Linear(6, 3)

    def forward(self, x):
        return self.classifier(self.body(x))


def learner(network, **settings):
    return TorchLearner(network, **{"steps": 3, "batch_size": 8, "device": "cpu", **settings})


def weights(one):
    layout = one.trainer.network.layout(one.instance.width)
    return layout.weights(one.instance.tensors["theta"])


def test_the_head_is_the_layer_whose_output_is_returned_whatever_was_registered_last():
    network = HeadFirst()
    one, two = learner(network).fresh(0), learner(network).fresh(1)
    one.logits(X), two.logits(X)
    assert torch.equal(weights(one)["body.0.weight"], network.body[0].weight)
    assert not torch.equal(weights(one)["classifier.weight"], network.classifier.weight)
    assert not torch.equal(weights(one)["classifier.weight"], weights(two)["classifier.weight"])


@pytest.mark.parametrize("last", [nn.Softmax(-1), nn.LogSoftmax(-1)], ids=lambda layer: type(layer).__name__)
def test_a_network_that_goes_on_after_its_last_layer_cannot_grow(last, caplog):
    made = learner(nn.Sequential(nn.Linear(4, 2), last)).fresh(0)
    made.learn(X, Y % 2)
    assert "not the output of a linear layer" in caplog.text
    with pytest.raises(LabelError, match="cannot grow"):
        made.learn(X, Y)


def test_one_linear_layer_alone_is_a_network_that_grows():
    made = learner(nn.Linear(4, 2)).fresh(0)
    made.learn(X, Y)
    assert made.logits(X).shape == (len(X), 3)


def test_a_buffer_may_hold_what_is_not_finite():
    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mask", torch.triu(torch.full((4, 4), -torch.inf), 1))
            self.head = nn.Linear(4, 3)

        def forward(self, x):
            return self.head(x @ torch.softmax(self.mask, -1))

    made = learner(Masked()).fresh(0)
    made.learn(X, Y)
    assert made.instance.age == 1
    assert np.isfinite(made.logits(X)).all()


def test_a_buffer_that_is_assigned_rather_than_changed_is_refused():
    class Assigning(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(4))
            self.head = nn.Linear(4, 3)

        def forward(self, x):
            if self.training:
                self.seen = self.seen + x.mean(0)
            return self.head(x)

    with pytest.raises(LearnerError, match=r"buffer 'seen'.*copy_"):
        learner(Assigning()).fresh(0).learn(X, Y)


def tokens(length, n=24, seed=0):
    rng = np.random.default_rng(seed)
    ids = rng.integers(5, 40, (n, length))
    return {"ids": ids, "mask": np.ones_like(ids)}


@pytest.mark.parametrize("objective", [None, IRM(), CORAL()], ids=["ft", "irm", "coral"])
@pytest.mark.parametrize("evidence", [None, Prequential()], ids=["hold-out", "prequential"])
def test_rounds_of_token_ids_may_differ_in_length(objective, evidence):
    model = AWE(learner(Transformer(8, layers=1, heads=2, vocabulary=40), objective=objective), evidence=evidence)
    for t, length in enumerate([5, 7, 3, 7]):
        model.learn(tokens(length, seed=t), Y)
    assert len(model.predict(tokens(4))) == 24


def test_rounds_of_numbers_may_not():
    made = learner(nn.Sequential(nn.Flatten(), nn.LazyLinear(3)), objective=IRM()).fresh(0)
    made.learn(X, Y)
    with pytest.raises((FeatureError, LearnerError), match="shape"):
        made.learn(X[:, :3], Y)


BAD_PARTS = {
    "torch's optimiser": {"optimizer": torch.optim.Adam},
    "a class": {"penalty": SI},
    "torch's loss": {"objective": nn.CrossEntropyLoss()},
    "a number of slots": {"stacked": 20},
}


@pytest.mark.parametrize("settings", BAD_PARTS.values(), ids=BAD_PARTS)
def test_a_part_of_another_library_is_refused_at_once(settings):
    with pytest.raises(SettingError, match=next(iter(settings))):
        learner(nn.Linear(4, 2), **settings)


@pytest.mark.parametrize(
    "make", [lambda: Adam(lr=np.nan), lambda: Adam(betas=(2, 3)), lambda: EWC(strength=-1), lambda: EWC(decay=7)]
)
def test_a_setting_out_of_range_is_refused(make):
    with pytest.raises(SettingError):
        make()


@pytest.mark.parametrize("y", [Y[:5], np.full(len(Y), -1), Y.astype(float)], ids=["too few", "negative", "not whole"])
def test_labels_that_are_no_class_numbers_are_refused(y):
    made = learner(nn.Linear(4, 3)).fresh(0)
    with pytest.raises(LabelError, match="class number"):
        made.learn(X, y)


def test_two_inputs_may_be_named_as_one_likes():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(8, 3)

        def forward(self, a, x):
            return self.head(torch.cat([a, x], 1))

    made = learner(Two()).fresh(0)
    made.learn({"a": X, "x": X}, Y)
    assert made.logits({"a": X, "x": X}).shape == (len(X), 3)


def test_a_snapshot_is_not_loaded_onto_other_weights(tmp_path):
    def frozen(seed):
        torch.manual_seed(seed)
        body = nn.Linear(4, 6).requires_grad_(False)
        return learner(nn.Sequential(body, nn.ReLU(), nn.Linear(6, 3)))

    model = Plain(frozen(0))
    model.learn(X, Y)
    model.save(tmp_path / "model")
    assert np.array_equal(Plain.load(tmp_path / "model", frozen(0)).predict_proba(X), model.predict_proba(X))
    with pytest.raises(SnapshotError, match="other weights"):
        Plain.load(tmp_path / "model", frozen(1)).predict(X)


def test_what_becomes_of_the_users_module_later_does_not_matter():
    network = nn.Linear(4, 3)
    made, twin = learner(network), learner(network)
    before = twin.fresh(0).logits(X)
    with torch.no_grad():
        network.weight.zero_()
    assert np.array_equal(made.fresh(0).logits(X), before)


def test_instances_share_their_rounds_again_after_loading(tmp_path):
    model = AWE(learner(nn.Linear(4, 3), objective=IRM()), evidence=Prequential())
    for batch in checks.toy_batches(6):
        model.learn(*batch)
    model.save(tmp_path / "model")
    again = AWE.load(tmp_path / "model", learner(nn.Linear(4, 3), objective=IRM()))
    again_instances = [one.instance for one in again.method.pool.engine.instances.values() if one.instance]
    instances = [one.instance for one in model.method.pool.engine.instances.values() if one.instance]

    def distinct(all_of):
        return len({id(fold) for one in all_of for fold in one.history})

    assert distinct(again_instances) == distinct(instances)
