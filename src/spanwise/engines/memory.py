"""How much memory a step takes, before it is taken."""

import os
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from spanwise.engines.machine import Tensors


class _Watch(TorchDispatchMode):
    """Adds up the storages that are alive, as operations make them and Python lets go of them."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.alive: int = 0
        self.peak: int = 0
        self.seen: set[int] = set()
        self.before: list[torch.UntypedStorage] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for given in tree_leaves((args, kwargs)):
            if isinstance(given, Tensor) and id(given.untyped_storage()) not in self.seen:
                self.before.append(given.untyped_storage())  # kept, so that its id stays its own
                self.seen.add(id(self.before[-1]))
        out = function(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, tuple | list) else (out,):
            if isinstance(tensor, Tensor):
                self._count(tensor)
        return out

    def _count(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        key, size = id(storage), storage.nbytes()
        if key not in self.seen:
            self.seen.add(key)
            self.alive += size
            self.peak = max(self.peak, self.alive)
            weakref.finalize(storage, self._release, key, size)

    def _release(self, key: int, size: int) -> None:
        self.seen.discard(key)
        self.alive -= size


def peak_of(work: Callable[[], object]) -> int:
    """The most bytes that `work` holds at one time, beyond what was there before.

    >>> peak_of(lambda: torch.ones(1000) + 1) >= 8000
    True
    """
    watch = _Watch()
    with watch:
        work()
    return watch.peak


def size_of(tensors: Tensors) -> int:
    """Bytes of all of them."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())


def available(device: torch.device) -> int:
    """Bytes that can be had on `device` now."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return int(free) + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):  # not Linux: half of what is built in, and a guess where that cannot be told
        sysconf = getattr(os, "sysconf", None)
        return sysconf("SC_PHYS_PAGES") * sysconf("SC_PAGE_SIZE") // 2 if sysconf else 4 << 30
