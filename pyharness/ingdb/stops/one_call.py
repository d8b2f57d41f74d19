"""One call of a native function: a step to a line of it is not to end in another, such as one that it makes itself."""

from __future__ import annotations

from typing import Protocol

import gdb


class Calls(Protocol):
    """Calls of a native function of which alone a stop counts."""

    def is_another(self) -> bool:
        """Whether the selected thread stands in a call of the function that is none of them."""


class OneCall:
    """The call that a frame is of, which stands now."""

    def __init__(self, frame: gdb.Frame | None) -> None:
        self._frame = frame
        self._function = _function(frame) if frame else None

    def is_another(self) -> bool:
        """Whether the selected thread stands in another call of the same function."""
        newest = gdb.newest_frame()
        return self._frame is not None and newest != self._frame and _function(newest) == self._function


def _function(frame: gdb.Frame) -> tuple[str, int]:
    """Where the function is written, which all instances of a template share; its name, without debug information."""
    symbol = frame.function()
    return (symbol.symtab.filename, symbol.line) if symbol and symbol.symtab else (frame.name() or "", 0)
