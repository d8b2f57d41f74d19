"""ph-run and ph-attach: a program under gdb with its symbols read in the right order."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import gdb

from pyharness.ingdb import attach
from pyharness.ingdb.commands import library_watch, places, stops, trap
from pyharness.ingdb.commands.arguments import program_arguments
from pyharness.ingdb.commands.registry import command
from pyharness.model.errors import HarnessError, UsageError

_RUNNER = "pyharness.debuggee"
_OPTIONS_WITH_VALUE = {"-W", "-X", "--check-hash-based-pycs"}


@command("ph-run")
def ph_run(_argument: str) -> None:
    """Start the program with the harness beside it and run to the first place; torch's symbols are not read.

    Give gdb the plain command line (`gdb --args python train.py`): `-m pyharness.debuggee` is put in by itself.
    """
    gdb.execute(f"set args {with_harness(program_arguments())}", to_string=True)
    places.set_places()
    trap.watch()
    attach.configure()
    try:
        stops.resume("starti")
    except gdb.error as error:
        raise HarnessError(f"gdb cannot start the program: {error}", "Write `gdb --args python SCRIPT`.") from error
    library_watch.start()
    try:
        stops.resume()
    except stops.ProgramEndedError as ended:
        if ended.remedy:  # places that were asked for and never reached
            raise
        gdb.write(f"{ended}\n")
    else:
        stops.report()


@command("ph-attach")
def ph_attach(argument: str) -> None:
    """Attach to a running program: ph-attach PID | NAME, where NAME is a part of one process's command line."""
    pid = int(argument) if argument.isdigit() else find_process(argument)
    attach.attach(pid, non_stop=False)
    trap.watch()
    library_watch.start()
    places.set_places()
    gdb.write(f"Attached to {pid}: {_command_line(pid)}\n")


def with_harness(arguments: str) -> str:
    """Python's arguments with ``-m pyharness.debuggee`` before the script, unless it is there already."""
    words = shlex.split(arguments)
    if not words:
        raise UsageError("There is no program to run.", "Write `gdb --args python SCRIPT`, or `set args SCRIPT`.")
    if _RUNNER in words:
        return arguments
    index = 0
    while index < len(words) and words[index].startswith("-") and words[index] != "-m":
        if words[index].startswith("-c"):
            raise UsageError("A program given with -c has no lines to stop at.", "Write it into a file.")
        index += 2 if words[index] in _OPTIONS_WITH_VALUE else 1
    return shlex.join([*words[:index], "-m", _RUNNER, *words[index:]])


def find_process(name: str) -> int:
    """The one process of this user whose command line contains ``name``; an error that lists the candidates."""
    if not name:
        raise UsageError("Attach to what?", "Write ph-attach PID, or ph-attach NAME.")
    found = {pid: line for pid, line in _processes().items() if name in line}
    if len(found) == 1:
        return next(iter(found))
    if not found:
        raise UsageError(f"No process of yours has {name!r} in its command line.")
    listed = "\n".join(f"  {pid}  {line}" for pid, line in sorted(found.items()))
    raise UsageError(f"{len(found)} processes have {name!r} in their command line:", f"{listed}\nName one by its PID.")


def _processes() -> dict[int, str]:
    """PID → command line of this user's processes, gdb itself and what started it aside."""
    own = _ancestors()
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return {pid: line for pid in pids if pid not in own and (line := _own_command_line(pid))}


def _own_command_line(pid: int) -> str:
    try:
        return _command_line(pid) if Path(f"/proc/{pid}").stat().st_uid == os.getuid() else ""
    except OSError:
        return ""  # it ended meanwhile


def _ancestors() -> set[int]:
    pid, known = os.getpid(), set()
    while pid > 1:
        known.add(pid)
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
        except OSError:
            break
    return known


def _command_line(pid: int) -> str:
    raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    return raw.replace(b"\0", b" ").decode(errors="replace").strip()
