"""What a breakpoint at an address of optimized code stands for: a line, in one of the functions that are inlined there.

gdb takes the innermost of them for where a thread stands, or for where a condition is computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import gdb

from pyharness.ingdb.functions.around import is_of_library

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.reading.binaries.line_table import Line


class _Asked:
    """The lines that breakpoints at addresses stand for. A gdb has one program: so they are one for it."""

    lines: ClassVar[dict[int, Line]] = {}
    depths: ClassVar[dict[int, int]] = {}
    """Into how many functions the one is inlined whose line it is, for an address where that is known."""


def note(asked: Line, depth: int | None) -> None:
    """Take a stop at the line's address for one at the line, of the function that is inlined into ``depth`` others.

    ``None``: of the innermost one that is not a library's, and has its line in that file.
    """
    _Asked.lines[asked.address] = asked
    if depth is None:
        _Asked.depths.pop(asked.address, None)
    else:
        _Asked.depths[asked.address] = depth


def forget(is_there: Callable[[int], bool]) -> None:
    """Forget addresses that are not there any more: a library has gone."""
    for pc in [pc for pc in _Asked.lines if not is_there(pc)]:
        del _Asked.lines[pc]
        _Asked.depths.pop(pc, None)


def is_asked(spec: str) -> bool:
    """Whether a place, ``*0x...`` for an address, is such a line's: gdb may take the function there for another one."""
    return spec.startswith("*") and int(spec[1:], 16) in _Asked.lines


def standing(frame: gdb.Frame) -> tuple[gdb.Frame, str, int] | None:
    """The frame, file and line of a thread whose newest frame is at such a place."""
    asked, depth = _Asked.lines.get(frame.pc()), _Asked.depths.get(frame.pc())
    if asked is None:
        return None
    frames = _inlined_into(frame)
    for inside, each in enumerate(frames, 1):
        outside = len(frames) - inside
        if outside == depth if depth is not None else _is_asked(each, asked.file, is_inlined=outside > 0):
            return each, asked.file, asked.line
    return None


def _inlined_into(frame: gdb.Frame) -> list[gdb.Frame]:
    """The frame, and those that it is inlined into."""
    found = [frame]
    while found[-1].type() == gdb.INLINE_FRAME and (older := found[-1].older()) is not None:
        found.append(older)
    return found


def _is_asked(frame: gdb.Frame, file: str, *, is_inlined: bool) -> bool:
    return not is_of_library(frame.name() or "", file) and file == _file_of(frame, is_inlined=is_inlined)


def _file_of(frame: gdb.Frame, *, is_inlined: bool) -> str:
    """The file of a function: an inlined one's symbol has the file that calls it, its frame that of its line."""
    function = frame.function()
    symtab = frame.find_sal().symtab if is_inlined or function is None else function.symtab
    return symtab.fullname() if symtab else ""
