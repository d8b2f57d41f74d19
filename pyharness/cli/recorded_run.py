"""Runs a program with a recording around it, in a process of its own, and reads the trace that it leaves."""

from __future__ import annotations

import contextlib
import gc
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.cli import output
from pyharness.model import trace_file
from pyharness.model.errors import HarnessError
from pyharness.model.state import state_dir
from pyharness.report.units import number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.debugger.launch import Command
    from pyharness.model.trace import Trace

ENTRY = Path(__file__).resolve().parent.parent / "debuggee" / "recorded.py"
_EVERY = 0.25
"""Seconds between two looks at the count."""
_STDERR = 2
_PATIENCE = 5.0


def run(command: Command, request: dict[str, Any], *, to_stderr: bool) -> tuple[Trace, int]:
    """What the program did, and the exit status that says how it ended (128 + N for signal N).

    ``request``: the fields of ``pyharness.debuggee.recorded.Request``.
    """
    command.check()
    with tempfile.TemporaryDirectory(dir=state_dir("traces")) as name:  # mode 0700
        folder = Path(name)
        code = _run(command, folder, request, to_stderr=to_stderr)
        output.progress("reading the trace")
        return _trace(folder, code), _status(code)


def _run(command: Command, folder: Path, request: dict[str, Any], *, to_stderr: bool) -> int:
    request = {**request, "progress": output.status.wanted()}
    words = ["-m"] * command.module + [command.script, *command.arguments]
    python = shutil.which(command.python or sys.executable) or sys.executable
    with _deaf_to_ctrl_c():
        process = subprocess.Popen(
            [python, str(ENTRY), str(folder), json.dumps(request), *words],
            cwd=command.cwd,
            stdout=_STDERR if to_stderr else None,
        )
        try:
            return _wait(process, folder / "count")
        finally:
            _end(process)


@contextlib.contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """It goes to the program as well, whose end we wait for. A handler is not inherited; SIG_IGN would be."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _wait(process: subprocess.Popen[bytes], counter: Path) -> int:
    if not output.status.wanted():
        return process.wait()
    begun = time.monotonic()
    while not _has_ended(process):
        output.status(f"{_counted(counter)}, {time.monotonic() - begun:.0f} s")
    output.status.clear()
    return process.wait()


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_EVERY)
    return process.poll() is not None


def _counted(counter: Path) -> str:
    try:
        return number(int(counter.read_bytes()), "event")
    except (OSError, ValueError):
        return "torch is not imported yet"


def _end(process: subprocess.Popen[bytes]) -> None:
    """We are told to end: the program ends with us."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _status(code: int) -> int:
    return 128 - code if code < 0 else code


def _trace(folder: Path, code: int) -> Trace:
    with contextlib.suppress(FileNotFoundError):
        error = json.loads((folder / "error.json").read_bytes())
        raise HarnessError(error["message"], error["remedy"])
    gc.disable()  # a trace has many objects and no cycles: looking for some would take longer than reading it
    try:
        return trace_file.load((folder / "trace.json").read_bytes())
    except FileNotFoundError:
        raise _without_trace(code) from None


def _without_trace(code: int) -> HarnessError:
    if code < 0:
        name = signal.Signals(-code).name
        error = HarnessError(
            f"{name} killed the program: its trace died with it.",
            "A trace is written at the end of a program; sys.exit and exceptions are fine.",
        )
    else:
        error = HarnessError(
            f"The program ended with exit status {code} and left no trace: os._exit, perhaps, or exec.",
            "A trace is written when Python ends; sys.exit and exceptions are fine.",
        )
    error.exit_code = _status(code) or 1
    return error
