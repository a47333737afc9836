"""FT, SI, EWC, IRM and CORAL move a network step by step as a slow transcription does that shares no code with them."""

from copy import deepcopy
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from spanwise.deep import CORAL, EWC, IRM, SGD, SI, Adam, AdamW, CrossEntropy, StepDecay, TorchLearner  # noqa: E402

spec = spec_from_file_location("reference", Path(__file__).with_name("reference.py"))
reference = module_from_spec(spec)
spec.loader.exec_module(reference)

SIZES = [9, 6, 12, 5, 8, 10]  # rows of each round; some are fewer than a mini-batch has
BATCH, SEED = 6, 5
CLOSE = {"rtol": 1e-10, "atol": 1e-11}

NETWORKS = {
    "plain": lambda: nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)),
    "batchnorm": lambda: nn.Sequential(nn.Linear(4, 5, bias=False), nn.BatchNorm1d(5), nn.Tanh(), nn.Linear(5, 3)),
}
OPTIMIZERS = {
    "sgd": SGD(lr=0.2),
    "nesterov": SGD(lr=0.05, momentum=0.9, weight_decay=0.02, nesterov=True),
    "adam": Adam(lr=0.03),
    "amsgrad": Adam(lr=0.05, betas=(0.7, 0.9), weight_decay=0.03, amsgrad=True),
    "adamw": AdamW(lr=0.03, weight_decay=0.2),
}
LEARNERS = {
    "ft": {},
    "si": {"penalty": SI(strength=0.8, damping=0.02)},
    "si-wildtime": {"penalty": SI(strength=0.3, damping=0.2, wildtime=True)},
    "ewc": {"penalty": EWC(strength=9.0, decay=0.7)},
    "ewc-some-rows": {"penalty": EWC(strength=9.0, decay=0.7, rows=7)},
    "ewc-wildtime": {"penalty": EWC(strength=9.0, decay=0.7, wildtime=True)},
    "irm": {"objective": IRM(strength=3.0, groups=3, size=1)},
    "irm-wildtime": {"objective": IRM(strength=3.0, groups=3, size=1, wildtime=True)},
    "coral": {"objective": CORAL(strength=2.0, groups=3, size=1)},
    "coral-wildtime": {"objective": CORAL(strength=2.0, groups=3, size=1, wildtime=True)},
}


# --- The two sides.
def made(network, optimizer, **settings):
    torch.manual_seed(3)
    module = network().double()
    return TorchLearner(
        module, optimizer=optimizer, batch_size=BATCH, device="cpu", precision="float64", stacked=False, **settings
    ).fresh(SEED)


def slow_twin(learner, inputs):
    """The transcription with the same weights and settings."""
    recipe, begun = learner.trainer.recipe, learner.begun(inputs)
    module = deepcopy(recipe.network.given)
    buffers = {name.removeprefix("buffer."): value for name, value in begun.tensors.items() if name[:7] == "buffer."}
    module.load_state_dict({**weights_of(learner, begun, "theta"), **buffers})
    ours = recipe.optimizer
    optimizer = reference.torch_optimizer(ours, module.parameters())
    scheduler = ours.schedule and torch.optim.lr_scheduler.StepLR(optimizer, ours.schedule.every, ours.schedule.gamma)
    objective, penalty = slow_objective(recipe.objective), slow_penalty(recipe.penalty, module)
    return reference.Slow(module, optimizer, objective, penalty, ours.clip, scheduler)


def slow_objective(ours):
    if isinstance(ours, IRM):
        return reference.irm(ours.strength)
    if isinstance(ours, CORAL):
        return (reference.coral_as_coded if ours.wildtime else reference.coral)(ours.strength)
    return reference.cross_entropy


def slow_penalty(ours, module):
    if isinstance(ours, SI):
        return reference.SlowSI(module, ours.strength, ours.damping, ours.wildtime)
    if isinstance(ours, EWC):
        return reference.SlowEWC(module, ours.strength, ours.decay, ours.wildtime)
    return None


def stream(sizes=SIZES, classes=3):
    """Labels that a weak rule gives, which turns from round to round; every class occurs in every round."""
    rng = np.random.default_rng(11)
    for t, n in enumerate(sizes):
        X = rng.normal(size=(n, 4))
        y = np.digitize(X[:, t % 4] + rng.normal(size=n), [-0.4, 0.5]) % classes
        y[:classes] = np.arange(classes)
        yield X, y


