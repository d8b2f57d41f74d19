"""What a debugger costs a program that never stops: loops, calls and threads, bare, under debugpy alone, and under us.

Ours is measured without a breakpoint in Python, with two in functions of the same file that the three do not call, and
as an editor has them: by DAP, with the exception filter *uncaught*. The case ``has_breakpoint`` is one of the two, in
which the line of the breakpoint never runs; ``beneath_breakpoint`` calls a function that catches exceptions and loops.
Each Python that is on the PATH as ``python3.N`` takes part (with pyenv: ``PYENV_VERSION=3.11.7:3.12.1``). Up to 3.11
pyharness's native half has to be built for it. *An empty door* is what the interpreter takes for asking anybody at all
where frames begin (PEP 523), as a frame-evaluating debugger does: calls on 3.11 take more than our limit with it.

The fastest of ten processes are compared: where one has its bytecode in memory is chance, and takes up to 15 % of a
loop that does next to nothing. Of five none may be lucky.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyharness
from benchmarks.dap_session.client import DapClient
from benchmarks.dap_session.servers import DEBUGPY_ALONE, PROGRAMS, PYHARNESS, mark
from benchmarks.machine import interpreters
from benchmarks.table import Check, Row, Table, rows_of
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.dap_session.servers import Server

PROGRAM = PROGRAMS / "untouched.py"
CASES = ("loops", "calls", "threads", "beneath_breakpoint")
MARKS = ("breakpoint", "beneath")
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
BARE, DEBUGPY, OURS, WITH_BREAKPOINT = "bare", "debugpy", "pyharness", "pyharness, a breakpoint elsewhere"
EDITOR = "pyharness, an editor's breakpoint elsewhere"
DOOR = "bare, an empty door"
WITH_DOOR = ("3.10", "3.11")
RUNS = 10
LIMIT = 1.1
Cases = dict[str, float]


def run(runs: int = RUNS) -> Table:
    """Run the program under each of the four, in turns, with each Python."""
    rows: list[Row] = []
    checks: list[Check] = []
    missing: list[str] = []
    for version in VERSIONS:
        python = interpreters.of_version(version)
        if python is None:
            missing.append(f"Python {version}: not measured: no python{version} on the PATH")
            continue
        if version in WITH_DOOR and not _is_built(python):
            missing.append(f"Python {version}: each frame is traced: pyharness's native half is not built for it")
        measured = _measured(python, runs, door=version in WITH_DOOR)
        for case, seconds in measured.items():
            rows += rows_of(f"{version} {case}", seconds)
            if case in CASES:
                checks += [_check(version, case, seconds, subject) for subject in (OURS, WITH_BREAKPOINT, EDITOR)]
    return Table("untouched", tuple(rows), tuple(checks), tuple(missing))


def _check(version: str, case: str, seconds: dict[str, list[float]], subject: str) -> Check:
    ours, debugpys = (min(seconds[each]) / min(seconds[BARE]) for each in (subject, DEBUGPY))
    return Check(f"Python {version}, {case}: {subject} to bare (debugpy {debugpys:.2f})", ours, LIMIT)


def _measured(python: str, runs: int, *, door: bool) -> dict[str, dict[str, list[float]]]:
    """Case → subject → CPU seconds of each run."""
    subjects: dict[str, Callable[[str, str], None]] = {
        BARE: _bare,
        DEBUGPY: partial(_in_editor, server=DEBUGPY_ALONE),
        OURS: partial(_ours, breakpoints=False),
        WITH_BREAKPOINT: partial(_ours, breakpoints=True),
        EDITOR: partial(_in_editor, server=PYHARNESS, filters=("uncaught",)),
    }
    if door:
        subjects[DOOR] = partial(_bare, words=("door",))
    measured: dict[str, dict[str, list[float]]] = {}
    order = random.Random(0)  # noqa: S311
    for _ in range(runs):
        for name in order.sample(list(subjects), len(subjects)):
            for case, seconds in _cases(subjects[name], python).items():
                measured.setdefault(case, {subject: [] for subject in subjects})[name].append(seconds)
    return measured


def _cases(subject: Callable[[str, str], None], python: str) -> Cases:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cases.json"
        subject(python, str(file))
        cases: Cases = json.loads(file.read_text())
        return cases


def _bare(python: str, file: str, *, words: tuple[str, ...] = ()) -> None:
    subprocess.run([python, PROGRAM, file, *words], check=True)


def _in_editor(python: str, file: str, *, server: Server, filters: tuple[str, ...] = ()) -> None:
    places = [mark(PROGRAM, each) for each in MARKS]
    with DapClient(server.name, server.command) as client:
        client.request("initialize", {"clientID": "benchmark", "adapterID": "benchmark", "pathFormat": "path"})
        launch = {"program": str(PROGRAM), "args": [file], "python": [python], "console": "internalConsole"}
        begun = client.send("launch", {**launch, **server.launch})
        client.event("initialized")
        lines = [{"line": place.line} for place in places]
        client.request("setBreakpoints", {"source": {"path": str(places[0].file)}, "breakpoints": lines})
        client.request("setExceptionBreakpoints", {"filters": list(filters)})
        client.request("configurationDone")
        client.response(begun)
        client.event("terminated")


def _ours(python: str, file: str, *, breakpoints: bool) -> None:
    places = [mark(PROGRAM, each) for each in MARKS] if breakpoints else []
    with tempfile.TemporaryDirectory() as home:
        os.environ["PYHARNESS_HOME"] = home
        with pyharness.debug(str(PROGRAM), file, python=python) as program:
            for place in places:
                program.set_breakpoint(f"py:{place.file}:{place.line}")
            stop = program.resume()
    if stop is not None:
        raise HarnessError(f"The program stopped at {stop}, where nothing was asked for.")


def _is_built(python: str) -> bool:
    where = {**os.environ, "PYTHONPATH": str(Path(pyharness.__file__).parents[1])}
    return subprocess.run([python, "-c", "import pyharness._trap"], env=where, check=False, stderr=-3).returncode == 0
