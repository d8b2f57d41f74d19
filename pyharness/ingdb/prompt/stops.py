"""Runs the program on to its next stop and says where that is, in either language."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import console, terminal
from pyharness.ingdb.functions.trap_line import PythonLine, current_line
from pyharness.ingdb.prompt import places
from pyharness.ingdb.settings import temporarily
from pyharness.model.errors import HarnessError
from pyharness.model.source_map import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator


class ProgramEndedError(HarnessError):
    """The program ended where a command expected it to stop."""


@dataclass
class _Watch:
    """What gdb's events told since the program was last resumed."""

    driving: bool = False
    """A command of ours resumed the program and reports the stop itself."""
    event: gdb.StopEvent | None = None
    exited: gdb.ExitedEvent | None = None


_watch = _Watch()


def start() -> None:
    """Listen to gdb's events; once per gdb."""
    gdb.events.stop.connect(_on_stop)
    gdb.events.exited.connect(_on_exit)


def driving() -> bool:
    """Whether a command of ours resumed the program, and will itself say how that ended."""
    return _watch.driving


def resume(command: str = "continue") -> None:
    """Run ``command``, which lets the program go on, and come back when it has stopped.

    ``ProgramEndedError`` when it ended instead.
    """
    _watch.event = _watch.exited = None
    _watch.driving = True
    try:
        with temporarily("suppress-cli-notifications", "on"):
            console.run(command)
    finally:
        _watch.driving = False
    if _watch.exited is not None:
        raise ProgramEndedError(f"The program ended {_how(_watch.exited)}.", "\n".join(places.unreached()))


def interrupted() -> bool:
    """Whether the last stop was no step's end: a breakpoint or a signal came first."""
    return isinstance(_watch.event, (gdb.BreakpointEvent, gdb.SignalEvent))


def report(note: str = "") -> None:
    """Print where the program stopped, and why where that needs saying."""
    for line in _lines(note):
        terminal.write(line)


def _lines(note: str) -> Iterator[str]:
    python = current_line()
    if isinstance(_watch.event, gdb.SignalEvent):
        yield f"Signal {_watch.event.stop_signal}"
    if python is not None:
        yield from describe(python)
    else:
        yield console.run("frame").rstrip("\n")
    if note:
        yield f"Note: {note}"


def describe(python: PythonLine) -> Iterator[str]:
    """A Python line as gdb shows a native one; with its node, module and origin where torch.fx generated it."""
    numbers = ", ".join(str(number) for number in python.stops)
    head = f"Breakpoint {numbers}, " if numbers else ""
    yield f"{head}{python.function} () at {python.file}:{python.line}"
    is_file = Path(python.file).is_file()  # a pipe would keep gdb waiting
    source = linecache.getline(python.file, python.line).rstrip("\n") if is_file else ""
    if source:
        yield f"{python.line}\t{source}"
    place = place_of(python.file, python.line)
    if place is not None:
        module = "" if place.module is None else f", module {place.module or '(root)'}"
        yield f"\tfx node {place.node}{module}{f', from {place.origin}' if place.origin else ''}"
    for note in python.notes:
        yield f"Note: {note}"


def _on_stop(event: gdb.StopEvent) -> None:
    _watch.event = event
    python = None if _watch.driving else current_line()
    if python is not None:
        linecache.checkcache(python.file)
        for line in describe(python):
            terminal.write(line)


def _on_exit(event: gdb.ExitedEvent) -> None:
    _watch.exited = event


def _how(event: gdb.ExitedEvent) -> str:
    code = getattr(event, "exit_code", None)
    return "by a signal" if code is None else f"with exit code {code}"
