"""What a step takes in memory, counted by hand."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.func import grad, vmap

from spanwise.engines import memory
from spanwise.engines.memory import available, peak_of, size_of

KB = torch.zeros(250)
"""1,000 bytes that are there before."""


def make():
    return torch.ones(250)


@pytest.mark.parametrize(
    ("work", "peak"),
    [
        (lambda: None, 0),
        (make, 1000),
        (lambda: make() + 1, 2000),
        (lambda: (make(), make(), make()), 3000),
        (lambda: [make() for _ in range(4)], 4000),
        (lambda: make().double(), 1000 + 2000),
        (lambda: (make().sum(), None)[1], 1000 + 4),
        (lambda: torch.ones(250, dtype=torch.bool), 250),
        (lambda: make().split(50), 1000),
    ],
    ids=["nothing", "one", "sum", "three", "four", "cast", "reduced", "bytes", "pieces"],
)
def test_the_peak_is_what_is_alive_at_one_time(work, peak):
    assert peak_of(work) == peak


def test_what_is_let_go_of_makes_room():
    def chain():
        total = make()
        for _ in range(10):
            total = total * 2
        return total

    assert peak_of(chain) == 2000


def test_tensors_that_nobody_keeps_do_not_add_up():
    def loop():
        for _ in range(10):
            make()

    assert peak_of(loop) == 1000


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.view(25, 10),
        lambda x: x.reshape(10, 25).T,
        lambda x: x[None].expand(100, 250),
        lambda x: x[10:20],
        lambda x: x.detach(),
        lambda x: x.unbind()[0],
        lambda x: x.add_(1),
    ],
    ids=["view", "transpose", "expand", "slice", "detach", "unbind", "in place"],
)
def test_views_are_not_counted_twice(view):
    assert peak_of(lambda: view(make())) == 1000


def test_the_same_tensor_under_many_names_is_counted_once():
    def work():
        x = make()
        return [x.view(250) for _ in range(50)]

    assert peak_of(work) == 1000


@pytest.mark.parametrize(
    "work",
    [lambda: KB.view(25, 10), lambda: KB.add_(0), lambda: (KB[:5], KB.detach())],
    ids=["view", "in place", "views"],
)
def test_what_was_there_before_is_not_counted(work):
    assert peak_of(work) == 0


def test_a_gradient_holds_what_it_saved_on_the_way():
    """Ten products in a row: going back needs what came in to each."""
    x = torch.randn(250)

    def loss(x):
        for _ in range(10):
            x = x.sin()
        return x.sum()

    assert peak_of(lambda: loss(x)) < 3000
    assert peak_of(lambda: grad(loss)(x)) >= 10_000


def test_a_stack_of_k_takes_k_times_what_one_takes():
    weights, x = torch.randn(8, 30, 30), torch.randn(50, 30)

    def loss(w, x):
        return ((x @ w).relu() @ w).square().mean()

    alone = weights[0].clone()
    one = peak_of(lambda: grad(loss)(alone, x))
    many = peak_of(lambda: vmap(grad(loss), in_dims=(0, None))(weights, x))
    assert 5 * one < many < 9 * one


def test_counting_changes_no_result_and_no_random_number():
    def work():
        return torch.nn.functional.dropout(torch.ones(100)) * torch.rand(100)

    torch.manual_seed(0)
    expected = work()
    torch.manual_seed(0)
    got = []
    peak_of(lambda: got.append(work()))
    assert torch.equal(got[0], expected)


def test_an_error_in_the_work_comes_through():
    with pytest.raises(ZeroDivisionError):
        peak_of(lambda: 1 / 0)


def test_the_size_of_tensors_is_their_bytes():
    assert size_of({}) == 0
    assert size_of({"a": torch.zeros(3, 4), "b": torch.zeros(2, dtype=torch.float64), "c": torch.tensor(1)}) == 72


def test_available_memory_is_some_and_no_more_than_there_is():
    there_is = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0 < available(torch.device("cpu")) <= there_is


@pytest.mark.parametrize("text", [None, "MemTotal: 12 kB\n"], ids=["no such file", "no such line"])
def test_where_the_system_does_not_say_half_of_what_is_built_in_counts(monkeypatch, text):
    def read(self, *_):
        if text is None:
            raise FileNotFoundError(self)
        return text

    monkeypatch.setattr(Path, "read_text", read)
    there_is = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert available(torch.device("cpu")) == there_is // 2


def test_the_system_is_asked_for_what_is_available_rather_than_for_what_is_free(monkeypatch):
    monkeypatch.setattr(memory.Path, "read_text", lambda self: "MemFree: 1 kB\nMemAvailable:   7 kB\n")
    assert available(torch.device("cpu")) == 7 * 1024


def test_numbers_in_numpy_are_not_tensors_and_not_counted():
    assert peak_of(lambda: np.ones(10**6)) == 0
