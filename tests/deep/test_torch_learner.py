"""What a `TorchLearner` promises: where it starts, what it carries on and saves, what rows it takes."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import torch
from torch import nn
from torch.nn import functional as F

from spanwise import AWE, PlainEnsemble, Prequential, checks
from spanwise.core.spans import Span
from spanwise.deep import CORAL, EWC, IRM, SGD, SI, Adam, AdamW, StepDecay, TorchLearner
from spanwise.errors import FeatureError, LearnerError, SettingError, SnapshotError

LEARNERS = {
    "FT": {},
    "SI": {"penalty": SI()},
    "EWC": {"penalty": EWC()},
    "IRM": {"objective": IRM(strength=0.1)},
    "CORAL": {"objective": CORAL(strength=0.1)},
}
BATCHES = list(checks.toy_batches(12))
X, Y = BATCHES[0]


def lazy():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return nn.Sequential(nn.LazyLinear(8), nn.ReLU(), nn.LazyLinear(2))


def mlp(classes=3, hidden=8):
    return nn.Sequential(nn.Linear(4, hidden), nn.ReLU(), nn.Linear(hidden, classes))


def noisy():
    """Everything that draws random numbers or changes buffers."""
    return nn.Sequential(nn.Linear(4, 8, bias=False), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 3))


def seeded(network):
    torch.manual_seed(0)
    return network()


def learner(network=None, **settings):
    made = {"steps": 2, "batch_size": 8, "precision": "float64", "device": "cpu", **settings}
    return TorchLearner(seeded(mlp) if network is None else network, **made)


def instance(one):
    """What it has learned; of an untrained one, what it starts from."""
    return one.begun(one.trainer.inputs(X))


def weights(one):
    """By name."""
    now = instance(one)
    return one.trainer.network.layout(now.width).weights(now.tensors["theta"])


def buffers(one):
    return {name: value for name, value in instance(one).tensors.items() if name.startswith("buffer.")}


def same(one, two):
    return set(one) == set(two) and all(torch.equal(value, two[name]) for name, value in one.items())


def trained(one, rounds=3, seed=1):
    made = one.fresh(seed)
    for batch in BATCHES[:rounds]:
        made.learn(*batch)
    return made


# ---- the laws of every learner


@pytest.mark.parametrize("check", checks.LEARNER, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", LEARNERS)
def test_every_deep_learner_made_by_a_function_is_a_learner(name, check):
    check(learner(lazy, optimizer=Adam(lr=0.03), steps=15, batch_size=16, precision="float32", **LEARNERS[name]))


@pytest.mark.parametrize("check", checks.LEARNER, ids=lambda check: check.__name__)
@pytest.mark.parametrize("network", [mlp, noisy])
def test_every_deep_learner_made_of_a_module_is_a_learner(network, check):
    check(learner(seeded(network), optimizer=SGD(lr=0.1, momentum=0.5), steps=15, batch_size=16))


def test_a_module_is_adapted_where_a_learner_is_expected():
    model = AWE(seeded(mlp))
    for batch in BATCHES[:3]:
        model.learn(*batch)
    assert isinstance(model.method.learner, TorchLearner)
    assert set(model.predict(X)) <= {0, 1, 2}


@pytest.mark.parametrize("thing", [nn.Linear, mlp], ids=["a class", "a function"])
def test_what_makes_modules_is_not_taken_for_one(thing):
    with pytest.raises(LearnerError, match="not a learner"):
        AWE(thing)


# ---- where instances start


@pytest.mark.parametrize("network", [mlp, noisy])
def test_fresh_goes_back_to_the_weights_given_and_draws_only_the_head_anew(network):
    module = seeded(network)
    last = list(dict(module.named_parameters()))[-2:]
    for one in (learner(module).fresh(1), trained(learner(module)).fresh(1)):
        for name, value in weights(one).items():
            given = module.get_parameter(name).detach().double()
            assert torch.equal(value, given) == (name not in last), name
        assert all(
            torch.equal(value, module.get_buffer(name.removeprefix("buffer.")).to(value.dtype))
            for name, value in buffers(one).items()
        )


def test_the_seed_draws_the_head_and_nothing_else():
    made = learner()
    one, same_seed, other = (weights(made.fresh(seed)) for seed in (1, 1, 2))
    assert same(one, same_seed)
    assert {name for name in one if not torch.equal(one[name], other[name])} == {"2.weight", "2.bias"}
    assert all(value.abs().max() <= 1 / np.sqrt(8) for value in (one["2.weight"], one["2.bias"]))


class TwoWays(nn.Module):
    """Its logits do not come from its last linear layer."""

    def __init__(self):
        super().__init__()
        self.body, self.logits, self.extra = nn.Linear(4, 8), nn.Linear(8, 3), nn.Linear(8, 8)

    def forward(self, x):
        hidden = torch.relu(self.body(x))
        return self.logits(hidden + torch.tanh(self.extra(hidden)))


def test_a_head_that_is_named_is_the_one_drawn_anew():
    made = learner(seeded(TwoWays), head="logits")
    one, other = weights(made.fresh(1)), weights(made.fresh(2))
    assert {name for name in one if not torch.equal(one[name], other[name])} == {"logits.weight", "logits.bias"}


def test_a_head_that_is_not_there_is_refused_with_those_that_are():
    for network in (mlp, seeded(mlp)):
        with pytest.raises(SettingError, match=r"head='top'.*there are: '0', '2'"):
            learner(network, head="top").fresh(1).learn(X, Y)


def test_a_function_is_called_for_every_instance_under_its_seed():
    made = learner(noisy)
    for seed in (1, 2):
        torch.manual_seed(seed)
        expected = {name: value.detach().double() for name, value in noisy().named_parameters()}
        assert same(weights(made.fresh(seed)), expected)


def test_weights_that_a_function_freezes_do_not_depend_on_which_instance_came_first():
    """Constants are shared by all instances, so they cannot be those of whoever happened to be asked first."""

    def frozen():
        return nn.Sequential(nn.Linear(4, 8).requires_grad_(False), nn.ReLU(), nn.Linear(8, 3))

    alone, second = learner(frozen), learner(frozen)
    second.fresh(1).logits(X)
    assert np.array_equal(alone.fresh(2).logits(X), second.fresh(2).logits(X))


def test_a_model_of_frozen_random_weights_goes_on_the_same_after_loading(tmp_path):
    def frozen():
        return nn.Sequential(nn.Linear(4, 8).requires_grad_(False), nn.ReLU(), nn.Linear(8, 3))

    model = AWE(learner(frozen), evidence=Prequential())
    for batch in BATCHES[:4]:
        model.learn(*batch)
    model.save(tmp_path)
    again = AWE.load(tmp_path, learner(frozen))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("network", [seeded(noisy), noisy], ids=["module", "function"])
def test_no_generator_but_its_own_is_touched(network):
    made = learner(network)
    torch.manual_seed(7)
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    one = trained(made)
    one.logits(X)
    one.fresh(3).logits(X)
    model = AWE(made, evidence=Prequential())
    for batch in BATCHES[:3]:
        model.learn(*batch)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002


@pytest.mark.parametrize("training", [True, False])
def test_the_module_of_the_user_is_never_changed(training):
    module = seeded(noisy).train(training)
    before = copy.deepcopy(module.state_dict())
    trained(learner(module)).logits(X)
    trained(learner(module, precision="bf16")).logits(X)
    assert same(module.state_dict(), before)
    assert module.training == training
    assert all(weight.grad is None and weight.dtype == torch.float32 for weight in module.parameters())


@pytest.mark.parametrize("name", LEARNERS)
def test_learning_makes_new_tensors_and_leaves_the_old_ones_alone(name):
    """So a copy costs nothing, and a failed round has nothing to undo."""
    one = trained(learner(seeded(noisy), **LEARNERS[name]))
    old = one.instance
    before = {name: value.clone() for name, value in old.tensors.items()}
    one.copy().learn(*BATCHES[5])
    one.learn(*BATCHES[4])
    assert same(old.tensors, before)
    assert one.instance is not old


# ---- what is carried on


def test_what_the_optimiser_remembers_is_carried_from_round_to_round():
    one = trained(learner(optimizer=Adam()), rounds=3)
    assert instance(one).tensors["steps"] == 3 * 2
    forgetful = one.copy()
    forgetful.instance = copy.copy(one.instance)
    zeros = {name: torch.zeros_like(one.instance.tensors[name]) for name in ("mean", "square", "steps")}
    object.__setattr__(forgetful.instance, "tensors", {**one.instance.tensors, **zeros})
    for each in (one, forgetful):
        each.learn(*BATCHES[3])
    assert not np.allclose(one.logits(X), forgetful.logits(X))


@pytest.mark.parametrize("how", [True, False], ids=["stacked", "loop"])
def test_the_learning_rate_follows_the_age_of_each_instance(how):
    """From its third round on an instance stands still, whenever it was started."""
    made = learner(optimizer=SGD(lr=0.1, schedule=lambda age: float(age < 2)), stacked=how)
    engine, spans = made.engine(), [Span(start) for start in range(1, 6)]
    for t, batch in enumerate(BATCHES[:5], start=1):
        engine.start(spans[t - 1], seed=t)
        before = {span: weights(engine.instances[span]) for span in spans[:t]}
        engine.learn(spans[:t], *batch)
        still = [same(weights(engine.instances[span]), before[span]) for span in spans[:t]]
        assert still == [t - span.start >= 2 for span in spans[:t]]


def test_a_step_decay_multiplies_the_rate_at_every_step_of_age():
    """One step of plain gradient descent a round, all rows alike: the way is the rate times the gradient."""
    one = learner(nn.Linear(4, 3), optimizer=SGD(lr=0.1, schedule=StepDecay(0.5, every=1)), steps=1).fresh(1)
    row, label = X[:1], Y[:1]
    for age in range(3):
        before = weights(one)
        layer = nn.Linear(4, 3).double()
        layer.load_state_dict(before)
        F.cross_entropy(layer(torch.tensor(row)), torch.tensor(label)).backward()
        one.learn(row, label)
        expected = before["weight"] - 0.1 * 0.5**age * layer.weight.grad
        assert torch.allclose(weights(one)["weight"], expected, atol=1e-12)


def test_weights_that_want_no_gradient_stay():
    """A frozen identity in front changes nothing, so it must have stayed one."""
    identity = nn.Linear(4, 4).requires_grad_(False)
    with torch.no_grad():
        identity.weight.copy_(torch.eye(4))
        identity.bias.zero_()
    behind = trained(learner(nn.Sequential(identity, nn.Linear(4, 3)), optimizer=AdamW(weight_decay=0.5)))
    plain = trained(learner(nn.Linear(4, 3), optimizer=AdamW(weight_decay=0.5)))
    assert np.allclose(behind.logits(X), plain.logits(X), atol=1e-12)
    assert set(weights(behind)) == {"1.weight", "1.bias"}


class Tied(nn.Module):
    """One matrix under two names."""

    def __init__(self):
        super().__init__()
        self.one, self.two, self.head = (nn.Linear(4, 4, bias=False) for _ in range(3))
        self.head = nn.Linear(4, 3)
        self.two.weight = self.one.weight

    def forward(self, x):
        return self.head(torch.tanh(self.two(torch.tanh(self.one(x)))))


class OnceNamed(nn.Module):
    """The same computation with the matrix under one name."""

    def __init__(self, tied):
        super().__init__()
        self.one, self.head = copy.deepcopy(tied.one), copy.deepcopy(tied.head)

    def forward(self, x):
        return self.head(torch.tanh(F.linear(torch.tanh(self.one(x)), self.one.weight)))


@pytest.mark.parametrize("name", LEARNERS)
def test_tied_weights_are_trained_as_one(name):
    tied = seeded(Tied)
    models = [PlainEnsemble(learner(network, **LEARNERS[name]), copies=2) for network in (tied, OnceNamed(tied))]
    for batch in BATCHES[:3]:
        for model in models:
            model.learn(*batch)
    assert np.allclose(models[0].predict_proba(X), models[1].predict_proba(X), atol=1e-12)


# ---- copies and snapshots


def run(model, batches):
    return [model.learn(*batch) for batch in batches]


def assert_goes_on_the_same(again, model, batches):
    for mine, other in zip(run(again, batches), run(model, batches), strict=True):
        checks.assert_same_report(mine, other)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    for span, one in model.method.pool.engine.instances.items():
        if one.instance is not None:
            assert same(again.method.pool.engine.instances[span].instance.tensors, one.instance.tensors)


@pytest.mark.parametrize("network", [seeded(mlp), lazy], ids=["module", "function"])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_model_that_was_saved_goes_on_bit_for_bit(name, network, tmp_path):
    """Loaded into a learner that has never seen a row, as in another process; rounds that IRM and CORAL keep too."""
    model = AWE(learner(network, **LEARNERS[name]), evidence=Prequential())
    run(model, BATCHES[:6])
    model.save(tmp_path)
    again = AWE.load(tmp_path, learner(network, **LEARNERS[name]))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert_goes_on_the_same(again, model, BATCHES[6:9])


def test_a_model_saved_with_grown_heads_and_buffers_goes_on_bit_for_bit(tmp_path):
    def narrow():
        return nn.Sequential(nn.Linear(4, 8, bias=False), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))

    model = AWE(learner(seeded(narrow), penalty=SI()), evidence=Prequential())
    run(model, [(X[y < 2], y[y < 2]) for X, y in BATCHES[:3]])
    run(model, BATCHES[3:5])
    model.save(tmp_path)
    assert_goes_on_the_same(AWE.load(tmp_path, learner(seeded(narrow), penalty=SI())), model, BATCHES[5:8])


def test_a_model_that_has_learned_nothing_yet_can_be_saved(tmp_path):
    model = AWE(learner(), evidence=Prequential())
    model.save(tmp_path)
    assert_goes_on_the_same(AWE.load(tmp_path, learner()), model, BATCHES[:3])


def pickled(model):
    return pickle.loads(pickle.dumps(model))


OTHERS = {
    "wider": ({"network": seeded(lambda: mlp(hidden=9))}, "another network.*0.bias|another network.*weight"),
    "deeper": (
        {"network": nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))},
        "another network",
    ),
    "optimiser": ({"optimizer": SGD(momentum=0.9)}, "another optimiser or penalty.*speed"),
    "penalty": ({"penalty": SI()}, "another optimiser or penalty.*omega"),
    "buffers": (
        {"network": nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8, affine=False), nn.Linear(8, 3))},
        "another|differ",
    ),
}


@pytest.mark.parametrize(("other", "says"), OTHERS.values(), ids=OTHERS)
def test_a_snapshot_of_another_learner_is_refused_with_what_differs(other, says, tmp_path):
    model = AWE(learner(), evidence=Prequential())
    run(model, BATCHES[:3])
    model.save(tmp_path)
    with pytest.raises(SnapshotError, match=says):
        AWE.load(tmp_path, learner(**other)).learn(*BATCHES[3])
    assert_goes_on_the_same(AWE.load(tmp_path, learner()), model, BATCHES[3:5])


def test_a_snapshot_of_another_precision_is_refused_or_goes_on(tmp_path):
    model = AWE(learner(precision="float32"), evidence=Prequential())
    run(model, BATCHES[:3])
    model.save(tmp_path)
    try:
        again = AWE.load(tmp_path, learner(precision="float64"))
        run(again, BATCHES[3:6])
    except SnapshotError:
        return
    for one in again.method.pool.engine.instances.values():
        assert one.instance is None or one.instance.tensors["theta"].dtype == torch.float64


@pytest.mark.parametrize("name", ["FT", "IRM"])
@pytest.mark.parametrize(
    "twin", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))], ids=["copy", "pickle"]
)
def test_a_model_can_be_copied_and_pickled(twin, name):
    model = AWE(learner(**LEARNERS[name]), evidence=Prequential())
    run(model, BATCHES[:3])
    assert_goes_on_the_same(twin(model), model, BATCHES[3:6])


# ---- rows as users have them


class Columns(nn.Module):
    """Takes named columns."""

    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def forward(self, left, right):
        return self.layers(torch.cat([left, right], -1))


CONTAINERS = {
    "floats": lambda X: X.astype(np.float32),
    "whole numbers": lambda X: X.astype(np.int64),
    "by columns": np.asfortranarray,
    "every other": lambda X: np.repeat(X, 2, axis=0)[::2],
    "read-only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "objects": lambda X: X.astype(object),
    "frame": pd.DataFrame,
    "mixed frame": lambda X: pd.DataFrame({"a": X[:, 0].astype(int), "b": X[:, 1] > 0, "c": X[:, 2], "d": X[:, 3]}),
    "lists": lambda X: X.tolist(),
    "rows": list,
    "tensor": torch.tensor,
    "float tensor": lambda X: torch.tensor(X, dtype=torch.float32),
    "sparse matrix": scipy.sparse.csr_matrix,
    "sparse array": scipy.sparse.csc_array,
    "columns": lambda X: {"left": X[:, :1], "right": X[:, 1:].tolist()},
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_rows_may_come_in_any_container(kind):
    layers = seeded(mlp)
    network = Columns(layers) if kind == "columns" else layers
    made = AWE(learner(network), evidence=Prequential())
    plain = AWE(learner(layers), evidence=Prequential())
    for rows, y in BATCHES[:3]:
        if kind == "mixed frame":
            rows = np.column_stack([rows[:, 0], rows[:, 1] > 0, rows[:, 2:]])
        checks.assert_same_report(made.learn(CONTAINERS[kind](rows), y), plain.learn(rows, y))
        assert np.allclose(made.predict_proba(CONTAINERS[kind](rows)), plain.predict_proba(rows), atol=1e-12)


def test_rows_may_have_more_than_one_axis():
    images = np.random.default_rng(0).normal(size=(24, 1, 6, 6))
    network = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32, 3))
    model = AWE(learner(network), evidence=Prequential())
    for _, y in BATCHES[:3]:
        model.learn(images, y)
    assert model.predict_proba(images).shape == (24, 3)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (["red", "green"], "takes numbers.*encode"),
        ([["1", "x", "2", "3"]] * 2, "takes numbers"),
        (pd.DataFrame({"a": ["red", "green"], "b": [1, 2]}), "takes numbers"),
        ({"left": np.zeros((2, 1)), "right": np.array(["red", "green"])}, "'right'"),
        (np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"), "takes numbers"),
        (np.zeros((2, 4), dtype=complex), "takes numbers"),
    ],
    ids=["words", "mixed", "frame", "column", "dates", "complex"],
)
def test_rows_that_are_no_numbers_are_refused(rows, says):
    model = AWE(learner())
    with pytest.raises(FeatureError, match=says):
        model.learn(rows, [0, 1])
    with pytest.raises(FeatureError, match=says):
        learner().fresh(1).logits(rows)
    run(model, BATCHES[:2])


@pytest.mark.parametrize("name", ["IRM", "CORAL"])
@pytest.mark.parametrize("kind", [np.array, torch.tensor], ids=["array", "tensor"])
def test_rounds_that_are_kept_do_not_change_when_the_caller_reuses_his_array(name, kind):
    made = learner(**LEARNERS[name])
    one, twin = made.fresh(1), made.fresh(1)
    rows, labels = kind(X), Y.copy()
    for batch in BATCHES[:4]:
        rows[:], labels[:] = kind(batch.X), batch.y
        one.learn(rows, labels)
        twin.learn(*batch)
    assert np.array_equal(one.logits(X), twin.logits(X))


class Preparing(nn.Module):
    """Turns words into numbers itself."""

    prepared = 0

    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(10, 4), nn.Linear(4, 3)

    def prepare(self, X):
        Preparing.prepared += 1
        ids = [[int(letter) for letter in word] for word in X]
        longest = max(map(len, ids))
        return {"ids": torch.tensor([row + [0] * (longest - len(row)) for row in ids])}

    def forward(self, ids):
        return self.head(self.table(ids).mean(1))


def words(y):
    rng = np.random.default_rng(len(y))
    return ["".join(map(str, [label, *rng.integers(10, size=rng.integers(1, 5))])) for label in y]


def test_words_are_prepared_once_a_batch_and_not_once_an_instance():
    model = AWE(learner(Preparing, objective=IRM()), evidence=Prequential())
    for _, y in BATCHES[:9]:
        model.learn(words(y), y)
    Preparing.prepared = 0
    model.learn(words(Y), Y)
    assert len(model.method.pool.spans) == 7
    assert Preparing.prepared <= 4, "once to train and a few times to ask"


# ---- precision and settings


@pytest.mark.parametrize("network", [mlp, noisy])
def test_bf16_trains_on_a_cpu(network):
    one = learner(seeded(network), precision="bf16", optimizer=Adam(lr=0.03), steps=30).fresh(1)
    losses = []
    for _ in range(4):
        logits = one.logits(X)
        assert logits.dtype == np.float32
        losses.append(float(F.cross_entropy(torch.tensor(logits), torch.tensor(Y))))
        one.learn(X, Y)
    assert losses[-1] < 0.7 * losses[0]
    assert instance(one).tensors["theta"].dtype == torch.float32


@pytest.mark.parametrize("name", LEARNERS)
def test_bf16_stacks(name):
    model = AWE(learner(precision="bf16", **LEARNERS[name]), evidence=Prequential())
    run(model, BATCHES[:4])
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("precision", ["float32", "tf32", "float64"])
def test_logits_come_in_the_precision_of_the_weights(precision):
    one = trained(learner(precision=precision))
    assert one.logits(X).dtype == (np.float64 if precision == "float64" else np.float32)


@pytest.mark.parametrize(
    "settings",
    [{"steps": 0}, {"batch_size": 0}, {"precision": "half"}, {"device": "nowhere"}],
    ids=lambda settings: next(iter(settings)),
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(SettingError, match=next(iter(settings))):
        learner(**settings)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_a_device_that_is_not_there_is_refused_before_anything_is_learned():
    with pytest.raises(SettingError, match="cuda"):
        learner(device="cuda")
