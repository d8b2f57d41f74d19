"""The time of one boundary step: from a Python line into the kernel that it runs, and out to the next line."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyharness
from benchmarks.table import Check, Table, rows_of
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.debugger.api.program import Program
    from pyharness.model.stops import Stop

PROGRAM = Path(__file__).parent / "programs" / "op_loop.py"
RUNS = 50
LIMIT_MS = 50.0
INTO, OUT, NATIVE = "into (Python line → kernel)", "out (kernel → next Python line)", "over (kernel line → next)"
PYTHON_ATTACHED, PYTHON_ALONE = "next Python line, gdb attached", "next Python line, before gdb attaches"


def run(runs: int = RUNS) -> Table:
    """Step around the loop of one program, each kind of step once a turn."""
    line = next(i for i, text in enumerate(PROGRAM.read_text().splitlines(), 1) if "# @op" in text)
    seconds: dict[str, list[float]] = {name: [] for name in (INTO, NATIVE, OUT, PYTHON_ATTACHED, PYTHON_ALONE)}
    with tempfile.TemporaryDirectory() as home:
        os.environ["PYHARNESS_HOME"] = home
        with pyharness.debug(str(PROGRAM)) as program:
            program.run_to(f"py:{PROGRAM}:{line}")
            for _ in range(runs):
                for _ in range(3):
                    _timed(seconds[PYTHON_ALONE], program.over, "python")
            for turn in range(-2, runs):
                times = {name: [] for name in seconds} if turn < 0 else seconds
                _turn(program, times, line)
    rows = rows_of("boundary", {name: seconds[name] for name in (INTO, OUT)})
    rows += rows_of("one language", {name: seconds[name] for name in (NATIVE, PYTHON_ATTACHED, PYTHON_ALONE)})
    medians = {row.subject: row.median for row in rows}
    checks = tuple(Check(f"median of {name}, ms", medians[name], LIMIT_MS) for name in (INTO, OUT))
    return Table("step", rows, checks)


def _turn(program: Program, seconds: dict[str, list[float]], line: int) -> None:
    _timed(seconds[INTO], program.into_native, "native")
    _timed(seconds[NATIVE], program.over, "native")
    _timed(seconds[OUT], program.out, "python")
    _timed(seconds[PYTHON_ATTACHED], program.over, "python")
    while (stop := program.over()) is not None and stop.frame.line != line:
        pass


def _timed(seconds: list[float], step: Callable[[], Stop | None], language: str) -> None:
    started = time.perf_counter()
    stop = step()
    seconds.append(time.perf_counter() - started)
    if stop is None or stop.frame.language != language:
        raise HarnessError(f"A step of the benchmark ended at {stop}, not in {language} code.")
