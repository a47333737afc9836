"""What a stacked pool costs on a GPU: `python benchmarks/gpu_pool.py --out results/gpu_pool.json`.

Milliseconds for one optimiser step of all K instances, each on mini-batches of its own:

    one_ms            one learner as anybody would write it: module, torch.optim.Adam, eager
    one_graph_ms      one TorchLearner, K = 1
    loop_ms           K eager learners, one after another
    graphed_loop_ms   K learners, each captured as its own CUDA graph, as an expert would write it (fused Adam)
    stacked_ms        K instances of a TorchLearner, trained together

Ours are whole rounds (drawing, sending, loading and unloading the slots included) divided by their steps.
Both sides compute in the same precision, but that in bf16 the learners by hand use autocast, as anybody would, and ours
cast everything. Their attention is ours, written out. A row is written as soon as it is measured; rows that are there
are kept.
"""

import argparse
import gc
import json
import platform
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import numpy as np
import torch
from torch import nn

from spanwise import AWE, HoldOut, Plain, Prequential
from spanwise.deep import EWC, SI, Stacking, TorchLearner
from spanwise.deep.networks.cnn import CNN
from spanwise.deep.networks.mlp import MLP
from spanwise.deep.networks.transformer import Transformer
from spanwise.engines.machine import arithmetic

ROWS = 2048
PENALTIES = {"ft": None, "si": SI(), "ewc": EWC()}


class Case:
    """A network of the table, with data of its kind."""

    def __init__(
        self,
        make: Callable[[], nn.Module],
        tokens: int,
        vocabulary: int,
        shape: tuple[int, ...],
        k: int,
        batch: int,
        steps: int,
    ) -> None:
        self.make, self.k, self.batch, self.steps = make, k, batch, steps
        rng = np.random.default_rng(0)
        self.X = (
            rng.integers(5, vocabulary, (ROWS, tokens))
            if tokens
            else rng.normal(size=(ROWS, *shape)).astype(np.float32)
        )
        self.y = rng.integers(0, 10, ROWS)


CASES = {
    "mlp": lambda: Case(lambda: MLP((256, 256), features=64, classes=10), 0, 0, (64,), 20, 64, 500),
    "cnn": lambda: Case(lambda: CNN(classes=10), 0, 0, (3, 32, 32), 20, 64, 100),
    "transformer": lambda: Case(
        lambda: Transformer(256, layers=4, heads=4, vocabulary=8192, longest=32, classes=10), 32, 8192, (), 20, 64, 50
    ),
    "minilm": lambda: Case(
        lambda: Transformer(384, layers=6, heads=12, vocabulary=30522, longest=40, classes=10),
        40,
        30522,
        (),
        8,
        16,
        100,
    ),
}


class Rival:
    """One learner by hand: a module, torch.optim.Adam, and mini-batches drawn on the GPU."""

    def __init__(self, case: Case, X: torch.Tensor, y: torch.Tensor, precision: str, *, graphed: bool) -> None:
        self.network, self.X, self.y, self.case, self.precision = case.make().cuda(), X, y, case, precision
        self.adam = torch.optim.Adam(
            self.network.parameters(), lr=1e-3, **({"fused": True, "capturable": True} if graphed else {})
        )
        self.graph = self._capture() if graphed else None

    def step(self) -> None:
        rows = torch.randint(0, len(self.y), (self.case.batch,), device="cuda")
        with torch.autocast("cuda", torch.bfloat16, enabled=self.precision == "bf16", cache_enabled=False):
            loss = nn.functional.cross_entropy(self.network(self.X[rows]), self.y[rows])
        self.adam.zero_grad(set_to_none=True)
        loss.backward()
        self.adam.step()

    def _capture(self) -> torch.cuda.CUDAGraph:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.step()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        self.adam.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            self.step()
        return graph


def milliseconds(work: Callable[[], object], steps: int, repeats: int = 5) -> float:
    """A step of `work`, which takes `steps` of them: the median of some repeats after one to warm up."""
    work()
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(1000 * (time.perf_counter() - begin) / steps)
    return round(median(times), 4)


def rivals(case: Case, precision: str) -> dict[str, float]:
    X, y = torch.tensor(case.X).cuda(), torch.tensor(case.y).cuda()
    with arithmetic(torch.device("cuda"), precision):
        eager = [Rival(case, X, y, precision, graphed=False) for _ in range(case.k)]
        steps = 20
        one = milliseconds(lambda: [eager[0].step() for _ in range(steps)], steps)
        loop = milliseconds(lambda: [learner.step() for _ in range(3) for learner in eager], 3)
        eager.clear()
        graphed = [Rival(case, X, y, precision, graphed=True) for _ in range(case.k)]
        graphs = milliseconds(lambda: [learner.graph.replay() for _ in range(steps) for learner in graphed], steps)
    return {"one_ms": one, "loop_ms": loop, "graphed_loop_ms": graphs}


