"""ph-run and ph-attach: a program under gdb with its symbols read in the right order."""

from __future__ import annotations

import shlex
from pathlib import Path

import gdb

from pyharness.host.surroundings import Surroundings
from pyharness.ingdb import console, terminal
from pyharness.ingdb.opening import attach
from pyharness.ingdb.process import processes
from pyharness.ingdb.prompt import library_watch, places, stops, trap
from pyharness.ingdb.prompt.arguments import program_arguments
from pyharness.ingdb.prompt.registry import command
from pyharness.model.errors import HarnessError, UsageError

_RUNNER = "pyharness.debuggee"
_START = str(Path(__file__).resolve().parents[2] / "debuggee" / "start.py")
_OPTIONS_WITH_VALUE = {"-W", "-X", "--check-hash-based-pycs"}


@command("ph-run")
def ph_run(_argument: str) -> None:
    """Start the program with the harness beside it and run to the first place; torch's symbols are not read.

    Give gdb the plain command line (`gdb --args python train.py`): what runs the harness is put in by itself.
    """
    start(program_arguments())
    try:
        stops.resume()
    except stops.ProgramEndedError as ended:
        if ended.remedy:  # places that were asked for and never reached
            raise
        terminal.write(str(ended))
    else:
        stops.report()


def start(arguments: str) -> None:
    """Start Python with ``arguments`` and the harness beside it, and stop it before its first instruction."""
    console.run(f"set args {with_harness(arguments)}")
    places.set_places()
    trap.watch()
    attach.configure()
    try:
        stops.resume("starti")
    except gdb.error as error:
        raise HarnessError(f"gdb cannot start the program: {error}", "Write `gdb --args python SCRIPT`.") from error
    library_watch.start()


@command("ph-attach")
def ph_attach(argument: str) -> None:
    """Attach to a running program: ph-attach PID | NAME | rank:N.

    NAME is a part of one process's command line; rank:N is the process of that rank of the torchrun job that runs here.
    """
    pid = processes.find(argument)
    attach_to(pid)
    places.set_places()
    there = Surroundings(pid).number_there
    terminal.write(f"Attached to {pid}{there and f', {there}'}: {processes.command_line(pid)}")


def attach_to(pid: int) -> None:
    """Attach, and have the person's libraries read, those that the program loads later too."""
    attach.attach(pid, non_stop=False)
    trap.watch()
    library_watch.start()


def with_harness(arguments: str) -> str:
    """Python's arguments with the file that starts the harness before the script, unless it is there already."""
    words = shlex.split(arguments)
    if not words:
        raise UsageError("There is no program to run.", "Write `gdb --args python SCRIPT`, or `set args SCRIPT`.")
    if _RUNNER in words or _START in words:
        return arguments
    index = 0
    while index < len(words) and words[index].startswith("-") and words[index] != "-m":
        if words[index].startswith("-c"):
            raise UsageError("A program given with -c has no lines to stop at.", "Write it into a file.")
        index += 2 if words[index] in _OPTIONS_WITH_VALUE else 1
    return shlex.join([*words[:index], _START, "debug", *words[index:]])
