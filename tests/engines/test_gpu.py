"""What a CUDA device must do that a CPU cannot show: graphs, compilation, its own random numbers and memory."""

import logging

import numpy as np
import pytest
import torch
from torch import nn

from spanwise import AWE, PlainEnsemble, Prequential, checks
from spanwise.deep import CORAL, EWC, IRM, SGD, SI, Adam, AdamW, Stacking, TorchLearner
from spanwise.deep.networks.cnn import YearbookCNN
from spanwise.deep.networks.transformer import Transformer
from spanwise.engines import stacked
from spanwise.errors import LearnerError

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]
FIVE = {
    "ft": {},
    "si": {"penalty": SI()},
    "ewc": {"penalty": EWC()},
    "irm": {"objective": IRM()},
    "coral": {"objective": CORAL()},
}


def network(dropout=0.0):
    torch.manual_seed(0)
    middle = [nn.Dropout(dropout)] if dropout else []
    return nn.Sequential(nn.Linear(4, 8, bias=False), nn.BatchNorm1d(8), nn.Tanh(), *middle, nn.Linear(8, 2))


def pool_after(learner, rounds=10, scheme=AWE):
    model = scheme(learner, seed=3) if scheme is not AWE else AWE(learner, evidence=Prequential(), seed=3)
    for X, y in checks.toy_batches(rounds, n=40):
        model.learn(X, np.where(y == 2, 2 if model.round > 4 else 0, y))
    return model.method.pool.engine.instances


def assert_same(one, two, tolerance):
    assert set(one) == set(two)
    trained = {span: learner for span, learner in one.items() if learner.instance is not None}
    assert trained
    for span, learner in trained.items():
        for name, tensor in learner.instance.tensors.items():
            other = two[span].instance.tensors[name]
            assert torch.allclose(tensor.cpu().double(), other.cpu().double(), rtol=tolerance, atol=tolerance), (
                span,
                name,
            )


@pytest.mark.parametrize("compile", [False, True], ids=["graphed", "compiled"])
@pytest.mark.parametrize("kind", FIVE)
def test_a_stack_on_the_gpu_is_a_loop_on_the_cpu(kind, compile):
    """Ten rounds with births, retirements and a class that comes late, in float64."""
    settings = {"optimizer": Adam(lr=0.01, clip=1.0), "steps": 4, "batch_size": 8, "precision": "float64", **FIVE[kind]}
    here = TorchLearner(network(), device="cpu", stacked=False, **settings)
    there = TorchLearner(network(), device="cuda", stacked=Stacking(slots=8, compile=compile), **settings)
    assert_same(pool_after(here), pool_after(there), 1e-9)


@pytest.mark.parametrize("optimizer", [SGD(lr=0.05, momentum=0.9), AdamW(lr=0.01)], ids=lambda o: type(o).__name__)
def test_every_optimiser_on_the_gpu_is_that_of_the_cpu(optimizer):
    settings = {"optimizer": optimizer, "steps": 4, "batch_size": 8, "precision": "float64"}
    here = TorchLearner(network(), device="cpu", stacked=False, **settings)
    there = TorchLearner(network(), device="cuda", stacked=Stacking(slots=8), **settings)
    assert_same(pool_after(here), pool_after(there), 1e-9)


def test_births_and_retirements_capture_nothing_anew(monkeypatch):
    captures = []
    graph = stacked.Graph

    def counted(*args, **kwargs):
        captures.append(1)
        return graph(*args, **kwargs)

    monkeypatch.setattr(stacked, "Graph", counted)
    learner = TorchLearner(network(), steps=3, batch_size=8, device="cuda", stacked=Stacking(slots=12, compile=False))
    model = AWE(learner, evidence=Prequential(), classes=[0, 1, 2])
    for X, y in checks.toy_batches(40, n=40):
        model.learn(X, y)
    assert len(captures) == 2, "one for the only instance of round 1, one for every pool after it"


