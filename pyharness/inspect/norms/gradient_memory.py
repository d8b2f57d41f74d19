"""How much memory one vector-Jacobian product takes: from the graph at once, or by looking at one that runs.

And how the C library is brought to keep it from one product to the next.
"""

from __future__ import annotations

import re
import weakref
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from pyharness.inspect.nesting import leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from pyharness.inspect.variables import Variable


MAPPED = 128 << 10
"""Bytes of a block that glibc maps by itself, until it has learned of larger ones."""
_LARGEST = 31 << 20
"""Bytes, with what is added to them still below the 32 MiB that glibc maps by itself in any case."""
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BATCHED = "FuncTorchBatched", "FuncTorchBatchedDecomposition", "CompositeImplicitAutograd"
_has_kernel: Any = torch._C._dispatch_has_kernel_for_dispatch_key  # noqa: SLF001


@dataclass(frozen=True)
class Backward:
    """What a backward pass from some outputs to some inputs goes through."""

    most_bytes: int
    """All gradients together: no VJP holds more at a time, but for what its ops need inside."""
    convolves: bool
    loops: bool
    """Whether it has an op that torch runs one by one inside of a batch, for want of a batching rule."""
    goals: frozenset[Any]
    """Nodes of the inputs."""
    leads: frozenset[Any]
    """Nodes from which an input is reached, the inputs' own among them."""


def backward_of(outputs: Sequence[Variable], inputs: Sequence[Variable]) -> Backward:
    """The backward graph of ``outputs``, as far as the graph tells without running it."""
    goals = frozenset(each.edge.node for each in inputs)
    leads: set[Any] = set()
    total, names = sum(each.tensor.nbytes for each in inputs), set()
    for node in _from_inputs(list({each.edge.node for each in outputs})):
        if node in goals or any(follower in leads for follower, _ in node.next_functions):
            leads.add(node)
            total += sum(map(_bytes_of, getattr(node, "_input_metadata", ())))
            names.add(node.name())
    convolves = any("Conv" in name for name in names)
    return Backward(total, convolves, any(map(_loops, names)), goals, frozenset(leads))


@cache
def keep_freed_memory() -> None:
    """Have glibc keep what tensors of less than 32 MiB free, for the next ones, instead of giving it back at once.

    Else every gradient of ``MAPPED`` bytes is new to the process: the kernel clears its pages one by one, which can
    take longer than the product itself. glibc learns the size from the first large block that is freed ("dynamic
    mmap threshold", mallopt(3)); this one is never touched, so it takes no memory. Where a program has set the
    threshold, or has another allocator, nothing changes.
    """
    torch.empty(_LARGEST, dtype=torch.uint8)


def measured_bytes(run: Callable[[], object]) -> int:
    """The most that lived at a time of what ``run`` allocated."""
    live = _LiveBytes()
    with live:
        run()
    return live.most


def _from_inputs(roots: list[Any]) -> list[Any]:
    """Every node that is reached, each after all that it leads to."""
    order, seen = [], set(roots)
    pending = [(root, iter(root.next_functions)) for root in roots]
    while pending:
        _, followers = pending[-1]
        for follower, _ in followers:
            if follower is not None and follower not in seen:
                seen.add(follower)
                pending.append((follower, iter(follower.next_functions)))
                break
        else:
            order.append(pending.pop()[0])
    return order


@lru_cache(maxsize=1024)
def _loops(name: str) -> bool:
    """Whether a node's op, if it is of the node's name as most that are long are, has no batching rule."""
    op = _WORDS.sub("_", name.rstrip("0123456789")).lower()
    known = [f"aten::{each}" for each in (op, f"_{op}") if hasattr(torch.ops.aten, each)]
    return bool(known) and not any(_has_kernel(each, key) for each in known for key in _BATCHED)


def _bytes_of(metadata: Any) -> int:
    try:
        count = 1
        for size in metadata.shape:
            count *= int(size)
    except (RuntimeError, TypeError):  # nested, or of symbols
        return 0
    return int(count * metadata.dtype.itemsize)


class _LiveBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the storages that ops make, until they are gone."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.most = 0
        self._now = 0
        self._known: set[int] = set()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        del types
        given = {self._number(tensor) for _, tensor in leaves((args, kwargs))}
        result = func(*args, **(kwargs or {}))
        for _, tensor in leaves(result):
            self._add(tensor, given)
        return result

    def _add(self, tensor: Tensor, given: set[int]) -> None:
        number = self._number(tensor)
        if number in self._known or number in given:
            return
        storage = tensor.untyped_storage()
        self._known.add(number)
        self._now += storage.nbytes()
        self.most = max(self.most, self._now)
        weakref.finalize(storage, self._gone, number, storage.nbytes())

    def _gone(self, number: int, size: int) -> None:
        self._known.discard(number)
        self._now -= size

    @staticmethod
    def _number(tensor: Tensor) -> int:
        return int(tensor.untyped_storage()._cdata) if tensor.layout == torch.strided else 0  # noqa: SLF001
