"""Our optimisers, functions of one vector, compute what torch's compute in place."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from spanwise.deep import SGD, Adam, AdamW, StepDecay  # noqa: E402
from spanwise.deep.optimizers import clipped  # noqa: E402
from spanwise.errors import SettingError  # noqa: E402

spec = spec_from_file_location("reference", Path(__file__).with_name("reference.py"))
reference = module_from_spec(spec)
spec.loader.exec_module(reference)

STEPS, SIZE = 50, 13
OPTIMIZERS = [
    SGD(lr=0.1),
    SGD(lr=0.1, weight_decay=0.3),
    SGD(lr=0.05, momentum=0.9),
    SGD(lr=0.05, momentum=0.8, weight_decay=0.2, nesterov=True),
    Adam(),
    Adam(lr=0.05, betas=(0.6, 0.8), eps=0.1),
    Adam(lr=0.05, weight_decay=0.4),
    Adam(lr=0.05, betas=(0.5, 0.6), amsgrad=True),
    Adam(lr=0.05, betas=(0.5, 0.6), weight_decay=0.4, amsgrad=True),
    AdamW(lr=0.05),
    AdamW(lr=0.05, weight_decay=0.4),
    AdamW(lr=0.05, weight_decay=0.4, betas=(0.5, 0.6), amsgrad=True),
]
NAMED = {"speed": "momentum_buffer", "mean": "exp_avg", "square": "exp_avg_sq", "largest": "max_exp_avg_sq"}


def gradients():
    """Large ones and tiny ones, so that a running maximum, a bias and an epsilon all show."""
    rng = np.random.default_rng(2)
    sizes = np.exp(rng.normal(size=(STEPS, 1)) * 2) * 10.0 ** -np.arange(SIZE)
    return torch.from_numpy(rng.normal(size=(STEPS, SIZE)) * sizes)


def factors(schedule):
    """The factor of the learning rate at each step, five steps a round."""
    return [1.0 if schedule is None else schedule(now // 5) for now in range(STEPS)]


@pytest.mark.parametrize("schedule", [None, StepDecay(0.8), StepDecay(0.5, every=3)], ids=["constant", "each", "third"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=str)
def test_fifty_steps_are_those_of_torch(optimizer, schedule):
    weights = torch.linspace(-1, 2, SIZE, dtype=torch.float64)
    theirs = nn.Parameter(weights.clone())
    twin = reference.torch_optimizer(optimizer, [theirs])
    decay = schedule and torch.optim.lr_scheduler.StepLR(twin, schedule.every, schedule.gamma)
    state = optimizer.start(weights)
    for now, (gradient, factor) in enumerate(zip(gradients(), factors(schedule), strict=True)):
        rate = torch.tensor(factor, dtype=torch.float64)
        weights, state = optimizer.update(weights, gradient.clone(), {**state, "rate": rate})
        theirs.grad = gradient.clone()
        twin.step()
        if decay and now % 5 == 4:
            decay.step()  # once a round
        torch.testing.assert_close(weights, theirs.detach(), rtol=1e-12, atol=1e-13)
        for ours in state.keys() & NAMED.keys():
            torch.testing.assert_close(state[ours], twin.state[theirs][NAMED[ours]], rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=str)
def test_a_step_leaves_what_it_was_given_as_it_was(optimizer):
    weights, gradient = torch.ones(3, dtype=torch.float64), torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    state = {**optimizer.start(weights), "rate": torch.ones((), dtype=torch.float64)}
    for _ in range(2):
        given = {"weights": weights, "gradient": gradient, **state}
        before = {name: tensor.clone() for name, tensor in given.items()}
        weights, new = optimizer.update(weights, gradient, state)
        assert all(torch.equal(given[name], before[name]) for name in given)
        state = {**state, **new}


@pytest.mark.parametrize("longest", [0.01, 1.0, 5.0, 1e3])
def test_gradients_are_clipped_as_torch_clips_them(longest):
    for gradient in gradients():
        parts = [nn.Parameter(torch.zeros(5)), nn.Parameter(torch.zeros(SIZE - 5))]
        for part, piece in zip(parts, gradient.split([5, SIZE - 5]), strict=True):
            part.data = part.data.double()
            part.grad = piece.clone()
        nn.utils.clip_grad_norm_(parts, longest)
        expected = torch.cat([part.grad for part in parts])
        torch.testing.assert_close(clipped(gradient, longest), expected, rtol=1e-12, atol=0)


def test_without_a_limit_a_gradient_is_what_it_was():
    gradient = torch.tensor([3e8, 4e8])
    assert clipped(gradient, None) is gradient


def test_a_schedule_steps_by_rounds_of_the_instances_own_life():
    twin = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    decay = torch.optim.lr_scheduler.StepLR(twin, 2, 0.3)
    for age in range(9):
        assert StepDecay(0.3, every=2)(age) == pytest.approx(decay.get_last_lr()[0], rel=1e-14)
        twin.step()
        decay.step()


@pytest.mark.parametrize("made_of", [SGD, Adam, AdamW])
@pytest.mark.parametrize("setting", [{"lr": 0.0}, {"lr": -1.0}, {"clip": 0.0}])
def test_settings_without_meaning_are_refused(made_of, setting):
    with pytest.raises(SettingError, match=next(iter(setting))):
        made_of(**setting)
