"""A stack against a loop on a CPU: small networks gain, large ones must not lose."""

from statistics import median
from time import perf_counter

import numpy as np
import pytest
import torch
from torch import nn

from spanwise.core.loop import Loop
from spanwise.core.spans import Span
from spanwise.deep import TorchLearner
from spanwise.deep.networks.cnn import CNN
from spanwise.deep.networks.mlp import MLP
from spanwise.engines.stacked import Stacked

K, BATCH, REPEATS = 12, 64, 5
NETWORKS = {
    "mlp_64_64_64_10": (lambda: MLP((64, 64), features=64, classes=10), (64,), 50),
    "mlp_64_256_256_10": (lambda: MLP((256, 256), features=64, classes=10), (64,), 20),
    "mlp_784_256_10": (lambda: MLP((256,), features=784, classes=10), (784,), 10),
    "mlp_784_512_512_10": (lambda: MLP((512, 512), features=784, classes=10), (784,), 10),
    "mlp_784_1024_1024_10": (lambda: MLP((1024, 1024), features=784, classes=10), (784,), 10),
    "cnn": (lambda: CNN(classes=10), (3, 32, 32), 1),
}
SMALL = {"mlp_64_64_64_10", "mlp_64_256_256_10", "mlp_784_256_10"}


class Rounds:
    """Rounds of an engine as a scheme plays them: a twin is trained, and takes over when all went well."""

    def __init__(self, engine, X, y):
        self.engine, self.X, self.y = engine, X, y
        for copy in range(K):
            engine.start(Span(1, copy=copy), seed=copy)

    def __call__(self):
        twin = self.engine.copy()
        twin.learn(list(twin.instances), self.X, self.y)
        self.engine = twin


class ByHand:
    """One learner as anybody would write it."""

    def __init__(self, network, X, y):
        self.network, self.X, self.y = network, torch.tensor(X), torch.tensor(y)
        self.adam = torch.optim.Adam(network.parameters())

    def learn(self, steps):
        for _ in range(steps):
            rows = torch.randint(len(self.y), (BATCH,))
            loss = nn.functional.cross_entropy(self.network(self.X[rows]), self.y[rows])
            self.adam.zero_grad()
            loss.backward()
            self.adam.step()


@pytest.mark.parametrize("name", NETWORKS)
def test_a_stack_against_a_loop(record, name):
    """Milliseconds for a step of all instances: stacked, one after another, and written by hand; in turns, median."""
    make, shape, steps = NETWORKS[name]
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, *shape)).astype(np.float32), np.arange(500) % 10
    learner = TorchLearner(make(), steps=steps, batch_size=BATCH, device="cpu")
    hand = [ByHand(make(), X, y) for _ in range(K)]
    ways = {
        "stacked_ms": Rounds(Stacked(learner), X, y),
        "loop_ms": Rounds(Loop(learner), X, y),
        "by_hand_ms": lambda: [one.learn(steps) for one in hand],
    }
    times = {way: [] for way in ways}
    for repeat in range(REPEATS + 1):
        for way, work in ways.items():
            begin = perf_counter()
            work()
            if repeat:
                times[way].append(1000 * (perf_counter() - begin) / steps)
    at_once = max(learner.trainer.stack.fits.values()) > 1
    assert at_once == (name in SMALL), "the rule of decision 8: small networks are stacked, large ones are not"
    took = {way: round(median(times[way]), 3) for way in ways}
    record(
        benchmark=f"stack_on_cpu_{name}",
        instances=K,
        batch=BATCH,
        threads=torch.get_num_threads(),
        at_once=at_once,
        **took,
        times_the_loop=round(took["loop_ms"] / took["stacked_ms"], 2),
        times_by_hand=round(took["by_hand_ms"] / took["stacked_ms"], 2),
    )
