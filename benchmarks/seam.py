"""Seam beside pyharness, both over DAP: launch, into and out, 100,000 functions, running untouched, attach and stack.

Seam takes CPython 3.12 or newer and an LLDB of the distribution (Debian 12 and 13: lldb-19 and python3-lldb-19);
``$SEAM`` names its command where it is installed already. ``benchmarks install`` compares what pip does.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.beside_seam import questions
from benchmarks.beside_seam.adapters import OURS, SEAM, adapters, extensions
from benchmarks.machine import interpreters
from benchmarks.table import Check, Table, ratio, rows_of
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from benchmarks.dap_session.servers import Server

RUNS = 5
RATIO = 1.2
"""Times Seam's seconds, at most."""
BARE = "bare"
Times = dict[str, dict[str, list[float]]]
"""Question → subject → seconds of each run."""


def run(runs: int = RUNS) -> Table:
    """Ask every question of both, in turns."""
    python = interpreters.newest("3.13", "3.12")
    if python is None:
        raise HarnessError("Seam needs CPython 3.12 or newer.", "Have python3.13 or python3.12 on the PATH.")
    servers, missing = adapters(python)
    times: Times = {}
    with tempfile.TemporaryDirectory() as folder:
        extensions(python, Path(folder))
        for turn in range(runs):
            _note(times, BARE, questions.untouched(None, python))
            for server in servers if turn % 2 else reversed(servers):
                _ask(times, server, python, Path(folder))
    rows = tuple(row for question, seconds in times.items() for row in rows_of(question, seconds))
    return Table("seam", rows, tuple(_check(question, seconds) for question, seconds in times.items()), missing)


def _ask(times: Times, server: Server, python: str, folder: Path) -> None:
    _note(times, server.name, questions.steps(server, folder))
    _note(times, server.name, questions.first_into(server, folder))
    _note(times, server.name, questions.stack(server, python, folder))
    _note(times, server.name, questions.untouched(server, python))


def _note(times: Times, subject: str, found: questions.Seconds) -> None:
    for question, seconds in found.items():
        times.setdefault(question, {}).setdefault(subject, []).extend(seconds)


def _check(question: str, seconds: dict[str, list[float]]) -> Check:
    measured = ratio(seconds, OURS, SEAM) if SEAM in seconds else None
    bare = ""
    if BARE in seconds:
        bare = ", ".join(f"{name} {ratio(seconds, name, BARE):.2f}" for name in (OURS, SEAM) if name in seconds)
        bare = f" (to bare: {bare})"
    return Check(f"{question}: {OURS} to {SEAM}{bare}", measured, RATIO)
