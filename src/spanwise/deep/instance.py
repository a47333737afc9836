"""One live network: its tensors, its age, its random numbers, and the rounds it may still draw from.

An instance is a value: training makes another one. So a round that fails has changed nothing, and a
copy costs nothing.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
import torch
from torch import Tensor

from spanwise.engines.machine import Tensors
from spanwise.errors import SnapshotError


@dataclass(frozen=True, eq=False)
class Fold:
    """The rows an instance was trained on in one round, on the CPU."""

    inputs: Tensors
    y: Tensor

    def __len__(self) -> int:
        return len(self.y)

    def digest(self) -> str:
        """Equal for folds of equal rows."""
        told = hashlib.sha256(self.y.numpy().tobytes())
        for name, column in sorted(self.inputs.items()):
            told.update(f"{name}{tuple(column.shape)}".encode() + column.numpy().tobytes())
        return told.hexdigest()


@dataclass(frozen=True, eq=False)
class Instance:
    """One live network.

    Attributes:
        tensors: weights, buffers, and what optimiser and penalty remember.
        shapes: of its weights, by name.
        width: classes its head has.
        age: rounds trained.
        random: the state of its random numbers.
        history: its last rounds, the latest last, as many as the objective draws from.
        origin: tells the constants of its network from others.
    """

    tensors: Tensors
    shapes: Mapping[str, tuple[int, ...]]
    width: int
    age: int
    random: Mapping[str, Any]
    history: tuple[Fold, ...] = ()
    origin: str = ""

    def rng(self) -> np.random.Generator:
        """Its random numbers, from where they stand."""
        bits = np.random.PCG64()
        bits.state = cast(Any, self.random)
        return np.random.Generator(bits)

    def with_fold(self, fold: Fold, rounds: int, points: int | None) -> Self:
        """The same with one more round to draw from, and without those that are too old."""
        kept = [*self.history, fold][-rounds:]
        while points is not None and len(kept) > 1 and sum(map(len, kept)) > points:
            del kept[0]
        return replace(self, history=tuple(kept))

    def state(self) -> dict[str, Any]:
        """As arrays and plain values, for a snapshot."""
        return {
            "tensors": _arrays(self.tensors),
            "shapes": {name: list(shape) for name, shape in self.shapes.items()},
            "width": self.width,
            "age": self.age,
            "random": dict(self.random),
            "origin": self.origin,
            "history": [{"inputs": _arrays(fold.inputs), "y": fold.y.numpy()} for fold in self.history],
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any], device: torch.device, dtype: torch.dtype) -> Self:
        """The instance whose `state()` this was."""
        tensors = {name: torch.tensor(array, device=device) for name, array in state["tensors"].items()}
        return cls(
            tensors={name: t.to(dtype) if t.is_floating_point() else t for name, t in tensors.items()},
            shapes={name: tuple(shape) for name, shape in state["shapes"].items()},
            width=state["width"],
            age=state["age"],
            random=state["random"],
            history=tuple(_fold(fold) for fold in state["history"]),
            origin=state["origin"],
        )

    def check(self, shapes: Mapping[str, tuple[int, ...]], start: Tensors, origin: str) -> None:
        """Refuse to be taken for an instance whose weights have other shapes, or that remembers other things."""
        if dict(shapes) != dict(self.shapes):
            other = sorted(set(shapes.items()) ^ set(self.shapes.items()))[0]
            raise SnapshotError(f"what was saved is another network, which differs in {other[0]} {other[1]}")
        if set(start) != set(self.tensors):
            differ = ", ".join(sorted(set(start) ^ set(self.tensors)))
            raise SnapshotError(f"what was saved had another optimiser or penalty: they differ in {differ}")
        if origin != self.origin:
            raise SnapshotError(
                "what was saved has other weights with requires_grad=False than the network given now: pass a network "
                "with the same ones"
            )


def _arrays(tensors: Tensors) -> dict[str, np.ndarray[Any, Any]]:
    return {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}


def _fold(state: Mapping[str, Any]) -> Fold:
    inputs = {name: torch.tensor(array) for name, array in state["inputs"].items()}
    return Fold(inputs, torch.tensor(state["y"]))


def distinct(histories: Sequence[tuple[Fold, ...]]) -> list[Fold]:
    """Every fold once, though instances share them."""
    return list({id(fold): fold for history in histories for fold in history}.values())
