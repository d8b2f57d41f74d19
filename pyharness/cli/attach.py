"""``pyharness attach PID|NAME``: gdb in this terminal, on the right process, with our commands loaded."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import click

from pyharness.cli.grammar import completers
from pyharness.cli.grammar.verb import Verb
from pyharness.debugger.starting import processes
from pyharness.gdbmi.client import environment, find_gdb

COMMANDS = Path(__file__).resolve().parent.parent / "ingdb" / "load.py"
"""What a plain gdb sources."""


_EXAMPLES = (
    ("gdb on the program that `pyharness run --list` calls train-4242", "pyharness attach train-4242"),
    ("one stack, both languages merged, and leave", "pyharness attach train.py -- -batch -ex ph-bt"),
)
_STATUSES = (("gdb's", "gdb ran: 0 where nothing failed"), ("1", "the process cannot be debugged, or there is no gdb"))


@click.command(cls=Verb, runs=True, examples=_EXAMPLES, statuses=_STATUSES)
@click.argument("process", metavar="PID|NAME", shell_complete=completers.running)
@click.argument("gdb_arguments", metavar="[-- GDB ARGS]", nargs=-1, type=click.UNPROCESSED)
def command(process: str, gdb_arguments: tuple[str, ...]) -> None:
    """Open gdb here, attached to a process with symbols read in the right order and the ph- commands loaded.

    NAME is a handle of `pyharness run`, or a part of one process's command line. What follows -- goes to gdb.
    """
    gdb = find_gdb()
    pid = processes.find(process)
    processes.check(pid)
    processes.check_apart(pid)
    sys.stdout.flush()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and what is ignored stays so in gdb
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})  # else gdb would wait for ever
    # An empty list of servers keeps gdb from asking whether it may download symbols.
    os.execvpe(  # noqa: S606  (a list of arguments, no shell)
        gdb,
        [gdb, "-q", "-ex", f"source {COMMANDS}", "-ex", f"ph-attach {pid}", *gdb_arguments],
        {**environment(), "DEBUGINFOD_URLS": ""},
    )
