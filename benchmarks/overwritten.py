"""What watching saved tensors costs: a training step, bare, under find_overwritten, and with what torch has for it.

The step is forward, backward and SGD on one thread. torch has hooks for saved tensors: one that keeps a copy of each
tells, without who wrote, which tensor is another when backward takes it. Each subject is a process of its own, since
a search changes the memory of all tensors for good.
"""

from __future__ import annotations

import contextlib
import gc
import time
from functools import partial
from typing import TYPE_CHECKING

import torch

import pyharness
from benchmarks.table import Check, Row, Table, ratio, rows_of, take_turns
from benchmarks.watching.forked import copy_of_this_process
from benchmarks.watching.models import MODELS
from benchmarks.watching.watchers import graph_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from torch import Tensor

    from benchmarks.watching.models import Forward

RUNS = 15
SAMPLE = 40e-3
"""Seconds: steps are repeated to fill it."""
BARE, OURS, COPIES = "bare", "pyharness.find_overwritten()", "saved_tensors_hooks with copies"
LIMITS = {"small ops": 2.0, "ResNet-18": 1.15, "transformer": 1.15}


class Training:
    """A model under one watcher, built in the process that measures it."""

    def __init__(self, build: Callable[[], Forward], watch: Callable[[], AbstractContextManager[object]]) -> None:
        self._build, self._watch = build, watch
        self._steps = 1

    def begin(self) -> None:
        """Watch from here on, and find out how many steps fill a sample."""
        torch.manual_seed(0)
        self._watch().__enter__()
        self._forward = self._build()
        nodes = graph_of(self._forward())
        self._optimizer = torch.optim.SGD([node.variable for node in nodes if hasattr(node, "variable")], 1e-4)
        once = min(self.step_seconds() for _ in range(4))
        self._steps = max(1, round(SAMPLE / once))

    def step_seconds(self) -> float:
        """Seconds of one step."""
        started = time.perf_counter()
        for _ in range(self._steps):
            self._forward().backward()  # type: ignore[no-untyped-call]
            self._optimizer.step()
        return (time.perf_counter() - started) / self._steps


class Copied:
    """A saved tensor with a copy of it."""

    def __init__(self, tensor: Tensor) -> None:
        self._tensor, self._copy = tensor.detach(), tensor.detach().clone()

    def taken(self) -> Tensor:
        """The tensor, compared: batch norm's running statistics are always another, so nothing is made of it."""
        torch.equal(self._tensor, self._copy)
        return self._tensor


def run(runs: int = RUNS) -> Table:
    """Every model under every watcher."""
    torch.set_num_threads(1)
    gc.collect()
    gc.freeze()
    rows: list[Row] = []
    checks: list[Check] = []
    watchers: dict[str, Callable[[], AbstractContextManager[object]]] = {
        BARE: contextlib.nullcontext,
        OURS: pyharness.find_overwritten,
        COPIES: lambda: torch.autograd.graph.saved_tensors_hooks(Copied, Copied.taken),
    }
    for name, build in MODELS.items():
        seconds = _compared({what: Training(build, watch) for what, watch in watchers.items()}, runs)
        rows += rows_of(name, seconds)
        ratios = {what: ratio(seconds, what, BARE) for what in watchers if what != BARE}
        rows += [Row(f"{name} / {BARE}", what, value, "x", runs) for what, value in ratios.items()]
        checks.append(Check(f"{name}: {OURS} / {BARE}", ratios[OURS], LIMITS[name]))
    return Table("overwritten", tuple(rows), tuple(checks))


def _compared(trainings: dict[str, Training], runs: int) -> dict[str, list[float]]:
    with contextlib.ExitStack() as copies:
        asks = {
            name: copies.enter_context(copy_of_this_process(training.begin, partial(training.step_seconds)))
            for name, training in trainings.items()
        }
        return take_turns(asks, runs)