# --- What is compared.
def weights_of(learner, instance, name):
    """One of the instance's vectors, by the names of the weights."""
    return learner.trainer.network.layout(instance.width).weights(instance.tensors[name])


def assert_vector(learner, name, seen, expected):
    """A vector of the instance equals a slow dict of weights by name, and its gaps are empty."""
    off = (seen - learner.trainer.network.layout(learner.instance.width).vector(expected)).abs()
    assert off.max() <= 1e-11 + 1e-10 * seen.abs().max(), f"{name} is off by {off.max()}"


def assert_same_network(learner, tensors, expected):
    assert_vector(learner, "theta", tensors["theta"], expected)
    for name, value in tensors.items():
        if name.startswith("buffer."):
            torch.testing.assert_close(value, expected[name.removeprefix("buffer.")], **CLOSE)


def assert_same_memory(learner, slow):
    """All that optimiser and penalty carry to the next round."""
    tensors = learner.instance.tensors
    named = {"speed": "momentum_buffer", "mean": "exp_avg", "square": "exp_avg_sq", "largest": "max_exp_avg_sq"}
    for name in tensors.keys() & named.keys():
        parameters = slow.module.named_parameters()
        theirs = {weight_name: slow.optimizer.state[weight][named[name]] for weight_name, weight in parameters}
        assert_vector(learner, name, tensors[name], theirs)
    for name in tensors.keys() & {"omega", "importance", "anchor", "path"}:
        assert_vector(learner, name, tensors[name], getattr(slow.penalty, name))


def assert_each_step_alike(learner, before, data, plan, trail):
    """Walk the same plan with the recipe itself: penalty, weights and buffers after every single step."""
    recipe = learner.trainer.recipe
    state = learner.trainer._state(before, before.width)
    for now, (held, expected) in enumerate(trail):
        batch = {name: column[plan["rows"][now]] for name, column in data.items()}
        if "group" in plan:
            batch["group"] = torch.from_numpy(plan["group"][now])
        if recipe.penalty:
            torch.testing.assert_close(recipe.penalty.penalty(state["theta"], state).item(), held, **CLOSE)
        with torch.no_grad():
            state = recipe.step(state, batch)
        assert_same_network(learner, state, expected)


# --- The same rounds for both.
def play(learner, steps, rounds, each=lambda plan, trail, slow: None):
    """Every round on both sides, compared after every step and at its end."""
    trainer, slow, kept = learner.trainer, None, []
    objective, penalty = trainer.recipe.objective, trainer.recipe.penalty
    for X, y in rounds:
        inputs, labels = trainer.inputs(X), torch.from_numpy(y)
        slow = slow or slow_twin(learner, inputs)
        before, rng = grown(learner, slow, learner.begun(inputs), int(y.max()) + 1)
        kept = [*kept, (inputs["x"], labels)][-objective.rounds :]
        plan = objective.draw(rng, [len(part) for _, part in kept], (steps, BATCH))
        rng.integers(2**62)
        data = {"input.x": torch.cat([part for part, _ in kept]), "y": torch.cat([part for _, part in kept])}
        groups = torch.from_numpy(plan["group"]) if "group" in plan else [None] * steps
        trail = slow.learn(data["input.x"], data["y"], plan["rows"], groups)
        if isinstance(penalty, EWC):
            again = penalty.read_again(rng, len(y), BATCH)
            slow.penalty.after_round(slow.module, inputs["x"][again], rng.random(len(again)))
        elif penalty:
            slow.penalty.after_round(slow.module)
        learner.learn(X, y)
        assert_each_step_alike(learner, before, data, plan, trail)
        assert_same_network(learner, learner.instance.tensors, slow.module.state_dict())
        assert_same_memory(learner, slow)
        assert learner.instance.random == rng.bit_generator.state, "it drew other numbers than it says"
        slow.module.eval()
        np.testing.assert_allclose(learner.logits(X), slow.module(inputs["x"]).detach().numpy(), rtol=1e-9, atol=1e-10)
        each(plan, trail, slow)
    return slow


def grown(learner, slow, begun, classes):
    """The instance with room for `classes`, and its generator after the new rows of the head were drawn."""
    rng = begun.rng()
    if classes <= begun.width:
        return begun, rng
    head = [module for module in slow.module if isinstance(module, nn.Linear)][-1]
    bound = head.in_features**-0.5
    shapes = {"weight": (classes - begun.width, head.in_features), "bias": (classes - begun.width,)}
    fresh = {name: torch.from_numpy(rng.uniform(-bound, bound, shape)) for name, shape in shapes.items()}
    slow.grow({f"{len(slow.module) - 1}.{name}": rows for name, rows in fresh.items()})
    return learner.trainer._with_room_for(begun, classes), rng


