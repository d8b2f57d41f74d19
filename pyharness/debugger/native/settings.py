"""How a gdb is set up for a program: what it reads and shows, which signals it stops at, and our commands in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyharness.gdbmi.client import GdbClient

LOADER = Path(__file__).parents[2] / "ingdb" / "load.py"
_SETTINGS = (
    "mi-async on",
    "non-stop on",
    "pagination off",
    "confirm off",
    "style enabled off",  # gdb 18 colours its errors for MI, too
    "breakpoint pending off",
    "unwindonsignal on",  # calls of the agent
    "print frame-arguments none",  # a stop would read every tensor it is given
    # A stop would show its line on a console that nobody reads, and gdb opens what the library names as its source
    # whatever that is: it would wait at a pipe for ever.
    "print frame-info location-and-address",
)
FATAL_SIGNALS = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT")


def load(gdb: GdbClient) -> None:
    """Load our printers and commands."""
    gdb.console(f"source {LOADER}")
    gdb.console("python from pyharness.ingdb.mi import alone, commands; commands.register()")


def set_up(gdb: GdbClient) -> None:
    """Say what gdb reads and shows, and at which signals it stops."""
    for setting in _SETTINGS:
        gdb.command(f"-gdb-set {setting}")
    gdb.console(f"python alone.watch({os.getpid()})")
    # A debugger must not change how a program behaves under signals: all go straight on but the fatal ones.
    gdb.console("handle all nostop noprint pass")
    gdb.console("handle SIGINT nostop noprint pass")  # "all" leaves it to Ctrl-C, which gdb does not get
    gdb.console(f"handle {' '.join(FATAL_SIGNALS)} stop print pass")
