"""One function, over and over, on the same tensors; on a GPU as replays of one graph."""

import logging

import numpy as np
import pytest
import torch

from spanwise.engines.machine import (
    Graph,
    arithmetic,
    copied,
    first_line,
    in_place,
    mini_batch,
    seeded,
    walk,
)

CPU = torch.device("cpu")
DATA = {"x": torch.tensor([[1.0], [10.0], [100.0]]), "y": torch.tensor([7, 8, 9])}
PLAN = {"rows": torch.tensor([[0, 1], [2, 2], [1, 0]]), "share": torch.tensor([1.0, 0.5, 2.0])}
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def step(state, batch):
    """Adds what the mini-batch holds, and remembers the last labels."""
    return {
        "total": state["total"] * 2 + batch["share"] * batch["x"].sum(),
        "last": batch["y"],
        "steps": state["steps"] + 1,
    }


def begin(device=CPU):
    begun = {"total": torch.tensor(1.0), "last": torch.zeros(2, dtype=torch.int64), "steps": torch.tensor(0)}
    return {name: tensor.to(device) for name, tensor in begun.items()}


def test_a_mini_batch_is_the_rows_that_the_plan_asks_for_and_the_rest_of_the_plan():
    batch = mini_batch(DATA, {name: column[1] for name, column in PLAN.items()})
    assert set(batch) == {"x", "y", "share"}
    assert batch["x"].tolist() == [[100.0], [100.0]]
    assert batch["y"].tolist() == [9, 9]
    assert batch["share"] == 0.5


def test_walking_takes_every_step_of_the_plan_in_order():
    state = begin()
    after = walk(step, state, DATA, PLAN)
    assert after["total"] == ((1 * 2 + 11) * 2 + 0.5 * 200) * 2 + 2 * 11
    assert after["last"].tolist() == [8, 7]
    assert after["steps"] == 3
    assert all(torch.equal(value, begin()[name]) for name, value in state.items()), "the state was changed in place"


def test_a_plan_without_steps_leaves_the_state_as_it_is():
    nothing = {name: column[:0] for name, column in PLAN.items()}
    assert walk(step, begin(), DATA, nothing)["total"] == 1


def test_a_step_in_place_writes_what_is_new_over_what_was():
    state = begin()
    places = {name: tensor.data_ptr() for name, tensor in state.items()}
    for now in range(3):
        in_place(step)(state, mini_batch(DATA, {name: column[now] for name, column in PLAN.items()}))
    expected = walk(step, begin(), DATA, PLAN)
    assert all(torch.equal(value, expected[name]) for name, value in state.items())
    assert places == {name: tensor.data_ptr() for name, tensor in state.items()}


def test_two_steps_in_place_have_code_of_their_own():
    """The compiler gives up on a code object after some recompilations, so that learners must not share one."""
    assert in_place(step).__code__ is not in_place(step).__code__


def test_a_copy_shares_no_memory():
    state = begin()
    twin = copied(state)
    twin["total"].fill_(99)
    assert state["total"] == 1


def test_what_is_drawn_under_a_seed_repeats_and_leaves_the_generators_of_the_user_alone():
    torch.manual_seed(5)
    expected, before = torch.rand(3), np.random.get_state()[1].copy()  # noqa: NPY002
    torch.manual_seed(5)
    drawn = []
    for _ in range(2):
        with seeded(CPU, 1):
            drawn.append(torch.rand(4))
    assert torch.equal(*drawn)
    assert torch.equal(torch.rand(3), expected)
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def _draw_and_fail():
    torch.rand(1)
    raise ZeroDivisionError


def test_the_generator_is_put_back_when_the_work_fails():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    with pytest.raises(ZeroDivisionError), seeded(CPU, 1):
        _draw_and_fail()
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("precision", ["float32", "tf32", "bf16", "float64"])
def test_on_a_cpu_the_arithmetic_of_the_user_stays(precision):
    before = torch.get_float32_matmul_precision()
    with arithmetic(CPU, precision):
        assert torch.get_float32_matmul_precision() == before
    assert torch.get_float32_matmul_precision() == before


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("one\ntwo"), "ValueError: one"),
        (RuntimeError("\n  late\nmore"), "RuntimeError: late"),
        (KeyError(), "KeyError: "),
    ],
)
def test_an_error_of_another_library_is_told_in_one_line(error, line):
    assert first_line(error) == line


@pytest.mark.gpu
@needs_cuda
def test_a_graph_gives_what_walking_gives_for_shorter_and_longer_plans():
    device = torch.device("cuda")
    data, plan = ({name: column.to(device) for name, column in part.items()} for part in (DATA, PLAN))
    graph = Graph(step, begin(device), data, plan, compile=False)
    for steps in (3, 1, 2, 3):
        some = {name: column[:steps] for name, column in plan.items()}
        assert graph.fits(data, some)
        got, expected = graph.run(begin(device), data, some), walk(step, begin(device), data, some)
        assert all(torch.equal(value, expected[name]) for name, value in got.items())
    longer = {name: torch.cat([column] * 300) for name, column in data.items()}
    assert not graph.fits(longer, plan)


@pytest.mark.gpu
@needs_cuda
def test_a_step_that_the_compiler_gives_up_on_is_captured_as_it_is_and_the_log_says_why(caplog):
    caplog.set_level(logging.WARNING, "spanwise")
    device = torch.device("cuda")
    data, plan = ({name: column.to(device) for name, column in part.items()} for part in (DATA, PLAN))

    def breaking(state, batch):
        torch._dynamo.graph_break()
        return step(state, batch)

    graph = Graph(breaking, begin(device), data, plan, compile=True)
    assert "not compiled" in caplog.text
    expected = walk(step, begin(device), data, plan)
    assert all(torch.equal(value, expected[name]) for name, value in graph.run(begin(device), data, plan).items())