def test_dropout_repeats_with_the_seed_and_differs_between_slots():
    def after(seed):
        torch.manual_seed(seed)  # torch's own seed must not matter
        learner = TorchLearner(
            network(0.5), steps=5, batch_size=8, device="cuda", stacked=Stacking(slots=3, compile=False)
        )
        return [one.instance.tensors["theta"] for one in pool_after(learner, 3, PlainEnsemble).values()]

    first, again = after(0), after(1)
    assert all(torch.equal(one, two) for one, two in zip(first, again, strict=True))
    assert not torch.equal(first[0], first[1])


@pytest.mark.parametrize("precision", ["float32", "tf32", "bf16"])
@pytest.mark.parametrize("kind", ["yearbook", "transformer"])
def test_networks_learn_in_every_precision(kind, precision, caplog):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    if kind == "yearbook":
        X, made = rng.normal(size=(200, 3, 32, 32)).astype(np.float32) + y[:, None, None, None], YearbookCNN()
    else:
        X, made = (
            rng.integers(5, 50, (200, 12)),
            Transformer(32, layers=2, heads=2, vocabulary=64, longest=12, dropout=0.1),
        )
        X[:, 3] = y
    learner = TorchLearner(made, steps=60, batch_size=32, device="cuda", precision=precision, stacked=Stacking(slots=4))
    model = PlainEnsemble(learner, copies=4)
    with caplog.at_level(logging.WARNING, "spanwise"):
        for _ in range(3):
            model.learn(X, y)
    assert not caplog.records, "it is compiled and stacked"
    assert (model.predict(X) == y).mean() > 0.95


def test_a_pool_that_does_not_fit_is_halved_until_it_does(caplog):
    torch.cuda.empty_cache()
    settings = {"steps": 2, "batch_size": 8, "device": "cuda", "precision": "float64"}
    wide = nn.Sequential(nn.Linear(4, 4096), nn.Tanh(), nn.Linear(4096, 2048), nn.Tanh(), nn.Linear(2048, 3))
    whole = pool_after(TorchLearner(wide, stacked=Stacking(slots=6, compile=False), **settings), 3, PlainEnsemble)
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + 5e9) / total)
    try:
        learner = TorchLearner(wide, stacked=Stacking(compile=False), **settings)
        with caplog.at_level(logging.WARNING, "spanwise"):
            parts = pool_after(learner, 3, PlainEnsemble)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert any("did not fit" in record.message for record in caplog.records)
    assert_same(whole, parts, 1e-9)


def test_one_network_that_does_not_fit_is_a_clear_error_and_the_round_can_be_tried_again():
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    wide = nn.Sequential(nn.Linear(4, 8192), nn.Tanh(), nn.Linear(8192, 8192), nn.Tanh(), nn.Linear(8192, 3))
    learner = TorchLearner(wide, steps=2, batch_size=8, device="cuda", stacked=Stacking(compile=False)).fresh(0)
    (X, y), *_ = checks.toy_batches(1)
    learner.logits(X)
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + 2e8) / total)
    try:
        with pytest.raises(LearnerError, match="does not fit"):
            learner.learn(X, y)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    learner.learn(X, y)
    assert learner.instance.age == 1


def test_what_is_estimated_is_about_what_is_taken():
    """The peak of a step, counted on one instance before the first round, against what the allocator saw."""
    learner = TorchLearner(
        Transformer(64, layers=2, heads=4, vocabulary=512, longest=16, classes=4),
        steps=3,
        batch_size=64,
        device="cuda",
        stacked=Stacking(slots=8, compile=False),
    )
    X, y = np.random.default_rng(0).integers(5, 512, (300, 16)), np.arange(300) % 4
    pool = [learner.fresh(seed) for seed in range(8)]
    learner.logits_together(pool, X[:8])
    trainer, one = learner.trainer, pool[0].instance
    rows = torch.arange(64, device="cuda")
    batch = {"input.x": torch.tensor(X).cuda()[rows], "y": torch.tensor(y).cuda()[rows]}
    state = {name: value.cuda() for name, value in trainer._state(one, 4).items()}
    estimated = 8 * trainer.stack.footprint(state, lambda one: trainer.recipe.step(one, batch))
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    learner.learn_together(pool, X, y, [""] * 8)
    taken = torch.cuda.max_memory_allocated() - before
    assert 0.5 * taken < estimated < 4 * taken
