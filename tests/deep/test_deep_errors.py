"""What goes wrong with a network is said clearly, changes nothing, and the round can be tried again."""

import numpy as np
import pytest
import torch
from torch import nn

from spanwise import AWE, Plain, PlainEnsemble, Prequential, checks
from spanwise.deep import CORAL, EWC, IRM, SGD, SI, Adam, TorchLearner
from spanwise.errors import BrokenModelError, DataError, FeatureError, LabelError, LearnerError, SpanwiseError

BATCHES = list(checks.toy_batches(10))
X, Y = BATCHES[0]
HOW = {"stacked": True, "loop": False}
LEARNERS = {
    "FT": {},
    "SI": {"penalty": SI()},
    "EWC": {"penalty": EWC()},
    "IRM": {"objective": IRM()},
    "CORAL": {"objective": CORAL()},
}


class Failing(nn.Module):
    """A network of layers that can be told what to do instead of answering, while it trains or asks."""

    trouble = None
    only_training = True

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x):
        logits = self.layers(x)
        if Failing.trouble is None or (Failing.only_training and not self.training):
            return logits
        return Failing.trouble(logits)


def shout(logits):
    raise KeyError("the network shouts")


ODDLY = "rows of shape|the network answered"
TROUBLES = {
    "raises": (shout, "KeyError: 'the network shouts'"),
    "NaN": (lambda logits: logits * torch.nan, "not finite"),
    "infinity": (lambda logits: logits * torch.inf, "not finite"),
    "one axis": (lambda logits: logits[:, 0], ODDLY),
    "a tuple": (lambda logits: (logits, logits), ODDLY),
    "rows lost": (lambda logits: logits[:-1], ODDLY),
    "nothing": (lambda logits: None, ODDLY),
}


def mlp():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))


def failing():
    torch.manual_seed(0)
    return Failing()


def learner(network=None, **settings):
    made = {"steps": 3, "batch_size": 8, "precision": "float64", "device": "cpu", **settings}
    return TorchLearner(mlp() if network is None else network, **made)


def schemes(**settings):
    """A model and its twin, which never sees the failure."""
    network = settings.pop("network", mlp)
    return [AWE(learner(network(), **settings), evidence=Prequential(), seed=3) for _ in range(2)]


def assert_goes_on_as_if_nothing_had_happened(model, twin, batches=BATCHES[4:6]):
    assert model.round == twin.round
    assert model.classes == twin.classes
    assert np.array_equal(model.predict_proba(X), twin.predict_proba(X))
    for batch in batches:
        checks.assert_same_report(model.learn(*batch), twin.learn(*batch))
    ones, others = (m.method.pool.engine.instances for m in (model, twin))
    for span, one in ones.items():
        assert (one.instance is None) == (others[span].instance is None)
        if one.instance is not None:
            assert one.instance.random == others[span].instance.random
            for name, value in one.instance.tensors.items():
                assert torch.allclose(value, others[span].instance.tensors[name], rtol=1e-12, atol=1e-12), (span, name)


def learned(*models, rounds=4):
    for model in models:
        for batch in BATCHES[:rounds]:
            model.learn(*batch)


# ---- a loss that is no number


@pytest.mark.parametrize("how", HOW.values(), ids=HOW)
@pytest.mark.parametrize("name", LEARNERS)
def test_features_that_make_the_loss_explode_fail_the_round_and_the_error_says_what_to_do(name, how):
    model, twin = schemes(stacked=how, optimizer=SGD(lr=0.05), **LEARNERS[name])
    learned(model, twin)
    with pytest.raises(LearnerError, match=r"the instance started at round \d+.*not finite.*lower learning rate.*clip"):
        model.learn(1e150 * X, (Y + 1) % 3)
    assert_goes_on_as_if_nothing_had_happened(model, twin)


@pytest.mark.parametrize("how", HOW.values(), ids=HOW)
def test_a_learning_rate_that_is_too_high_fails_the_first_round_by_the_start_of_its_instance(how):
    model = AWE(learner(optimizer=SGD(lr=1e200), stacked=how), evidence=Prequential())
    with pytest.raises(LearnerError, match=r"the instance started at round 1 .*lower learning rate"):
        model.learn(X, Y)
    assert model.round == 1
    assert model.classes == []


