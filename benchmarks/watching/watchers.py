"""Ways to watch what a program's ops and autograd nodes do: ours, and those that torch has."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._debug_mode import DebugMode

import pyharness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from torch import Tensor
    from torch.autograd.graph import Node

BARE, AGAIN = "bare", "bare, once more"
FULL, BACKWARD = "pyharness.record()", "pyharness.record(forward=False)"


@dataclass(frozen=True)
class Watcher:
    """``watch`` watches while it is open; ``prepare`` is given the loss before each backward pass."""

    watch: Callable[[], AbstractContextManager[Any]] = nullcontext
    prepare: Callable[[Tensor], None] | None = None


def _record(**options: bool) -> AbstractContextManager[Any]:
    recording: AbstractContextManager[Any] = pyharness.record(**options)  # loaded with the first: see recorder.OFF
    return recording


def _profiler() -> AbstractContextManager[Any]:
    return torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])


def hook_all(loss: Tensor) -> None:
    """Python hooks before and after every node: what a program can do for itself."""
    for node in graph_of(loss):
        node.register_prehook(lambda _gradients: None)
        node.register_hook(lambda _inputs, _outputs: None)


def graph_of(loss: Tensor) -> Iterator[Node]:
    """All nodes of the backward that a loss has."""
    assert loss.grad_fn is not None
    waiting, seen = [loss.grad_fn], {loss.grad_fn}
    while waiting:
        node = waiting.pop()
        yield node
        fresh = {child for child, _ in node.next_functions if child is not None} - seen
        seen |= fresh
        waiting.extend(fresh)


OURS = {
    BARE: Watcher(),
    AGAIN: Watcher(),
    FULL: Watcher(_record),
    BACKWARD: Watcher(partial(_record, forward=False)),
}
PEERS = {
    "Python hooks on every node": Watcher(prepare=hook_all),
    "torch.profiler (CPU)": Watcher(_profiler),
    "torch.autograd.detect_anomaly": Watcher(lambda: torch.autograd.detect_anomaly(check_nan=True)),
    "torch DebugMode": Watcher(DebugMode),
}
