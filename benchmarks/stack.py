"""The time to print the stack of a running process, Python and native: ours against pystack and py-spy.

The processes: one that waits in gloo, one that trains, one without torch. Also how long each stood for ours.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.peers import stack_readers
from benchmarks.table import Check, Row, Table, interleave, ratio, rows_of
from pyharness.model.errors import HarnessError
from pyharness.reading.live.stacks import read_stacks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parent.parent
PROGRAMS = Path(__file__).parent / "programs"
CASES = {"waits in gloo": "waits_in_gloo.py", "trains": "training_loop.py", "without torch": "waits_in_threads.py"}
OURS, PYSTACK = "pyharness stack", "pystack remote --native"
COLD = "pyharness stack, first time"
RUNS = 15
AT_MOST = 0.9
HELD_AT_MOST = 100.0
"""Milliseconds for which a process may stand."""


def run(runs: int = RUNS) -> Table:
    """Run all of them in turns against one process after another."""
    rows: list[Row] = []
    checks: list[Check] = []
    with tempfile.TemporaryDirectory() as folder:
        peers, missing = stack_readers()
        for case, program in CASES.items():
            with _program(program) as pid:
                seconds = interleave(_subjects(pid, peers, Path(folder)), runs)
                held = {"pyharness stack": [read_stacks(pid).held for _ in range(runs)]}
            rows += rows_of(case, seconds) + rows_of(f"{case}: it stood", held)
            measured = ratio(seconds, OURS, PYSTACK) if PYSTACK in seconds else None
            checks.append(Check(f"{case}: of pystack's time", measured, AT_MOST))
            checks.append(Check(f"{case}: ms that it stood", rows[-1].median, HELD_AT_MOST))
    return Table("stack", tuple(rows), tuple(checks), (missing,) if missing else ())


def _subjects(pid: int, peers: dict[str, list[str]], folder: Path) -> dict[str, Callable[[], object]]:
    ours = [str(Path(sys.executable).with_name("pyharness")), "stack", str(pid)]

    def cold() -> None:
        with tempfile.TemporaryDirectory(dir=folder) as fresh:
            _once(ours, fresh)

    subjects: dict[str, Callable[[], object]] = {OURS: lambda: _once(ours, str(folder)), COLD: cold}
    for name, command in peers.items():
        subjects[name] = lambda command=command: _once([*command, str(pid)], str(folder))  # type: ignore[misc]
    return subjects


def _once(command: list[str], home: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYHARNESS_HOME"] = home
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode or "thread" not in done.stdout.lower():
        raise HarnessError(f"{' '.join(command)} showed no stack.", done.stderr[-1000:])


@contextmanager
def _program(name: str) -> Iterator[int]:
    with ExitStack() as ends:
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        process = subprocess.Popen([sys.executable, PROGRAMS / name], stdout=subprocess.PIPE, env=environment)
        ends.callback(process.communicate)
        ends.callback(process.kill)
        if process.stdout is None or process.stdout.readline() != b"ready\n":
            raise HarnessError(f"{name} did not start.", "Build the extension first: make debug-build.")
        yield process.pid