@pytest.mark.parametrize("how", HOW.values(), ids=HOW)
def test_the_error_names_the_one_instance_that_failed(how):
    """Only the instance of round 3 is given weights that overflow."""
    model, _ = schemes(stacked=how)
    learned(model)
    engine = model.method.pool.engine
    next(one for span, one in engine.instances.items() if span.start == 3).instance.tensors["theta"].mul_(1e200)
    with pytest.raises(LearnerError, match="the instance started at round 3 "):
        engine.learn(model.method.pool.spans, X, Y)


def test_a_learner_by_itself_fails_the_same_way():
    one = learner(optimizer=SGD(lr=1.0)).fresh(1)
    one.learn(X, Y)
    before = one.logits(X)
    with pytest.raises(LearnerError, match=r"the network.*not finite"):
        one.learn(1e200 * X, (Y + 1) % 3)
    assert np.array_equal(one.logits(X), before)


@pytest.mark.parametrize(
    "settings",
    [
        {"optimizer": Adam()},
        {"optimizer": SGD(lr=1e-30), "penalty": EWC()},
        {"optimizer": SGD(lr=1e-30), "penalty": SI()},
    ],
    ids=["Adam", "EWC", "SI"],
)
def test_a_round_never_leaves_anything_behind_that_is_not_finite(settings):
    """Weights may still be numbers when what the optimiser or the penalty remembers has overflowed."""
    model, twin = schemes(precision="float32", **settings)
    learned(model, twin)
    try:
        model.learn(1e30 * X, Y)
    except LearnerError:
        assert_goes_on_as_if_nothing_had_happened(model, twin)
        return
    for span, one in model.method.pool.engine.instances.items():
        for name, value in one.instance.tensors.items() if one.instance else ():
            assert torch.isfinite(value).all(), f"{name} of {span} is not finite, and no error was raised"


# ---- networks that fail or answer in another shape


@pytest.mark.parametrize("how", HOW.values(), ids=HOW)
@pytest.mark.parametrize(("trouble", "says"), TROUBLES.values(), ids=TROUBLES)
def test_a_network_that_fails_in_training_changes_nothing(trouble, says, how, monkeypatch):
    model, twin = schemes(network=failing, stacked=how)
    learned(model, twin)
    monkeypatch.setattr(Failing, "trouble", staticmethod(trouble))
    with pytest.raises(LearnerError, match=says):
        model.learn(*BATCHES[4])
    monkeypatch.setattr(Failing, "trouble", None)
    assert_goes_on_as_if_nothing_had_happened(model, twin)


@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("name", [name for name in TROUBLES if name not in ("NaN", "infinity")])
def test_a_network_that_fails_when_asked_says_so(name, copies, monkeypatch):
    trouble, says = TROUBLES[name]
    model = PlainEnsemble(learner(failing()), copies=copies)
    model.learn(X, Y)
    before = model.predict_proba(X)
    monkeypatch.setattr(Failing, "only_training", False)
    monkeypatch.setattr(Failing, "trouble", staticmethod(trouble))
    with pytest.raises(LearnerError, match=says):
        model.predict(X)
    with pytest.raises(LearnerError, match=says):
        model.learn(X, Y)
    monkeypatch.setattr(Failing, "trouble", None)
    assert np.allclose(model.predict_proba(X), before, atol=1e-12)


ODD = {
    "one axis": (lambda x: x.sum(-1), r"shape \(1,\)"),
    "one axis for one row": (lambda x: x.squeeze(0), r"shape \(4,\)"),
    "three axes": (lambda x: x[:, None], r"shape \(1, 1, 4\)"),
    "a number": (lambda x: x.sum(), r"shape \(\)"),
    "a tuple": (lambda x: (x, x), "a tuple"),
    "a dict": (lambda x: {"logits": x}, "a dict"),
    "rows doubled": (lambda x: torch.cat([x, x]), r"shape \(2, 4\)"),
    "nothing": (lambda x: None, "a NoneType"),
}


