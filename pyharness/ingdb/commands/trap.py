"""The breakpoints on the C function that a program calls at a Python line where it shall stop (csrc/breakpoints)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import gdb

if TYPE_CHECKING:
    from collections.abc import Callable

_Made = TypeVar("_Made", bound=gdb.Breakpoint)

FUNCTION = "pyharness_python_line"
_ENDS = "pyharness_program_ends"
_ARGUMENTS = {"i386:x86-64": ("rdi", "rsi", "rdx", "rcx"), "aarch64": ("x0", "x1", "x2", "x3")}
"""Registers of a function's first arguments: the trap has no debug info, so that stepping never enters it."""
_PAGE = 4096
_MAX_TEXT = 1 << 16


@dataclass(frozen=True)
class PythonLine:
    """The Python line that a thread is about to run."""

    file: str
    line: int
    function: str
    stops: tuple[int, ...] = ()
    """gdb's numbers of the places that are here."""
    step: bool = False
    notes: tuple[str, ...] = ()


def current_line() -> PythonLine | None:
    """The Python line at which the selected thread stopped, or ``None`` when it stopped elsewhere."""
    frame = _newest()
    if frame is None or frame.name() != FUNCTION:
        return None
    why: dict[str, Any] = json.loads(_text(frame, 3))
    return PythonLine(
        _text(frame, 0), _argument(frame, 1), _text(frame, 2), tuple(why["stops"]), why["step"], tuple(why["notes"])
    )


class PythonPlace(gdb.Breakpoint):
    """A place of the person's on the Python side: ``info breakpoints``, ``delete``, ``ignore`` work on it as on any."""

    def __init__(self) -> None:
        super().__init__(FUNCTION)
        self.silent = True  # we print the Python line, not the C function

    def stop(self) -> bool:
        """Whether the line that is about to run is this place."""
        line = current_line()
        return line is not None and self.number in line.stops


class StepEnd(gdb.Breakpoint):
    """Where a step that came to Python ends."""

    def __init__(self) -> None:
        super().__init__(FUNCTION, internal=True)
        self.silent = True

    def stop(self) -> bool:
        """Whether a step ends at the line that is about to run."""
        line = current_line()
        return line is not None and line.step


class ProgramEnds(gdb.Breakpoint):
    """Reads which places the program never reached, as it ends; it never stops there."""

    def __init__(self) -> None:
        super().__init__(_ENDS, internal=True)
        self.silent = True
        self.hints: dict[int, str] = {}

    def stop(self) -> bool:
        """Keep the program's report, and let it end."""
        frame = _newest()
        if frame is not None:
            self.hints = {entry["id"]: entry["hint"] for entry in json.loads(_text(frame, 0))["unreached"]}
        return False


_own: list[StepEnd | ProgramEnds] = []


def watch() -> None:
    """Set our own breakpoints, once: at the first command that needs them, so that a gdb without them is as it was."""
    if not _own:
        _own.extend([quietly(StepEnd), quietly(ProgramEnds)])


def hints() -> dict[int, str]:
    """What the program said, as it ended, of the places that it never reached."""
    return next((own.hints for own in _own if isinstance(own, ProgramEnds)), {})


def _newest() -> gdb.Frame | None:
    try:
        return gdb.newest_frame()
    except gdb.error:
        return None


def _argument(frame: gdb.Frame, index: int) -> int:
    """An integer or pointer argument, valid at the first instruction of a function."""
    register = _ARGUMENTS[frame.architecture().name()][index]
    value = int(frame.read_register(register))
    return value & 0xFFFF_FFFF if index == 1 else value & 0xFFFF_FFFF_FFFF_FFFF


def _text(frame: gdb.Frame, index: int) -> str:
    """A string argument, read page by page: it may end just before memory that is not there."""
    address, text = _argument(frame, index), b""
    while len(text) < _MAX_TEXT:
        size = _PAGE - address % _PAGE
        part, end, _ = bytes(gdb.selected_inferior().read_memory(address, size)).partition(b"\0")
        text += part
        if end:
            break
        address += size
    return text.decode(errors="replace")


def quietly(make: Callable[[], _Made]) -> _Made:
    """Make a breakpoint without gdb's remark that its function is not there yet: it will be."""
    made: list[_Made] = []
    _to_make.append(lambda: made.append(make()))
    gdb.execute(f"python import {__name__} as _trap; _trap._to_make.pop()()", to_string=True)
    return made[0]


_to_make: list[Callable[[], None]] = []
