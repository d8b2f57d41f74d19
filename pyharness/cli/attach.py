"""``pyharness attach PID|NAME``: gdb in this terminal, on the right process, with our commands loaded."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import click

from pyharness.debugger import processes
from pyharness.gdbmi.client import find_gdb

COMMANDS = Path(__file__).resolve().parent.parent / "ingdb" / "load.py"
"""What a plain gdb sources."""


@click.command()
@click.argument("process", metavar="PID|NAME")
@click.argument("gdb_arguments", metavar="[-- GDB ARGS]", nargs=-1, type=click.UNPROCESSED)
def command(process: str, gdb_arguments: tuple[str, ...]) -> None:
    """Open gdb here, attached to a process with symbols read in the right order and the ph- commands loaded.

    NAME is a part of one process's command line. What follows -- goes to gdb, e.g. -- -batch -ex ph-bt.
    """
    gdb = find_gdb()
    pid = processes.find(process)
    processes.check(pid)
    sys.stdout.flush()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and what is ignored stays so in gdb
    # An empty list of servers keeps gdb from asking whether it may download symbols.
    os.execvpe(  # noqa: S606  (a list of arguments, no shell)
        gdb,
        [gdb, "-q", "-ex", f"source {COMMANDS}", "-ex", f"ph-attach {pid}", *gdb_arguments],
        {**os.environ, "DEBUGINFOD_URLS": ""},
    )