class Odd(nn.Module):
    def __init__(self, answer):
        super().__init__()
        self.body, self.answer = nn.Linear(4, 4), answer

    def forward(self, x):
        return self.answer(self.body(x))


@pytest.mark.parametrize(("answer", "says"), ODD.values(), ids=ODD)
def test_a_network_whose_output_is_no_logits_is_refused_at_the_first_round(answer, says):
    model = AWE(learner(Odd(answer)))
    with pytest.raises(LearnerError, match=f"{says}.*expected .*logits"):
        model.learn(X, Y)
    assert model.round == 1
    assert model.classes == []


@pytest.mark.parametrize("answer", [lambda x: x.mean(0, keepdim=True), lambda x: x[:1]], ids=["mean", "first"])
def test_a_network_that_answers_one_row_for_many_is_refused(answer):
    """For a single row it looks right."""
    with pytest.raises(LearnerError):
        AWE(learner(Odd(answer))).learn(X, Y)


def test_what_is_no_module_is_refused():
    with pytest.raises(LearnerError, match="made a list, not a module"):
        AWE(learner(lambda: [1, 2])).learn(X, Y)


def test_a_function_that_fails_to_make_a_network_is_named():
    def broken():
        raise OSError("weights.bin cannot be read")

    model = AWE(learner(broken))
    with pytest.raises(LearnerError, match=r"OSError.*weights\.bin"):
        model.learn(X, Y)
    assert model.round == 1


def test_a_function_that_makes_another_shape_the_second_time_is_refused_and_may_mend_its_ways():
    hidden = {"now": 8}

    def fickle():
        return nn.Sequential(nn.Linear(4, hidden["now"]), nn.ReLU(), nn.Linear(hidden["now"], 3))

    model, twin = (AWE(learner(fickle), evidence=Prequential()) for _ in range(2))
    learned(model, twin)
    hidden["now"] = 9
    with pytest.raises(LearnerError, match="another shape than before"):
        model.learn(*BATCHES[4])
    hidden["now"] = 8
    assert_goes_on_as_if_nothing_had_happened(model, twin)


def test_a_network_without_weights_to_train_is_refused():
    frozen = mlp().requires_grad_(False)
    with pytest.raises(SpanwiseError, match="train"):
        AWE(learner(frozen)).learn(X, Y)


# ---- rows and labels


def test_labels_outside_a_head_that_cannot_grow_are_refused():
    """Logits that come from a convolution have no row to add."""
    network = nn.Sequential(nn.Unflatten(1, (4, 1)), nn.Conv1d(4, 3, 1), nn.Flatten())
    torch.manual_seed(0)
    model, twin = (AWE(learner(network), evidence=Prequential()) for _ in range(2))
    learned(model, twin)
    with pytest.raises(LabelError, match=r"label 3 is outside the head.*3 outputs.*cannot grow.*head="):
        model.learn(X, np.where(Y == 0, 9, Y))
    assert_goes_on_as_if_nothing_had_happened(model, twin)


@pytest.mark.parametrize(
    "network",
    [
        lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3).requires_grad_(False)),
        lambda: nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Unflatten(1, (5, 1)), nn.Conv1d(5, 3, 1), nn.Flatten()),
    ],
    ids=["frozen head", "last linear layer is not the last"],
)
def test_only_a_linear_layer_that_gives_the_logits_and_is_trained_can_grow(network):
    torch.manual_seed(0)
    one = learner(network()).fresh(1)
    one.learn(X, Y)
    before = one.logits(X)
    with pytest.raises(LabelError, match="label 3 is outside"):
        one.learn(X, Y + 1)
    assert np.array_equal(one.logits(X), before)


@pytest.mark.parametrize("transactional", [True, False])
def test_rows_of_another_width_are_refused_before_anything_is_trained(transactional):
    """So that even a model without copies stays whole."""
    model, twin = (AWE(learner(), evidence=Prequential(), transactional=transactional) for _ in range(2))
    learned(model, twin)
    for rows in (X[:, :3], np.hstack([X, X]), X[:, 0]):
        with pytest.raises(FeatureError, match="earlier rounds had"):
            model.learn(rows, Y)
        with pytest.raises(FeatureError, match="earlier rounds had"):
            model.predict(rows)
    assert_goes_on_as_if_nothing_had_happened(model, twin)


