"""The time from starting gdb to a stop in a running program's kernel, and to the whole stack: default gdb against ours.

Both stop at the same function, which ``loss.backward()`` calls: half of the stack is torch's. The default gdb reads
the symbols of every library first. Ours reads the extension's alone, after the stop; it also has the Python half.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.table import Check, Table, ratio, rows_of
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PROGRAM = Path(__file__).parent / "programs" / "training_loop.py"
FUNCTION = "pyharness::ops::rms_norm_backward_cpu"
TORCH_FRAMES = ("torch::autograd::Engine::execute", "THPEngine_run_backward")
END = "the stack ends here"
RUNS = 5
PEER, WARM, COLD = "default gdb", "pyharness", "pyharness, first time"
STOP_AT_LEAST, STACK_AT_LEAST = 8.0, 5.0


def run(runs: int = RUNS) -> Table:
    """Run the three subjects in turns against one program."""
    stops: dict[str, list[float]] = {PEER: [], WARM: [], COLD: []}
    stacks: dict[str, list[float]] = {PEER: [], WARM: [], COLD: []}
    with tempfile.TemporaryDirectory() as home, _program() as pid:
        for turn in range(-1, runs):
            for subject, seconds in stops.items():
                stop, stack = _session(subject, pid, home)
                if turn >= 0:
                    seconds.append(stop)
                    stacks[subject].append(stack)
    rows = rows_of("to the native stop", stops, "s") + rows_of("to the whole stack", stacks, "s")
    checks = (
        Check("to the stop: times faster than default gdb", ratio(stops, PEER, WARM), STOP_AT_LEAST, at_least=True),
        Check("to the stack: times faster than default gdb", ratio(stacks, PEER, WARM), STACK_AT_LEAST, at_least=True),
    )
    return Table("attach", rows, checks)


@contextmanager
def _program() -> Iterator[int]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, PROGRAM], stdout=subprocess.PIPE, env=environment) as process:
        try:
            if process.stdout is None or process.stdout.readline() != b"ready\n":
                raise HarnessError(f"{PROGRAM} did not start.", "Build the extension first: make debug-build.")
            yield process.pid
        finally:
            process.kill()


def _session(subject: str, pid: int, home: str) -> tuple[float, float]:
    """Seconds to the stop and to the end of the stack, as a person sees them on the terminal."""
    if subject == COLD:
        with tempfile.TemporaryDirectory() as fresh:
            return _watch(_ours(pid), fresh)
    return _watch(_default(pid) if subject == PEER else _ours(pid), home)


def _default(pid: int) -> list[str]:
    return ["-p", str(pid), *_commands(f"tbreak {FUNCTION}", "continue", "bt", f"echo {END}\\n")]


def _ours(pid: int) -> list[str]:
    load = ROOT / "pyharness/ingdb/load.py"
    return _commands(f"source {load}", f"ph-attach-at {pid} {FUNCTION}", "ph-bt --full", f"echo {END}\\n")


def _commands(*commands: str) -> list[str]:
    return [part for command in commands for part in ("-ex", command)]


def _watch(arguments: list[str], home: str) -> tuple[float, float]:
    environment = os.environ | {"PYHARNESS_HOME": home}
    started = time.perf_counter()
    stopped = ended = 0.0
    said = []
    with subprocess.Popen(
        ["gdb", "-nx", "-q", "-batch", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        text=True,
    ) as process:
        for line in process.stdout or ():
            said.append(line)
            now = time.perf_counter() - started
            if not stopped and _tells_the_stop(line):
                stopped = now
            if line.startswith(END):
                ended = now
    text = "".join(said)
    if not (stopped and ended and all(name in text for name in TORCH_FRAMES)):
        raise HarnessError(f"gdb did not get to the stop or did not name torch's frames:\n{text}")
    return stopped, ended


def _tells_the_stop(line: str) -> bool:
    return FUNCTION in line and (" hit Temporary breakpoint " in line or " is at " in line or line.startswith("Temp"))
