"""What following inductor costs, and how fast its kernels are stepped through.

Compiling with maps is held against compiling without, in processor time of Python and of the C++ compiler, with empty
caches; a run of code with maps against the same code without, in one process. A step is within a kernel's loop. The
first stop in a kernel is held against the bare program up to that kernel's call, with a warm cache that has maps.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyharness
from benchmarks.table import Check, Row, Table, ratio, rows_of, take_turns
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM = Path(__file__).parent / "programs" / "compiled_model.py"
RUNS = 5
BARE, MAPS = "torch.compile alone", "with maps"
STEPS = 40
"""Steps in a loop, each time."""
CALLS = 300
"""Calls of the compiled model that are timed as one."""
COMPILE_LIMIT, RUN_LIMIT, STEP_LIMIT_MS, LAUNCH_LIMIT = 1.10, 1.01, 20.0, 0.7
RELEASE, DEBUG = "over, torch's own build", "over, --debug-kernels"


def run(runs: int = RUNS) -> Table:
    """Compile, run, step, launch."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PYHARNESS_HOME"] = f"{folder}/home"
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = f"{folder}/torch"
        os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # so that each compiler is a child that is waited for
        compiling, python = _compiling(Path(folder), runs)
        running = _running(runs * 5)
        steps = {name: _steps(debug_kernels=name == DEBUG) for name in (RELEASE, DEBUG)}
        launches = _launches(runs)
    rows: tuple[Row, ...] = (
        *rows_of("compile: Python and compiler", compiling, "s"),
        *rows_of("compile: Python alone", python, "s"),
        *rows_of("run", running, "us"),
        *rows_of("step in a kernel's loop", steps),
        *rows_of("from the launch", launches, "s"),
    )
    medians = {row.subject: row.median for row in rows}
    checks = (
        Check(f"compile: {MAPS} / {BARE}, processor time", ratio(compiling, MAPS, BARE), COMPILE_LIMIT),
        Check(f"run: {MAPS} / {BARE}", ratio(running, MAPS, BARE), RUN_LIMIT),
        *(Check(f"median of {name}, ms", medians[name], STEP_LIMIT_MS) for name in (RELEASE, DEBUG)),
        Check("first stop in a kernel - bare program, s", medians[STOP] - medians[DONE], LAUNCH_LIMIT),
    )
    return Table("compiled", rows, checks)


# --- compiling --------------------------------------------------------------------------------------------------------


def _compiling(folder: Path, runs: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Seconds of processor time of one compilation: all of it, and without the C++ compiler."""
    python: dict[str, list[float]] = {BARE: [], MAPS: []}

    def once(name: str) -> float:
        with tempfile.TemporaryDirectory(dir=folder) as cache:
            environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": cache, "PYHARNESS_HOME": f"{cache}/home"}
            words = ["maps"] if name == MAPS else []
            done = subprocess.run(
                [sys.executable, PROGRAM, *words], env=environment, capture_output=True, text=True, check=True
            )
        took = json.loads(done.stdout.splitlines()[-1])
        python[name].append(took["python"])
        return float(took["python"] + took["compiler"])

    return take_turns({name: partial(once, name) for name in (BARE, MAPS)}, runs, warmups=0), python


# --- running ----------------------------------------------------------------------------------------------------------


def _running(runs: int) -> dict[str, list[float]]:
    """Seconds of one call of a model: compiled before anybody follows inductor, and again afterwards."""
    import torch

    from pyharness.debuggee.watched import kernels

    torch.set_num_threads(1)

    def model(x: torch.Tensor) -> torch.Tensor:
        return (torch.nn.functional.gelu(x) * torch.sigmoid(x) + x).softmax(-1)

    x = torch.randn(64, 256)
    with torch.no_grad():
        bare = torch.compile(model)
        bare(x)
        kernels.install(lambda _wrapper: None)
        torch.compiler.reset()
        mapped = torch.compile(model)
        mapped(x)
        return take_turns({BARE: partial(_call, bare, x), MAPS: partial(_call, mapped, x)}, runs)


def _call(compiled: Callable[..., object], x: object) -> float:
    started = time.process_time()
    for _ in range(CALLS):
        compiled(x)
    return (time.process_time() - started) / CALLS


# --- stepping ---------------------------------------------------------------------------------------------------------


def _steps(*, debug_kernels: bool) -> list[float]:
    seconds: list[float] = []
    with pyharness.debug(str(PROGRAM), debug_kernels=debug_kernels) as program:
        program.run_to("fx:blocks.1")
        program.into_native()
        for step in range(-3, STEPS):
            started = time.perf_counter()
            stop = program.over()
            if step >= 0:
                seconds.append(time.perf_counter() - started)
            if stop is None or not stop.frame.function.startswith("cpp_fused_"):
                raise HarnessError(f"A step of the benchmark ended at {stop}, not in a kernel.")
    return seconds


# --- launching --------------------------------------------------------------------------------------------------------

DONE, STOP = "the bare program's forward done", "pyharness: first stop in a kernel"


def _launches(runs: int) -> dict[str, list[float]]:
    """A run to the end with maps comes first: the cache is warm then, and has them."""
    subprocess.run([sys.executable, PROGRAM, "maps"], stdout=subprocess.DEVNULL, check=True)
    return take_turns({DONE: _bare, STOP: _stopped}, runs)


def _bare() -> float:
    """Until the program says that its forward is done."""
    started = time.perf_counter()
    with subprocess.Popen([sys.executable, PROGRAM], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        taken = time.perf_counter() - started
        process.communicate()
    return taken


def _stopped() -> float:
    started = time.perf_counter()
    with pyharness.debug(str(PROGRAM)) as program:
        program.run_to("fx:blocks.0")
        stop = program.into_native()
        taken = time.perf_counter() - started
        if stop is None or not stop.frame.function.startswith("cpp_fused_"):
            raise HarnessError(f"The first stop was {stop}, not in a kernel.")
    return taken
