"""What a network is told about a torch module: its head, its trained weights, its buffers, its lazy layers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.parameter import UninitializedParameter

from spanwise.deep.inputs import ONLY
from spanwise.engines.machine import Tensors, first_line
from spanwise.errors import LearnerError, SettingError, SpanwiseError


def made(maker: Callable[[], nn.Module]) -> nn.Module:
    """A module by a function of the user's, on the CPU."""
    with named("the function that makes the network"):
        module: object = maker()
    if not isinstance(module, nn.Module):
        raise LearnerError(f"the function that makes the network made a {type(module).__name__}, not a module")
    return module.to("cpu")


def call(module: Callable[..., object], inputs: Tensors) -> object:
    """A module asked: one column by position, several by name."""
    return module(inputs[ONLY]) if set(inputs) == {ONLY} else module(**inputs)


def logits_of(module: nn.Module, inputs: Tensors) -> tuple[Tensor, str | None]:
    """What a module answers to the first row, if that is logits; and the linear layer that gave them."""
    gave: dict[str, object] = {}
    hooks = [
        layer.register_forward_hook(lambda _, inputs, output, name=name: gave.update({name: output}))
        for name, layer in module.named_modules()
        if isinstance(layer, nn.Linear)
    ]
    one = {name: value[:1] for name, value in inputs.items()}
    with torch.no_grad(), named(f"the network, on rows of shape {shapes_of(inputs)},"):
        logits = call(module.eval(), one)
    for hook in hooks:
        hook.remove()
    check_logits(logits, 1)
    assert isinstance(logits, Tensor)
    return logits, next((name for name, output in gave.items() if output is logits), None)


def check_buffers(module: nn.Module, inputs: Tensors) -> None:
    """Refuse a module that puts a new tensor in a buffer's place: what it holds would be lost after the step."""
    two = {name: torch.cat([value[:1]] * 2) for name, value in inputs.items()}
    before = saved(module)
    with torch.no_grad(), suppress(Exception):  # what is wrong with it, training itself will tell
        call(module.train(), two)
    replaced = [name for name, buffer in saved(module).items() if buffer is not before.get(name)]
    if replaced:
        raise LearnerError(
            f"the network assigns a new tensor to its buffer {replaced[0]!r} in forward, which an instance cannot "
            f"keep: change it in place, as in self.{replaced[0]}.copy_(...)"
        )


def check_logits(logits: object, rows: int) -> None:
    """Refuse what is not (rows, classes)."""
    if not isinstance(logits, Tensor):
        raise LearnerError(
            f"the network answered a {type(logits).__name__}; expected a tensor of logits (rows, classes)"
        )
    if logits.dim() != 2 or len(logits) != rows:
        shape = tuple(logits.shape)
        raise LearnerError(f"the network answered {rows} rows with shape {shape}; expected logits ({rows}, classes)")


@contextmanager
def named(what: str) -> Iterator[None]:
    """Errors of another's code say whose code it was."""
    try:
        yield
    except SpanwiseError:
        raise
    except Exception as error:
        raise LearnerError(f"{what} failed: {first_line(error)}") from error


def shapes_of(inputs: Tensors) -> str:
    """For an error message."""
    return ", ".join(f"{name} {tuple(column.shape[1:])}" for name, column in inputs.items())


def last_linear(module: nn.Module) -> str | None:
    """The name of the last linear layer, which by custom gives the logits.

    >>> last_linear(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)))
    '2'
    """
    names = [name for name, child in module.named_modules() if isinstance(child, nn.Linear)]
    return names[-1] if names else None


def linear(module: nn.Module, name: str) -> nn.Linear:
    """The linear layer of that name."""
    found = dict(module.named_modules()).get(name)
    if not isinstance(found, nn.Linear):
        have = ", ".join(repr(n) for n, child in module.named_modules() if isinstance(child, nn.Linear)) or "none"
        raise SettingError(f"head={name!r} is not the name of a linear layer of the network; there are: {have}")
    return found


def keep_exact(module: nn.Module, dtype: torch.dtype) -> list[str]:
    """Running averages of a BatchNorm would drown in bfloat16: such layers take and give it, but compute in `dtype`."""
    norms = {name: child for name, child in module.named_modules() if isinstance(child, _NormBase)}
    for child in norms.values():
        child.register_forward_pre_hook(lambda _, inputs: (inputs[0].to(dtype),))
        child.register_forward_hook(lambda _, inputs, output: output.to(torch.bfloat16))
    return list(norms)


def filled_in(module: nn.Module, inputs: Tensors) -> nn.Module:
    """Lazy layers get their widths from a first row."""
    if any(isinstance(weight, UninitializedParameter) for weight in module.parameters()):
        one = {name: value[:1].float() if value.is_floating_point() else value[:1] for name, value in inputs.items()}
        with torch.no_grad(), named(f"the network, on rows of shape {shapes_of(inputs)},"):
            call(module.eval(), one)
    return module


def trained(module: nn.Module) -> dict[str, Tensor]:
    return {name: weight for name, weight in module.named_parameters() if weight.requires_grad}


def saved(module: nn.Module) -> dict[str, Tensor]:
    kept = module.state_dict()
    return {name: buffer for name, buffer in module.named_buffers() if name in kept}


def on(value: Tensor, device: torch.device, dtype: torch.dtype) -> Tensor:
    return value.detach().to(device, dtype if value.is_floating_point() else value.dtype)
