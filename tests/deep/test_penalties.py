"""SI and EWC on models so small that their numbers can be worked out by hand."""

from dataclasses import dataclass

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from spanwise.deep import EWC, SGD, SI, TorchLearner  # noqa: E402
from spanwise.deep.penalties.penalty import ReadsAgain  # noqa: E402
from spanwise.errors import SettingError  # noqa: E402


def vector(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def merged(state, new):
    return {**state, **new}


# --- SI.
def descend(si, state, lr, steps):
    """Plain descent on theta^2 / 2, whose gradient is theta, held back by SI."""
    for _ in range(steps):
        theta = state["theta"]
        pull = 2 * si.strength * state["omega"] * (theta - state["anchor"])
        gradient = theta + pull
        moved = -lr * gradient
        state = merged(state, si.after_step(state, moved, theta, gradient))
        state = merged(state, {"theta": theta + moved})
    return merged(state, si.after_round(state))


def test_si_by_hand_on_a_quadratic_of_one_weight():
    """4 -> 2 -> 1: the path brings 4*2 + 2*1 = 10, its way is -3, so omega is 10 / (9 + 1) = 1.

    Then 1 -> 0.5 by the gradient 1 alone, and at 0.5 the penalty 0.25 (0.5 - 1)^2 pulls back by -0.25:
    0.5 -> 0.5 - 0.5 * (0.5 - 0.25) = 0.375. The path brings 1 * 0.5 + 0.5 * 0.125 = 0.5625, on a way of -0.625.
    """
    si = SI(strength=0.25, damping=1.0)
    state = descend(si, {"theta": vector(4.0), **si.start(vector(4.0))}, 0.5, 2)
    assert state["omega"].tolist() == [1.0]
    assert (state["theta"].item(), state["anchor"].item(), state["path"].item()) == (1.0, 1.0, 0.0)
    assert si.penalty(vector(0.5), state).item() == 0.25 * 0.25
    state = descend(si, state, 0.5, 2)
    assert state["theta"].item() == 0.375
    assert state["omega"].item() == pytest.approx(1 + 0.5625 / (0.625**2 + 1), abs=1e-15)


def test_si_as_coded_by_hand_on_a_quadratic_of_one_weight():
    """The last gradient 2 times the way 3: omega is 6 / 10. Then 1 -> 0.5; the pull there is
    2 * 0.25 * 0.6 * -0.5 = -0.15, the last gradient 0.35 with the pull in it: 0.5 -> 0.325."""
    si = SI(strength=0.25, damping=1.0, wildtime=True)
    state = descend(si, {"theta": vector(4.0), **si.start(vector(4.0))}, 0.5, 2)
    assert state["omega"].item() == pytest.approx(0.6, abs=1e-15)
    state = descend(si, state, 0.5, 2)
    assert state["theta"].item() == pytest.approx(0.325, abs=1e-15)
    assert state["omega"].item() == pytest.approx(0.6 + 0.35 * 0.675 / (0.675**2 + 1), abs=1e-15)


@pytest.mark.parametrize(("wildtime", "omega"), [(False, 0.0), (True, -0.75)], ids=["intended", "wildtime"])
def test_a_weight_whose_way_cost_something_matters_nothing_or_is_pushed_away(wildtime, omega):
    """One step uphill: the gradient is 3, the way 1; as coded -3 / (1 + 3)."""
    si = SI(damping=3.0, wildtime=wildtime)
    state = {"theta": vector(5.0), **si.start(vector(5.0))}
    state = merged(state, si.after_step(state, vector(1.0), vector(3.0), vector(3.0)))
    state = merged(state, {"theta": vector(6.0)})
    assert si.after_round(state)["omega"].item() == omega


def test_a_loss_that_rises_and_falls_within_a_round_counts_as_a_whole():
    """The path is clipped at the end of the round, not at each step: -3 + 5 = 2, on a way of 1 + 1 = 2."""
    si = SI(damping=4.0)
    state = {"theta": vector(0.0), **si.start(vector(0.0))}
    for descent in (3.0, -5.0):
        state = merged(state, si.after_step(state, vector(1.0), vector(descent), vector(descent)))
    assert si.after_round(merged(state, {"theta": vector(2.0)}))["omega"].item() == 2 / (4 + 4)


def test_only_ewc_reads_rows_again():
    assert isinstance(EWC(), ReadsAgain)
    assert not isinstance(SI(), ReadsAgain)


# --- EWC.
@dataclass(frozen=True)
class Still:
    """An objective without a gradient: the weights stay what they are."""

    rounds = 1
    points = None

    def draw(self, rng, sizes, shape):
        return {"rows": rng.integers(sizes[-1], size=shape)}

    def loss(self, logits, known, batch):
        return (logits * 0).sum()


def logistic(penalty, X, batch_size=4):
    """Two classes, one feature, no bias, logits (0, log 3 x): at x = 1 the second has probability 3/4."""
    module = nn.Linear(1, 2, bias=False).double()
    settings = {"objective": Still(), "penalty": penalty, "steps": 1, "batch_size": batch_size}
    learner = TorchLearner(module, optimizer=SGD(), device="cpu", precision="float64", stacked=False, **settings).fresh(
        0
    )
    inputs = learner.trainer.inputs(X)
    begun = learner.begun(inputs)
    theta = learner.trainer.network.layout(2).vector({"weight": torch.tensor([[0.0], [np.log(3)]]).double()})
    begun.tensors.update(theta=theta, anchor=theta)
    learner.instance = begun
    return learner


def fisher(learner):
    return learner.trainer.network.layout(2).weights(learner.instance.tensors["importance"])["weight"][:, 0]


@pytest.mark.parametrize(("chance", "label"), [(0.0, 0), (0.2499, 0), (0.2501, 1), (0.99, 1)])
def test_a_chance_on_either_side_of_p_draws_either_label(chance, label):
    assert EWC().label(vector(0.0, np.log(3)), torch.tensor(chance)).item() == label


def test_the_stretch_of_a_class_has_its_beginning_but_not_its_end():
    assert EWC().label(vector(0.0, 0.0), torch.tensor(0.5)).item() == 1
    assert EWC().label(vector(-5000.0, 0.0), torch.tensor(0.0)).item() == 1, "the first class has no stretch at all"


def test_as_coded_the_label_is_the_most_probable_whatever_the_chance():
    labels = [EWC(wildtime=True).label(vector(0.0, 2.0, 1.0), torch.tensor(c)).item() for c in (0.0, 0.5, 0.999)]
    assert labels == [1, 1, 1]


class Highest:
    """A generator whose every number is the largest below one."""

    def random(self, size, dtype=np.float64):
        return np.full(size, np.nextafter(dtype(1), dtype(0)))


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_the_largest_chance_below_one_still_draws_a_class(precision):
    """In single precision it must not be rounded up to one."""
    learner = TorchLearner(nn.Linear(1, 3), penalty=EWC(), device="cpu", precision=precision).fresh(0)
    learner.learn(np.ones((3, 1)), np.arange(3))
    chance = learner.trainer._reading(np.arange(3), Highest())["chance"].flatten()[0]
    for logits in ([0.0, 0.0, 0.0], [9.0, 1.0, -3.0], [0.0, 1.0, -torch.inf]):  # the last class is none of this one's
        label = EWC().label(torch.tensor(logits, dtype=chance.dtype), chance).item()
        assert label < 3
        assert logits[label] > -torch.inf


def test_labels_are_drawn_with_the_probabilities_of_the_model():
    logits = vector(0.3, -1.0, 1.2, 0.0)
    chances = (torch.arange(4000, dtype=torch.float64) + 0.5) / 4000
    counts = np.bincount([EWC().label(logits, chance).item() for chance in chances], minlength=4)
    assert np.abs(counts / 4000 - logits.softmax(0).numpy()).max() <= 1 / 4000


@pytest.mark.parametrize("wildtime", [False, True], ids=["intended", "wildtime"])
def test_fisher_by_hand_on_a_logistic_regression(wildtime):
    """The gradient of -log p(y) by the weight of class k is (p_k - [y = k]) x.

    Rows are x = 1 with p = 3/4 of the second class, and x = -2 with p = 1/(1 + 9). By the most probable label
    the squares are 1/16 and 4/100; by the other one 9/16 and 4 * 81/100.
    """
    X = np.array([[1.0], [-2.0]])
    learner = logistic(EWC(strength=1.0, wildtime=wildtime), X)
    rng = learner.instance.rng()
    learner.trainer.recipe.objective.draw(rng, [2], learner.trainer.shape)
    rng.integers(2**62)
    rows = EWC(wildtime=wildtime).read_again(rng, 2, 4)
    chances = rng.random(len(rows))
    learner.learn(X, np.array([0, 1]))
    expected = 0.0
    for row, chance in zip(rows, chances, strict=True):
        first = [1 / 4, 9 / 10][row]  # probability of the first class
        label = int(first < 0.5) if wildtime else int(chance >= first)
        expected += (first - (label == 0)) ** 2 * [1.0, 4.0][row] / 2
    assert fisher(learner).tolist() == pytest.approx([expected, expected], abs=1e-14)


def test_over_many_rows_fisher_is_p_times_one_minus_p_times_x_squared():
    X = np.full((4000, 1), 1.0)
    learner = logistic(EWC(rows=4000), X)
    learner.learn(X, np.arange(4000) % 2)
    true = 3 / 16
    error = np.sqrt(true * (1 - 4 * true) / 4000)  # the squares are (3/4)^2 or (1/4)^2
    assert fisher(learner).tolist() == pytest.approx([true, true], abs=4 * error)


def test_as_coded_fisher_is_that_of_the_most_probable_label_however_many_rows():
    X = np.full((4000, 1), 1.0)
    learner = logistic(EWC(wildtime=True), X, batch_size=64)
    learner.learn(X, np.arange(4000) % 2)
    assert fisher(learner).tolist() == pytest.approx([1 / 16, 1 / 16], abs=1e-15)


def test_information_of_rounds_adds_up_and_the_old_fades():
    X, learner = np.ones((3, 1)), None
    learner = logistic(EWC(decay=0.5, wildtime=True), X)
    for expected in (1, 1.5, 1.75):
        learner.learn(X, np.array([0, 1, 1]))
        assert fisher(learner).tolist() == pytest.approx([expected / 16] * 2, abs=1e-15)


@pytest.mark.parametrize("wildtime", [False, True], ids=["intended", "wildtime"])
def test_the_pull_of_ewc_by_hand(wildtime):
    """1/2 * 1/2 * 1/2 * (2 * 3^2 + 8 * 1^2) = 3.25: strength, decay and a half."""
    state = {"importance": vector(2.0, 8.0), "anchor": vector(1.0, 0.0)}
    assert EWC(decay=0.5, wildtime=wildtime).penalty(vector(4.0, -1.0), state).item() == 3.25


def test_the_anchor_is_where_the_round_ended():
    ewc = EWC()
    state = {"theta": vector(1.0), "importance": vector(2.0), "anchor": vector(0.0), "fisher": vector(3.0)}
    after = ewc.after_round(state)
    assert (after["anchor"].item(), after["importance"].item(), after["fisher"].item()) == (1.0, 5.0, 0.0)


def test_rows_read_again_are_all_of_the_round_or_some_of_them_once_each():
    rng = np.random.default_rng(0)
    assert sorted(EWC(rows=20).read_again(rng, 12, 4)) == list(range(12))
    some = EWC(rows=5).read_again(rng, 12, 4)
    assert len(set(some)) == len(some) == 5
    reached = {row for _ in range(50) for row in EWC(rows=5).read_again(rng, 12, 4)}
    assert reached == set(range(12)), "any row may be among them"


def test_as_coded_they_are_one_mini_batch_drawn_with_replacement():
    rng = np.random.default_rng(0)
    ewc = EWC(wildtime=True)
    assert len(ewc.read_again(rng, 100, 16)) == 16
    assert len(ewc.read_again(rng, 9, 16)) == 9, "no more than there are"
    drawn = [ewc.read_again(rng, 9, 16) for _ in range(50)]
    assert any(len(set(rows)) < len(rows) for rows in drawn)
    assert {row for rows in drawn for row in rows} == set(range(9))


def test_fisher_needs_a_row():
    with pytest.raises(SettingError, match="rows=0"):
        EWC(rows=0)


def test_the_settings_are_those_of_wild_time():
    assert (SI().strength, SI().damping, EWC().strength, EWC().decay) == (0.1, 1e-3, 0.5, 1.0)


# --- Both through the learner.
@pytest.mark.parametrize("made_of", [SI, EWC])
def test_the_stronger_the_pull_the_nearer_weights_stay(made_of):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), rng.integers(2, size=60)
    ways = []
    for strength in (0.0, 0.05, 0.5):
        settings = {"optimizer": SGD(lr=0.05), "steps": 30, "batch_size": 20, "device": "cpu", "precision": "float64"}
        learner = TorchLearner(nn.Linear(3, 2), penalty=made_of(strength=strength), **settings).fresh(0)
        learner.learn(X, y)
        before = learner.instance.tensors["theta"]
        learner.learn(X, 1 - y)
        ways.append((learner.instance.tensors["theta"] - before).norm().item())
    assert ways == sorted(ways, reverse=True)
    assert ways[2] < 0.98 * ways[0]
