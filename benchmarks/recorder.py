"""What recording a training step costs: pyharness.record() beside what torch has, all against the bare step.

One thread, forward and backward without an optimizer: what is watched, and nothing else. A recording is opened and
closed outside of the time, as the profiler is; what it does while the step runs is inside. The time is the processor's,
of this process: nothing waits here, and what else the machine does shows less.
"""

from __future__ import annotations

import contextlib
import gc
import time
import warnings
from functools import partial
from typing import TYPE_CHECKING

import torch

from benchmarks.table import Check, Row, Table, ratio, rows_of, take_turns
from benchmarks.watching.forked import copy_of_this_process
from benchmarks.watching.models import MODELS, small_ops
from benchmarks.watching.watchers import BACKWARD, BARE, FULL, OURS, PEERS, Watcher

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.watching.models import Forward

RUNS = 41
SAMPLE = 40e-3
"""Seconds: steps are repeated to fill it."""
FEWER = 4
"""Runs of the peers, each so many times slower that a few runs tell."""
LIMITS = {"small ops": {FULL: 1.15, BACKWARD: 1.05}}
LIMIT = 1.03
OFF = "pyharness, after a recording has ended"
OFF_LIMIT = 1.01
COPIES = 6
"""Pairs of processes for ``OFF``."""


def run(runs: int = RUNS) -> Table:
    """Measure every watcher on every model."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    gc.collect()
    warnings.filterwarnings("ignore", "Anomaly Detection has been enabled")
    gc.freeze()  # so that a collection looks at what the steps made only
    rows, checks = _off(runs)
    for name, build in MODELS.items():
        forward = build()
        ours = _compared(forward, OURS, runs)
        peers = _compared(forward, {BARE: OURS[BARE], **PEERS}, max(3, runs // FEWER))
        rows += _rows(name, ours) + _rows(
            name, {key: value for key, value in peers.items() if key != BARE}, peers[BARE]
        )
        limits = LIMITS.get(name, {})
        checks += [
            Check(f"{name}: {what} / {BARE}", ratio(ours, what, BARE), limits.get(what, LIMIT))
            for what in (FULL, BACKWARD)
        ]
    return Table("recorder", tuple(rows), tuple(checks))


def _compared(forward: Forward, watchers: Mapping[str, Watcher], runs: int) -> dict[str, list[float]]:
    """Seconds of one step under each watcher."""
    samples = {}
    for name, watcher in watchers.items():
        once = min(_step_seconds(forward, watcher, 1) for _ in range(3))
        samples[name] = partial(_step_seconds, forward, watcher, max(1, round(SAMPLE / once)))
    return take_turns(samples, runs)


def _step_seconds(forward: Forward, watcher: Watcher, steps: int) -> float:
    """Seconds of one step, from ``steps`` in a row after a first one that does not count."""
    with watcher.watch():
        _step(forward, watcher)
        started = time.process_time()
        for _ in range(steps):
            _step(forward, watcher)
        return (time.process_time() - started) / steps


def _step(forward: Forward, watcher: Watcher) -> None:
    loss = forward()
    if watcher.prepare:
        watcher.prepare(loss)
    loss.backward()  # type: ignore[no-untyped-call]


def _rows(model: str, seconds: Mapping[str, list[float]], bare: list[float] | None = None) -> list[Row]:
    """Milliseconds of a step, and how many bare steps that is."""
    rows = list(rows_of(model, seconds))
    paired = {**seconds, BARE: bare or seconds[BARE]}
    rows += [
        Row(f"{model} / {BARE}", what, ratio(paired, what, BARE), "x", len(seconds[what]))
        for what in seconds
        if what != BARE
    ]
    return rows


def _off(runs: int) -> tuple[list[Row], list[Check]]:
    """A process that has recorded, beside one that never has: nothing else can be compared, once torch is observed."""
    seconds: dict[str, list[float]] = {BARE: [], OFF: []}
    forward = small_ops()
    steps = max(1, round(SAMPLE / min(_step_seconds(forward, OURS[BARE], 1) for _ in range(3))))
    measure = partial(_step_seconds, forward, OURS[BARE], steps)

    firsts = {
        BARE: partial(_step_seconds, forward, OURS[BARE], steps),
        OFF: partial(_step_seconds, forward, OURS[FULL], steps),
    }
    for number in range(COPIES):
        order = sorted(firsts, reverse=number % 2 == 1)
        for name, values in _in_copies({name: firsts[name] for name in order}, measure, runs).items():
            seconds[name] += values
    rows = _rows("small ops, two processes", seconds)
    return rows, [Check(f"small ops: {OFF} / {BARE}", ratio(seconds, OFF, BARE), OFF_LIMIT)]


def _in_copies(
    firsts: Mapping[str, Callable[[], object]], measure: Callable[[], float], runs: int
) -> dict[str, list[float]]:
    with contextlib.ExitStack() as copies:
        asks = {name: copies.enter_context(copy_of_this_process(first, measure)) for name, first in firsts.items()}
        return take_turns(asks, runs)
