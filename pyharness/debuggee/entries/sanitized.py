"""Hears of what a sanitizer's runtime finds in this program: the library ``_sanitized`` is told, and has it reported.

``pyharness run --asan`` has preloaded both. Where a Python keeps its frames is what reads a program from outside knows.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

from pyharness.model.errors import HarnessError
from pyharness.native.load import load
from pyharness.reading.python.layout import Layout, debug_offsets_layout, table_layout

LIBRARY = "_sanitized.abi3.so"
_NONE = -1


class _PythonLayout(ctypes.Structure):
    """``PythonLayout`` of csrc/sanitized/call_stacks.h."""

    _fields_ = tuple(
        (name, ctypes.c_int64) for name in ("loop", "frame", "previous", "code", "instruction", "last_instruction")
    )


def begin() -> None:
    """Have reports told to whom ``watch_crashes`` tells of crashes; ``HarnessError`` where no runtime is loaded."""
    guard = _guard()
    library = _library(guard)
    this_state = ctypes.cast(ctypes.pythonapi.PyGILState_GetThisThreadState, ctypes.c_void_p)
    tell = ctypes.cast(ctypes.CDLL(guard).pyharness_tell_of, ctypes.c_void_p)
    library.pyharness_sanitized_begin.restype = ctypes.c_bool
    if not library.pyharness_sanitized_begin(ctypes.byref(_python_layout(_layout())), this_state, tell):
        raise HarnessError("No sanitizer's runtime is in this program.", "`pyharness run --asan SCRIPT` preloads it.")


def count() -> int:
    """How many errors have been found in this process."""
    library = _library(_guard())
    library.pyharness_sanitized_count.restype = ctypes.c_uint64
    return int(library.pyharness_sanitized_count())


def _guard() -> str:
    file = load("_guard").__file__
    if file is None:
        raise HarnessError("The module _guard has no file.")
    return file


def _library(guard: str) -> ctypes.CDLL:
    return ctypes.CDLL(str(Path(guard).with_name(LIBRARY)))


def _layout() -> Layout:
    runtime = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime"))
    return debug_offsets_layout(ctypes.string_at, runtime) or table_layout(sys.version_info[:2])


def _python_layout(layout: Layout) -> _PythonLayout:
    by_index = layout.version <= (3, 10)
    loop, frame = _NONE, "thread.frame"
    if "thread.current_frame" in layout:
        frame = "thread.current_frame"
    elif not by_index:
        loop, frame = layout["thread.cframe"], "cframe.current_frame"
    at = layout["frame.instruction"]
    return _PythonLayout(
        loop,
        layout[frame],
        layout["frame.previous"],
        layout["frame.code"],
        _NONE if by_index else at,
        at if by_index else _NONE,
    )
