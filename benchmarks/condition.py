"""The time of a condition that does not hold: at a place in a kernel and at an op, beside gdb's at the same place.

Ours is the thread's own time on a processor: it runs nowhere else. gdb's is the time that passes, as two processes run.
"""

from __future__ import annotations

import ctypes
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from benchmarks.table import Check, Row, Table, take_turns
from pyharness.model.errors import HarnessError
from pyharness.native import breakpoint as native_breakpoint
from pyharness.native import include_dir

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

PROGRAMS = Path(__file__).parent / "programs"
RUNS = 100
"""Short turns, and many: what else the machine does falls on few of them."""
CALLS, OPS, GDB_HITS, GDB_RUNS = 200_000, 2_000, 2_000, 3
_LEAST_OF_GDB = 1_000.0
"""Nanoseconds that a stop and a look by another process take at the very least: else gdb has not broken there."""
KERNEL_LIMIT, OP_LIMIT, RATIO_LIMIT = 20.0, 200.0, 5_000.0
NO_PLACE, DISARMED, ARMED = "the function without a place", "a place that is not armed", "armed, i == -1 and x > 1e3"
NO_BREAKPOINT = "no breakpoint"
OTHER, MEANT, VALUES = "another op's, with a condition", "this op's, shape(in0)[0] == 99", "this op's, nan(out)"
GDB = "gdb: break tick if i == -1 && x > 1e3"


def run(runs: int = RUNS) -> Table:
    """Each number is taken in turns with what it is compared with."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        library = _compiled(Path(folder))
        kernel = take_turns(_kernel(library), runs, warmups=2)
        gdb = [_in_gdb(library) for _ in range(GDB_RUNS)]
    op = take_turns({name: _op_time(point) for name, point in _POINTS.items()}, runs, warmups=2)
    check = _above(kernel, ARMED, NO_PLACE)
    per_hit = statistics.median(gdb)
    rows = (
        *_rows("call of a function in a kernel", kernel),
        Row("call of a function in a kernel", GDB, per_hit, "ns", GDB_RUNS),
        *_rows("aten::mul of 4 elements", op),
    )
    checks = (
        Check("a check in a kernel that is not armed, ns", _above(kernel, DISARMED, NO_PLACE), KERNEL_LIMIT),
        Check("a check in a kernel that does not match, ns", check, KERNEL_LIMIT),
        *(Check(f"an op: {name}, ns", _above(op, name, NO_BREAKPOINT), OP_LIMIT) for name in (OTHER, MEANT)),
        Check("gdb's condition over ours, at the same place", per_hit / max(check, 0.1), RATIO_LIMIT, at_least=True),
    )
    return Table("condition", rows, checks)


def _above(measured: dict[str, list[float]], name: str, base: str) -> float:
    """The median, over the rounds, of how much more ``name`` takes than ``base``."""
    return statistics.median(ours - bare for ours, bare in zip(measured[name], measured[base], strict=True))


def _rows(case: str, measured: dict[str, list[float]]) -> list[Row]:
    return [Row(case, name, statistics.median(times), "ns", len(times)) for name, times in measured.items()]


# --- a kernel ---------------------------------------------------------------------------------------------------------


def _compiled(folder: Path) -> Path:
    target = folder / "condition_kernel.so"
    flags = ("-std=c++17", "-O2", "-g", "-fPIC", "-shared", f"-I{include_dir()}")
    command = [os.environ.get("CXX", "c++"), *flags, str(PROGRAMS / "condition_kernel.cpp"), "-o", str(target)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode:
        raise HarnessError(f"The benchmark's kernel does not compile:\n{built.stderr}", "Is a C++ compiler installed?")
    return target


def _kernel(library: Path) -> dict[str, Callable[[], float]]:
    kernel = ctypes.CDLL(str(library))
    for walk in (kernel.walk, kernel.walk_bare):
        walk.argtypes, walk.restype = [ctypes.c_long], ctypes.c_double

    def armed() -> float:
        with native_breakpoint(site="benchmark.tick", when="i == -1 and x > 1e3", action=_must_not_happen):
            return _walk_time(kernel.walk)

    return {
        NO_PLACE: lambda: _walk_time(kernel.walk_bare),
        DISARMED: lambda: _walk_time(kernel.walk),
        ARMED: armed,
    }


def _walk_time(walk: Callable[[int], float]) -> float:
    started = time.thread_time_ns()
    walk(CALLS)
    return (time.thread_time_ns() - started) / CALLS


def _must_not_happen(hit: object) -> None:
    raise HarnessError(f"A condition of the benchmark held: {hit}")


def _in_gdb(library: Path) -> float:
    """Nanoseconds of one call with gdb's own conditional breakpoint on the function."""
    commands = ("set breakpoint pending on", "break tick if i == -1 && x > 1e3", "run")
    words = [word for command in commands for word in ("-ex", command)]
    program = [sys.executable, str(PROGRAMS / "condition_walk.py"), str(library), str(GDB_HITS)]
    gdb = ["gdb", "-nx", "-batch", *words, "--args", *program]
    try:
        ran = subprocess.run(gdb, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise HarnessError(f"gdb cannot be started: {error}", "apt-get install gdb") from error
    found = re.search(r"^ns ([\d.]+)$", ran.stdout, re.MULTILINE)
    if found is None or float(found[1]) < _LEAST_OF_GDB:
        raise HarnessError(f"gdb did not run the benchmark's program:\n{ran.stdout}{ran.stderr}")
    return float(found[1])


# --- ops --------------------------------------------------------------------------------------------------------------


_POINTS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    NO_BREAKPOINT: nullcontext,
    OTHER: lambda: native_breakpoint(op="aten::conv2d", when="shape(in0)[0] == 99", action=_must_not_happen),
    MEANT: lambda: native_breakpoint(op="aten::mul", when="shape(in0)[0] == 99", action=_must_not_happen),
    VALUES: lambda: native_breakpoint(op="aten::mul", when="nan(out)", action=_must_not_happen),
}


def _op_time(point: Callable[[], AbstractContextManager[object]]) -> Callable[[], float]:
    x, out = torch.ones(4), torch.empty(4)

    def measured() -> float:
        with point():
            torch.mul(x, x, out=out)  # the first asks for names
            started = time.thread_time_ns()
            for _ in range(OPS):
                torch.mul(x, x, out=out)
            return (time.thread_time_ns() - started) / OPS

    return measured
