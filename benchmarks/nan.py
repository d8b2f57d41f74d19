"""What looking for the first bad value costs: a training step under find_nan and in anomaly mode; the check alone.

The step is forward and backward on one thread. The check is of one tensor, beside ``torch.isfinite(x).all()`` and a
copy of the same memory.
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
from benchmarks.watching.models import MODELS
from pyharness.native.chains import engine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from benchmarks.watching.models import Forward

RUNS = 21
SAMPLE = 10e-3
"""Seconds: steps are repeated to fill it."""
BARE, OURS, ANOMALY = "bare", "pyharness.find_nan()", "torch.autograd.detect_anomaly"
LIMIT = 1.3
ANOMALY_LEAST = 4.0
CHECK, ISFINITE, COPY = "the check of find_nan", "torch.isfinite(x).all()", "y.copy_(x)"
SIZES = {"512 B": 128, "64 KiB": 1 << 14, "4 MiB": 1 << 20, "256 MiB": 1 << 26}
COPY_LIMIT = 1.1
"""A check reads what a copy reads and writes."""


def run(runs: int = RUNS) -> Table:
    """Every model under every watcher, every size under every check."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    gc.collect()
    gc.freeze()
    rows: list[Row] = []
    checks: list[Check] = []
    for name, build in MODELS.items():
        seconds = _steps(build(), runs)
        rows += _with_ratios(name, seconds, BARE)
        if name == "small ops":
            checks.append(Check(f"{name}: {OURS} / {BARE}", ratio(seconds, OURS, BARE), LIMIT))
            anomaly = ratio(seconds, ANOMALY, BARE)
            checks.append(Check(f"{name}: {ANOMALY} / {BARE}", anomaly, ANOMALY_LEAST, at_least=True))
    for name, count in SIZES.items():
        seconds = _checks(torch.randn(count), runs)
        rows += _with_ratios(f"check of {name}", seconds, CHECK, "us")
        checks.append(Check(f"check of {name}: {CHECK} / {COPY}", ratio(seconds, CHECK, COPY), COPY_LIMIT))
    return Table("nan", tuple(rows), tuple(checks))


def _steps(forward: Forward, runs: int) -> dict[str, list[float]]:
    """Seconds of one step."""
    watchers: dict[str, Callable[[], AbstractContextManager[object]]] = {
        BARE: contextlib.nullcontext,
        OURS: pyharness.find_nan,
        ANOMALY: lambda: torch.autograd.detect_anomaly(check_nan=True),
    }
    samples = {}
    for name, watch in watchers.items():
        once = min(_step_seconds(forward, watch, 1) for _ in range(3))
        samples[name] = partial(_step_seconds, forward, watch, max(1, round(SAMPLE / once)))
    return take_turns(samples, runs)


def _step_seconds(forward: Forward, watch: Callable[[], AbstractContextManager[object]], steps: int) -> float:
    """Seconds of one step, from ``steps`` in a row after a first one that does not count."""
    with watch():
        forward().backward()  # type: ignore[no-untyped-call]
        started = time.perf_counter()
        for _ in range(steps):
            forward().backward()  # type: ignore[no-untyped-call]
        return (time.perf_counter() - started) / steps


def _checks(x: torch.Tensor, runs: int) -> dict[str, list[float]]:
    """Seconds of one check."""
    y, kinds, unlimited = torch.empty_like(x), engine().value_kinds, float("inf")
    subjects: dict[str, Callable[[], object]] = {
        CHECK: lambda: kinds(x, 3, unlimited),
        ISFINITE: lambda: torch.isfinite(x).all().item(),
        COPY: lambda: y.copy_(x),
    }
    times = max(1, (1 << 24) // x.nbytes)
    return take_turns({name: partial(_repeated, check, times) for name, check in subjects.items()}, runs)


def _repeated(check: Callable[[], object], times: int) -> float:
    check()
    started = time.perf_counter()
    for _ in range(times):
        check()
    return (time.perf_counter() - started) / times


def _with_ratios(case: str, seconds: Mapping[str, list[float]], base: str, unit: str = "ms") -> list[Row]:
    rows = list(rows_of(case, seconds, unit))
    rows += [
        Row(f"{case} / {base}", name, ratio(seconds, name, base), "x", len(times))
        for name, times in seconds.items()
        if name != base
    ]
    return rows
