"""Local variables of a frame in either language as short text."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.printers.values import value_text
from pyharness.reading.stack.merge import NativeFrame

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.reading.python.frames import PythonFrame
    from pyharness.reading.python.threads import Python

MAX_TEXT = 200
MAX_VARIABLES = 64


class Variables:
    """Describes local variables: Python's from memory, native ones by gdb's debug information."""

    def __init__(self, python: Python | None) -> None:
        self._python = python

    def of(self, frame: NativeFrame | PythonFrame) -> tuple[tuple[str, str], ...]:
        """Name and text of each variable, in order."""
        if isinstance(frame, NativeFrame):
            return tuple(_native(frame.handle))
        return tuple(self._python.locals(frame)[:MAX_VARIABLES]) if self._python else ()


def _native(frame: gdb.Frame) -> Iterator[tuple[str, str]]:
    for symbol in islice(live_symbols(frame), MAX_VARIABLES):
        yield symbol.name, _text(symbol, frame)


def live_symbols(frame: gdb.Frame) -> Iterator[gdb.Symbol]:
    """Arguments and variables of the blocks around the frame's line, the innermost of each name."""
    seen: set[str] = set()
    line = frame.find_sal().line
    for symbol in _symbols(frame):
        unborn = symbol.is_variable and symbol.line >= line > 0  # declared further down, or by this very line
        if symbol.name not in seen and not unborn:
            seen.add(symbol.name)
            yield symbol


def _symbols(frame: gdb.Frame) -> Iterator[gdb.Symbol]:
    try:
        block: gdb.Block | None = frame.block()
    except RuntimeError:  # no debug information
        return
    while block is not None and not block.is_global and not block.is_static:
        yield from (symbol for symbol in block if symbol.is_variable or symbol.is_argument)
        if block.function:
            return
        block = block.superblock


def _text(symbol: gdb.Symbol, frame: gdb.Frame) -> str:
    try:
        line = value_text(symbol.value(frame))
    except (gdb.error, ValueError) as error:
        return f"<{error}>"
    return line if len(line) <= MAX_TEXT else line[: MAX_TEXT - 1] + "…"