@pytest.mark.parametrize(
    ("name", "optimizer"),
    [("ft", optimizer) for optimizer in OPTIMIZERS]
    + [(name, optimizer) for name in LEARNERS for optimizer in ("nesterov", "adam") if name != "ft"],
)
def test_every_step_is_that_of_the_transcription(name, optimizer):
    play(made(NETWORKS["plain"], OPTIMIZERS[optimizer], steps=3, **LEARNERS[name]), 3, stream())


@pytest.mark.parametrize("name", LEARNERS)
def test_so_is_every_step_through_a_batchnorm_and_what_it_remembers(name):
    play(made(NETWORKS["batchnorm"], OPTIMIZERS["adam"], steps=3, **LEARNERS[name]), 3, stream())


@pytest.mark.parametrize("name", ["si", "si-wildtime", "ewc"])
def test_so_are_rounds_of_a_single_step(name):
    play(made(NETWORKS["plain"], OPTIMIZERS["sgd"], steps=1, **LEARNERS[name]), 1, stream())


@pytest.mark.parametrize(("name", "made_of"), [("ft", SGD), ("ft", AdamW), ("si", Adam), ("si-wildtime", SGD)])
def test_clipping_and_a_schedule_by_age_are_those_of_torch(name, made_of):
    optimizer = made_of(lr=0.3 if made_of is SGD else 0.03, clip=0.2, schedule=StepDecay(0.5, every=2))
    play(made(NETWORKS["plain"], optimizer, steps=3, **LEARNERS[name]), 3, stream())


@pytest.mark.parametrize(
    ("name", "hidden"),  # with 5 hidden ones, the padded weights for 2 and for 3 classes are equally long
    [("ft", 8), ("ft", 5), ("si", 8), ("si", 5), ("si-wildtime", 5), ("ewc", 5), ("irm", 5), ("coral", 5)],
)
def test_classes_that_come_late_leave_all_that_was_known_of_the_others(name, hidden):
    narrow = made(
        lambda: nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, 2)),
        OPTIMIZERS["amsgrad"],
        steps=3,
        **LEARNERS[name],
    )
    play(narrow, 3, [*stream(SIZES[:3], 2), *stream(SIZES[3:])])
    assert narrow.instance.width == 3


# --- The script above has teeth: what the formulas differ in does happen in it.
@pytest.mark.parametrize("name", ["si", "si-wildtime", "ewc", "ewc-wildtime"])
def test_the_penalties_of_the_script_are_not_negligible(name):
    seen = []
    learner = made(NETWORKS["plain"], OPTIMIZERS["adam"], steps=3, **LEARNERS[name])
    play(learner, 3, stream(), lambda plan, trail, slow: seen.append([held for held, _ in trail]))
    assert seen[0] == [0, 0, 0], "nothing is held back in the first round"
    assert all(round_[0] == 0 and abs(round_[2]) > 1e-4 for round_ in seen[1:])


def test_only_as_coded_does_omega_fall_below_zero():
    lowest = {"si": [], "si-wildtime": []}
    for name, seen in lowest.items():
        learner = made(NETWORKS["plain"], OPTIMIZERS["nesterov"], steps=3, **LEARNERS[name])
        for X, y in stream():
            learner.learn(X, y)
            seen.append(learner.instance.tensors["omega"].min().item())
    assert min(lowest["si"]) >= 0 > min(lowest["si-wildtime"])


@pytest.mark.parametrize("name", ["irm", "irm-wildtime", "coral", "coral-wildtime"])
def test_the_mini_batches_of_the_script_hold_groups_of_one_row_and_lack_groups(name):
    counts = []

    def note(plan, trail, slow):
        counts.extend(np.bincount(row, minlength=plan["group"].max() + 1).min() for row in plan["group"])

    play(made(NETWORKS["plain"], OPTIMIZERS["sgd"], steps=3, **LEARNERS[name]), 3, stream(), note)
    assert {0, 1} <= set(counts)


def test_the_default_learner_is_fine_tuning_with_adam():
    recipe = TorchLearner(NETWORKS["plain"](), device="cpu").trainer.recipe
    assert (recipe.optimizer, recipe.objective, recipe.penalty) == (Adam(), CrossEntropy(), None)
