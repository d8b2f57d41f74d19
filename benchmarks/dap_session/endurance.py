"""A thousand steps in a row through both languages: whether they get slower, and whether the adapter grows."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.dap_session.stand import Stand

STEPS, WINDOW = 1000, 100
TURN = ("stepIn", "next", "next", "stepOut", "next", "stepIn", "next", "stepOut")
"""From the line of the op: into its kernel, along, out; on to a Python function: into it, along, out; then around."""


@dataclass(frozen=True)
class Size:
    """What the adapter and the debuggers below it hold; the program is not counted."""

    resident: int
    """Bytes."""
    descriptors: int
    processes: int


@dataclass(frozen=True)
class Endurance:
    """Milliseconds of every step, and sizes after the first window and after the last."""

    seconds: list[float]
    before: Size
    after: Size

    @property
    def first(self) -> float:
        """Median of the first window, in seconds."""
        return statistics.median(self.seconds[:WINDOW])

    @property
    def last(self) -> float:
        """Median of the last window, in seconds."""
        return statistics.median(self.seconds[-WINDOW:])


def endure(stand: Stand, program: str, steps: int = STEPS) -> Endurance:
    """Step ``steps`` times from the op's line, around the loop; ``program`` is what the debuggee's command line has."""
    seconds: list[float] = []
    before = None
    for command in _around(stand, program):
        seconds.append(stand.step(command))
        if len(seconds) == WINDOW:
            before = size_of(stand.client.pid, program)
        if len(seconds) >= steps:
            break
    after = size_of(stand.client.pid, program)
    return Endurance(seconds, before or after, after)


def _around(stand: Stand, program: str) -> Iterator[str]:
    """The steps of one turn of the loop after another."""
    line = stand.frames(1)[0]["line"]
    while True:
        yield from TURN
        while (frame := stand.frames(1)[0])["line"] != line or not frame["source"]["path"].endswith(program):
            yield "next"


def size_of(pid: int, program: str) -> Size:
    """The size of a process and all below it, without the debuggee."""
    pids = [each for each in _tree(pid) if program not in _command_line(each)]
    resident = sum(_resident(each) for each in pids)
    return Size(resident, sum(len(list(Path(f"/proc/{each}/fd").iterdir())) for each in pids), len(pids))


def _tree(pid: int) -> Iterator[int]:
    yield pid
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield from _tree(int(child))


def _command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")


def _resident(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))