def test_rows_that_do_not_fit_the_network_are_refused_with_their_shape():
    model = AWE(learner())
    with pytest.raises(LearnerError, match=r"rows of shape.*3"):
        model.learn(X[:, :3], Y)
    with pytest.raises(LearnerError, match=r"rows of shape.*3"):
        learner().fresh(1).logits(X[:, :3])
    model.learn(X, Y)
    assert model.round == 2


@pytest.mark.parametrize("value", [np.nan, np.inf], ids=["NaN", "infinity"])
@pytest.mark.parametrize("transactional", [True, False])
def test_features_that_are_no_numbers_never_reach_the_network(value, transactional):
    model = AWE(learner(), transactional=transactional)
    learned(model)
    holed = X.copy()
    holed[3, 2] = value
    with pytest.raises(FeatureError, match="row 3, column 2"):
        model.learn(holed, Y)
    assert len(model.predict(X)) == len(X)


@pytest.mark.parametrize("labels", [[], [None] * len(X), Y[:5]], ids=["none", "all missing", "too few"])
def test_labels_that_cannot_be_used_change_nothing(labels):
    model, twin = schemes()
    learned(model, twin)
    with pytest.raises(DataError):
        model.learn(X, labels)
    assert_goes_on_as_if_nothing_had_happened(model, twin)


# ---- without copies


@pytest.mark.parametrize("how", HOW.values(), ids=HOW)
def test_without_copies_a_failed_round_marks_the_model_broken_and_a_snapshot_mends_it(how, tmp_path, monkeypatch):
    made = [learner(failing(), stacked=how) for _ in range(2)]
    model, twin = (AWE(one, evidence=Prequential(), transactional=False) for one in made)
    learned(model, twin)
    model.save(tmp_path)
    monkeypatch.setattr(Failing, "trouble", staticmethod(shout))
    with pytest.raises(LearnerError, match="the network shouts"):
        model.learn(*BATCHES[4])
    monkeypatch.setattr(Failing, "trouble", None)
    for work in (lambda: model.learn(*BATCHES[4]), lambda: model.predict(X), lambda: model.save(tmp_path)):
        with pytest.raises(BrokenModelError, match=r"the network shouts.*load"):
            work()
    again = AWE.load(tmp_path, learner(failing(), stacked=how))
    assert_goes_on_as_if_nothing_had_happened(again, twin)


@pytest.mark.parametrize("name", LEARNERS)
def test_without_copies_a_failed_round_leaves_every_instance_as_it_was(name, monkeypatch):
    """All instances or none: training gives new tensors, which are taken over only when every one is good."""
    model = AWE(learner(failing(), **LEARNERS[name]), evidence=Prequential(), transactional=False)
    learned(model)
    engine = model.method.pool.engine
    before = {span: one.instance for span, one in engine.instances.items() if one.instance is not None}
    monkeypatch.setattr(Failing, "trouble", staticmethod(TROUBLES["NaN"][0]))
    with pytest.raises(LearnerError, match="not finite"):
        model.learn(*BATCHES[4])
    assert len(before) == 4
    assert all(engine.instances[span].instance is instance for span, instance in before.items())
    newborn = [one.instance for span, one in engine.instances.items() if span not in before]
    assert all(instance is None or instance.age == 0 for instance in newborn)


@pytest.mark.parametrize("scheme", [Plain, PlainEnsemble, AWE])
def test_failures_again_and_again_leave_no_trace(scheme, monkeypatch):
    model, twin = (scheme(learner(failing(), penalty=SI()), seed=1) for _ in range(2))
    for t, batch in enumerate(BATCHES[:4]):
        for trouble, _ in list(TROUBLES.values())[: t + 1]:
            monkeypatch.setattr(Failing, "trouble", staticmethod(trouble))
            with pytest.raises(LearnerError):
                model.learn(*batch)
        monkeypatch.setattr(Failing, "trouble", None)
        checks.assert_same_report(model.learn(*batch), twin.learn(*batch))
    assert_goes_on_as_if_nothing_had_happened(model, twin)
