"""The line of the user's that called a collective, by the traceback that the flight recorder keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.user_code import is_user_python
from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.reading.collectives.layout import RecorderLayout
    from pyharness.reading.python.threads import Python

_FRAME_SIZE, _MAX_FRAMES = 16, 500


def caller(python: Python, traceback: int, layout: RecorderLayout) -> str:
    """``FILE:LINE`` of the innermost frame that is not torch's or Python's own; empty where none is known."""
    try:
        return next(_places(python, traceback, layout), "") if traceback else ""
    except UnreadableError:
        return ""


def _places(python: Python, traceback: int, layout: RecorderLayout) -> Iterator[str]:
    codes, memory = python.frames.codes, python.memory
    start, end = memory.pointer(traceback + layout.frames), memory.pointer(traceback + layout.frames + 8)
    for frame in range(start, min(end, start + _FRAME_SIZE * _MAX_FRAMES), _FRAME_SIZE):
        address = memory.pointer(frame)
        code = codes.at(address)
        if is_user_python(code.file):
            yield f"{code.file}:{codes.line(address, memory.signed(frame + 8, 4))}"
