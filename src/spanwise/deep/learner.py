"""A torch network as a learner."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import torch

from spanwise.deep.instance import Instance
from spanwise.deep.network import Given, Network
from spanwise.deep.objectives.erm import CrossEntropy, Objective
from spanwise.deep.optimizers import Adam, Optimizer
from spanwise.deep.penalties.penalty import Penalty
from spanwise.deep.recipe import Recipe
from spanwise.deep.trainer import Trainer
from spanwise.engines.machine import Tensors
from spanwise.engines.stacked import Stack, Stacked, Stacking
from spanwise.errors import SettingError
from spanwise.learner import Array

Precision = Literal["float32", "tf32", "bf16", "float64"]
DTYPES = {
    "float32": (torch.float32, torch.float32),
    "tf32": (torch.float32, torch.float32),
    "bf16": (torch.float32, torch.bfloat16),
    "float64": (torch.float64, torch.float64),
}
"""What weights are kept in, and what a forward pass computes in."""


class TorchLearner:
    """A network that is trained for some steps on every round, and goes on from where it was.

    With the defaults it is the paper's FT. Objective and penalty make it the others: `objective=IRM()`,
    `objective=CORAL()`, `penalty=SI()`, `penalty=EWC()`. Mini-batches always have `batch_size` rows, drawn
    with replacement; optimiser and penalty keep what they remember from round to round. A class that comes
    late gets a new row in the head, and nothing of the others is lost.

    >>> import numpy as np
    >>> from torch import nn
    >>> learner = TorchLearner(nn.Linear(2, 2), optimizer=Adam(lr=0.1), steps=50)
    >>> one = learner.fresh(seed=0)
    >>> one.learn([[0.0, 1.0], [1.0, 0.0]], np.array([0, 1]))
    >>> one.logits([[0.0, 1.0], [1.0, 0.0]]).argmax(axis=1)
    array([0, 1])

    Args:
        network: a module, pretrained or not: every instance starts from its weights, with the head drawn anew; or a
            function that makes one, called once an instance. It may have a method `prepare(X)` that turns rows into
            tensors.
        optimizer: `SGD`, `Adam` or `AdamW` of `spanwise.deep.optimizers`; they clip gradients and follow a schedule.
        objective: what a mini-batch brings down, and which rounds it is drawn from.
        penalty: what holds weights back.
        steps: mini-batches a round.
        batch_size: rows a mini-batch.
        head: name of the linear layer that gives the logits; the last one if None.
        device: "cpu", "cuda", ...; CUDA where there is one if None.
        precision: "float32"; "tf32", float32 whose products are rounded on the way in; "bf16", weights in float32 and
            everything else in bfloat16; or "float64".
        stacked: run the instances of a pool together where the network allows it; False for one after another, a
            `Stacking` to say how.
    """

    def __init__(
        self,
        network: Given,
        *,
        optimizer: Optimizer | None = None,
        objective: Objective | None = None,
        penalty: Penalty | None = None,
        steps: int = 100,
        batch_size: int = 64,
        head: str | None = None,
        device: str | torch.device | None = None,
        precision: Precision = "float32",
        stacked: bool | Stacking = True,
    ) -> None:
        check_parts(optimizer, objective, penalty, stacked)
        if steps < 1 or batch_size < 1:
            raise SettingError(f"steps={steps}, batch_size={batch_size}: at least one of each")
        if precision not in DTYPES:
            raise SettingError(f"precision={precision!r}: it must be one of {', '.join(DTYPES)}")
        where = find_device(device)
        recipe = Recipe(
            Network(network, head, where, *DTYPES[precision]), optimizer or Adam(), objective or CrossEntropy(), penalty
        )
        stack = Stack(where, stacked)
        self.trainer = Trainer(recipe, stack, steps=steps, batch_size=batch_size, precision=precision)
        self.seed = 0
        self.instance: Instance | None = None
        self.checked = True  # False after a restore: a network tells its shapes when it sees its first rows

    def fresh(self, seed: int) -> Self:
        made = self.copy()
        made.seed, made.instance = seed, None
        return made

    def copy(self) -> Self:
        """A twin; what was learned is a value that both can hold."""
        twin = type(self).__new__(type(self))
        twin.trainer, twin.seed, twin.instance, twin.checked = self.trainer, self.seed, self.instance, self.checked
        return twin

    def learn(self, X: Any, y: Array) -> None:
        self.learn_together([self], X, y, ["the network"])

    def logits(self, X: Any) -> Array:
        return self.logits_together([self], X)[0]

    @property
    def at_once(self) -> int:
        """How many instances a stack takes at most."""
        return self.trainer.stack.most

    def engine(self) -> Stacked:
        """Instances that run together."""
        return Stacked(self)

    def learn_together(self, learners: Sequence[Self], X: Any, y: Array, names: Sequence[str]) -> None:
        """Train all of `learners`, or none if one of them fails."""
        inputs = self.trainer.inputs(X)
        begun = [learner.begun(inputs) for learner in learners]
        trained = self.trainer.train(begun, inputs, y, names)
        for learner, instance in zip(learners, trained, strict=True):
            learner.instance = instance

    def logits_together(self, learners: Sequence[Self], X: Any) -> list[Array]:
        """What each of `learners` says."""
        inputs = self.trainer.inputs(X)
        return self.trainer.score([learner.begun(inputs) for learner in learners], inputs)

    def begun(self, inputs: Tensors) -> Instance:
        """What was learned so far; before the first round, the fresh weights that the seed gives."""
        if self.instance is None:
            self.instance = self.trainer.begin(self.seed, inputs)
        elif not self.checked:
            self.trainer.check(self.instance, inputs)
        self.checked = True
        return self.instance

    def state(self) -> Mapping[str, Any]:
        return {"seed": self.seed, "instance": None if self.instance is None else self.instance.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        saved = state["instance"]
        self.seed = state["seed"]
        self.instance = None if saved is None else self.trainer.restored(saved)
        self.checked = False


def find_device(name: str | torch.device | None) -> torch.device:
    """The device of that name; CUDA where there is one if None."""
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise SettingError(f"device={name!r}: torch knows no such device") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise SettingError(f"device={name!r}: torch sees no CUDA device here; leave it out to run on the CPU")
    return device


def check_parts(optimizer: object, objective: object, penalty: object, stacked: object) -> None:
    """Refuse parts of another library, and classes in place of objects."""
    wanted = {"optimizer": ("start", "update"), "objective": ("draw", "loss"), "penalty": ("penalty", "after_round")}
    given = {"optimizer": optimizer, "objective": objective, "penalty": penalty}
    for name, part in given.items():
        if part is not None and (isinstance(part, type) or not all(hasattr(part, method) for method in wanted[name])):
            raise SettingError(
                f"{name}={part!r}: pass an object of spanwise.deep, such as Adam(lr=1e-3), IRM() or EWC(), or one of "
                f"your own with the methods {' and '.join(wanted[name])}. Optimisers of torch.optim change modules in "
                "place, so they cannot be stacked."
            )
    if not isinstance(stacked, bool | Stacking):
        raise SettingError(f"stacked={stacked!r}: True, False, or Stacking(...)")
