"""What it takes to have the debugger: pip into a fresh environment, on a PATH without a compiler, beside its peers.

``make wheel`` makes what is installed. Everything is fetched anew. The peers: Seam, and pystack with py-spy, which show
stacks only. gdb and Seam's LLDB come from the distribution, and are not counted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.machine import interpreters
from benchmarks.machine.environments import fresh
from benchmarks.peers import SEAM, STACKS
from benchmarks.table import Check, Table, ratio, rows_of, take_turns
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DIST = Path(__file__).resolve().parent.parent / "dist"
OURS, WITH_GDB = "pyharness", "pyharness with its [gdb]"
PEERS = {"Seam": [SEAM], "pystack and py-spy": STACKS}
RUNS = 3
LIMIT_S = 15.0
RATIO = 10.0
"""Times a peer's seconds, at most: neither brings a debugger for Python, nor pages and tables."""


def run(runs: int = RUNS) -> Table:
    """Install each in turns, with one interpreter; then look at what came along."""
    wheel = _wheel()
    python = interpreters.newest("3.13", "3.12")
    subjects = {OURS: [wheel], WITH_GDB: [f"{wheel}[gdb]"], **PEERS}
    missing = [] if python else ["Seam is not available: it needs python3.12 or python3.13 on the PATH"]
    if not python:
        del subjects["Seam"]
    seconds = take_turns({name: _pip(python, words) for name, words in subjects.items()}, runs, warmups=0)
    rows = rows_of("pip install", seconds, "s")
    checks = [Check("seconds to install", rows[0].median, LIMIT_S)]
    checks += [
        Check(f"of the time of {name}", ratio(seconds, OURS, name) if name in seconds else None, RATIO)
        for name in PEERS
    ]
    return Table("install", rows, (*checks, *_torch(wheel)), tuple(missing))


def _wheel() -> str:
    found = sorted(DIST.glob("*.whl"))
    if len(found) != 1:
        raise HarnessError(f"There is not one wheel in {DIST}, but {len(found)}.", "Run `make wheel` first.")
    return str(found[0])


def _pip(python: str | None, words: Sequence[str]) -> Callable[[], float]:
    def install() -> float:
        with fresh(python or sys.executable) as environment:
            return environment.install(words)

    return install


def _torch(wheel: str) -> tuple[Check, ...]:
    """Whether torch is left alone: where there is none, and where there is one."""
    with fresh(sys.executable) as environment:
        environment.install([wheel])
        brought = {name for name in environment.packages() if name.startswith(("torch", "nvidia", "triton"))}
    with fresh(sys.executable) as environment:
        environment.see_ours()
        before = environment.torch()
        environment.install([wheel])
        changed = environment.torch() != before
    return (
        Check("packages of torch's that it brings", len(brought), 0),
        Check("changes of the torch that is there", int(changed), 0),
    )
