"""Runs a program with a recording around it, in a process of its own, and reads the trace that it leaves."""

from __future__ import annotations

import contextlib
import gc
import json
import signal
from typing import TYPE_CHECKING, Any

from pyharness.cli.kit import output
from pyharness.cli.kit.engine_progress import have_engine
from pyharness.cli.kit.entry_run import exchange, left_nothing, run_entry
from pyharness.host.exit_status import of_program
from pyharness.model.errors import HarnessError
from pyharness.model.results import trace_file
from pyharness.report.units import number

if TYPE_CHECKING:
    from pathlib import Path

    from pyharness.debugger.starting.launch import Command
    from pyharness.model.results.trace import Trace


def run(command: Command, request: dict[str, Any], *, to_stderr: bool) -> tuple[Trace, int]:
    """What the program did, and the exit status that says how it ended (128 + N for signal N).

    ``request``: the fields of ``pyharness.debuggee.entries.recorded.Request``.
    """
    command.check()
    have_engine(command.python)
    with exchange("traces") as folder:
        request = {**request, "progress": output.status.wanted()}
        counter = folder / "count"
        code = run_entry("trace", command, folder, request, to_stderr=to_stderr, so_far=lambda: _counted(counter))
        output.progress("reading the trace")
        return _trace(folder, code), of_program(code)


def _counted(counter: Path) -> str:
    try:
        return number(int(counter.read_bytes()), "event")
    except (OSError, ValueError):
        return "torch is not imported yet"


def _trace(folder: Path, code: int) -> Trace:
    with contextlib.suppress(FileNotFoundError):
        error = json.loads((folder / "error.json").read_bytes())
        raise HarnessError(error["message"], error["remedy"])
    gc.disable()  # a trace has many objects and no cycles: looking for some would take longer than reading it
    try:
        return trace_file.load((folder / "trace.json").read_bytes())
    except FileNotFoundError:
        raise left_nothing(folder, code, _without_trace(code)) from None


def _without_trace(code: int) -> HarnessError:
    if code < 0:
        name = signal.Signals(-code).name
        return HarnessError(
            f"{name} killed the program: its trace died with it.",
            "A trace is written at the end of a program; sys.exit and exceptions are fine.",
        )
    return HarnessError(
        f"The program ended with exit status {code} and left no trace: os._exit, perhaps, exec, another user than at"
        " its start, or no file to write.",
        "A trace is written when Python ends; sys.exit and exceptions are fine.",
    )
