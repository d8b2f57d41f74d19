"""Runs one of our entries, which becomes the user's program, in a process of its own, and waits for its end."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.cli.kit import output
from pyharness.host.exit_status import of_program
from pyharness.host.process_group import Group
from pyharness.host.state import StateError, check_room, state_dir, temporary_dir
from pyharness.project.own_command import APART

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyharness.debugger.starting.launch import Command
    from pyharness.model.errors import HarnessError

START = Path(__file__).resolve().parents[2] / "debuggee" / "start.py"
_EVERY = 0.25
"""Seconds between two looks at how far it is."""
_STDERR = 2
_PATIENCE = 5.0
_NOT_OURS = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP)
"""Signals that the process which shows whose a SIGINT is does not handle."""


@contextlib.contextmanager
def exchange(part: str) -> Iterator[Path]:
    """A private folder in which the program hands over what it made; ``part`` is that of the state folder."""
    try:
        folder = state_dir(part)
        check_room(folder)
    except StateError as error:
        output.note(f"{error.message} {error.remedy} Until then generated files go with the program.")
        folder = temporary_dir()
    with tempfile.TemporaryDirectory(dir=folder) as name:  # mode 0700
        yield Path(name)


def run_entry(
    entry: str, command: Command, folder: Path, request: dict[str, Any], *, to_stderr: bool, so_far: Callable[[], str]
) -> int:
    """Run ``python START ENTRY FOLDER REQUEST SCRIPT ARGS`` to its end; its code as ``subprocess`` has it.

    ``to_stderr``: its output is not to be mixed with ours. ``so_far``: what a terminal is told meanwhile.
    """
    words = ["-m"] * command.module + [command.script, *command.arguments]
    python = shutil.which(command.python or sys.executable) or sys.executable
    with _interrupts_left() as left_to:
        process = subprocess.Popen(
            [python, str(START), entry, str(folder), json.dumps(request), *words],
            cwd=command.cwd,
            stdout=_STDERR if os.environ.pop(APART, "") or to_stderr else None,
            pass_fds=command.pass_fds,
        )
        try:
            left_to(process)
            return _wait(process, so_far)
        finally:
            _end(process)


def left_nothing(folder: Path, code: int, usual: HarnessError) -> HarnessError:
    """The error of a program that ended with ``code`` and left no file in ``folder``: ``usual``, or a full disk's."""
    error = usual
    try:
        check_room(folder)
    except StateError as full:
        error = full
    error.exit_code = of_program(code) or 1
    return error


@contextlib.contextmanager
def _interrupts_left() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """SIGINT is left to the program, whose end we wait for: one that was sent to us alone is handed on.

    A handler is not inherited; SIG_IGN would be.
    """
    group = Group(_NOT_OURS)
    programs: list[subprocess.Popen[bytes]] = []
    early: list[int] = []

    def hand_on(number: int, _frame: object) -> None:
        if group.has_got(number):
            return  # the program has it, too: of a terminal, say
        for each in programs:
            each.send_signal(number)
        if not programs:
            early.append(number)

    def left_to(program: subprocess.Popen[bytes]) -> None:
        programs.append(program)
        for number in early:
            program.send_signal(number)

    before = signal.signal(signal.SIGINT, hand_on)
    try:
        yield left_to
    finally:
        signal.signal(signal.SIGINT, before)
        group.leave()


def _wait(process: subprocess.Popen[bytes], so_far: Callable[[], str]) -> int:
    if not output.status.wanted():
        return process.wait()
    begun = time.monotonic()
    while not _has_ended(process):
        output.status(f"{so_far()}, {time.monotonic() - begun:.0f} s")
    output.status.clear()
    return process.wait()


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_EVERY)
    return process.poll() is not None


def _end(process: subprocess.Popen[bytes]) -> None:
    """We are told to end: the program ends with us."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