def ours(case: Case, precision: str, penalty: object, k: int) -> tuple[float, float, float]:
    """Milliseconds a step, gigabytes at the peak, seconds before the first round was done."""
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    torch.manual_seed(0)
    learner = TorchLearner(
        case.make(),
        penalty=penalty,
        steps=case.steps,
        batch_size=case.batch,
        device="cuda",
        precision=precision,
        stacked=Stacking(slots=k),
    )
    pool = [learner.fresh(seed) for seed in range(k)]
    names = [f"slot {slot}" for slot in range(k)]
    begin = time.perf_counter()
    learner.learn_together(pool, case.X, case.y, names)
    torch.cuda.synchronize()
    first = time.perf_counter() - begin
    took = milliseconds(lambda: learner.learn_together(pool, case.X, case.y, names), case.steps)
    return took, round((torch.cuda.max_memory_allocated() - before) / 1e9, 2), round(first, 1)


def table(
    networks: list[str], learners: list[str], precisions: list[str], done: set[tuple[str, str, str]]
) -> Iterator[dict[str, object]]:
    for network in networks:
        case = CASES[network]()
        for precision in precisions:
            wanted = [name for name in learners if (network, name, precision) not in done]
            beside: dict[str, object] = {}
            if "ft" in wanted:
                beside = {**rivals(case, precision), "one_graph_ms": ours(case, precision, None, 1)[0]}
            for name in wanted:
                stacked, peak, first = ours(case, precision, PENALTIES[name], case.k)
                row = {
                    "network": network,
                    "learner": name,
                    "precision": precision,
                    "k": case.k,
                    "batch": case.batch,
                    "steps": case.steps,
                    "stacked_ms": stacked,
                    "peak_gb": peak,
                    "first_round_s": first,
                }
                if name == "ft":
                    row |= beside
                    row["ratio_to_one"] = round(stacked / row["one_ms"], 3)
                    row["speedup_over_graphed_loop"] = round(row["graphed_loop_ms"] / stacked, 2)
                yield row


def whole_round(rounds: int, steps: int) -> Iterator[dict[str, object]]:
    """A round of AWE at T = 1,024 (train, score, choose) against the plain learner's."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(64, 10))
    batches = [(X := rng.normal(size=(256, 64)).astype(np.float32), (X @ weights).argmax(1)) for _ in range(8)]
    for name, make in {
        "plain": lambda learner: Plain(learner, classes=range(10)),
        "awe, prequential": lambda learner: AWE(learner, evidence=Prequential(), classes=range(10)),
        "awe, hold-out of 10,000 points": lambda learner: AWE(
            learner, evidence=HoldOut(0.1, points=10_000), classes=range(10)
        ),
    }.items():
        learner = TorchLearner(
            MLP((256, 256), features=64, classes=10),
            steps=steps,
            device="cuda",
            precision="tf32",
            stacked=Stacking(slots=1 if name == "plain" else 20),
        )
        scheme, seconds = make(learner), []
        for t in range(rounds):
            begin = time.perf_counter()
            report = scheme.learn(*batches[t % 8])
            torch.cuda.synchronize()
            seconds.append(time.perf_counter() - begin)
        yield {
            "round": name,
            "network": "mlp",
            "t": rounds,
            "steps": steps,
            "rows": 256,
            "instances": len(report.instances),
            "round_ms": round(1000 * median(seconds[-100:]), 2),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("results/gpu_pool.json"))
    parser.add_argument("--networks", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--learners", nargs="+", default=list(PENALTIES), choices=list(PENALTIES))
    parser.add_argument("--precisions", nargs="+", default=["tf32", "bf16"])
    parser.add_argument(
        "--rounds", type=int, default=1024, help="length of the stream for the whole round; 0 to leave it out"
    )
    parser.add_argument("--table", action="store_true", help="measure nothing, print the table of what was measured")
    given = parser.parse_args()
    rows = json.loads(given.out.read_text())["rows"] if given.out.exists() else []
    done = {(row["network"], row["learner"], row["precision"]) for row in rows if "learner" in row}

    def keep(row: dict[str, object]) -> None:
        rows.append(row)
        print(json.dumps(row), flush=True)
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps({"machine": machine(), "versions": versions(), "rows": rows}, indent=1) + "\n")

    if given.table:
        print(markdown(rows))
        return
    for row in table(given.networks, given.learners, given.precisions, done):
        keep(row)
    if given.rounds and not any("round" in row for row in rows):
        for row in whole_round(given.rounds, steps=50):
            keep(row)


def markdown(rows: list[dict[str, object]]) -> str:
    """The table of the README: FT, milliseconds a step of all K instances."""
    names = "network | K | precision | one, eager | one, ours | K in a loop | K graphed | K stacked | over K graphed"
    lines = [f"| {names} |", "| --- | ---: | --- |" + " ---: |" * 6]
    for row in rows:
        if row.get("learner") == "ft":
            times = [row[name] for name in ("one_ms", "one_graph_ms", "loop_ms", "graphed_loop_ms", "stacked_ms")]
            shown = " | ".join(f"{took:.3g}" for took in times)
            gain = f"{row['speedup_over_graphed_loop']:.1f}x"
            lines.append(f"| {row['network']} | {row['k']} | {row['precision']} | {shown} | {gain} |")
    return "\n".join(lines)


def machine() -> dict[str, object]:
    return {"gpu": torch.cuda.get_device_name(), "processor": platform.machine(), "system": platform.system()}


def versions() -> dict[str, str]:
    return {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__}


if __name__ == "__main__":
    main()
