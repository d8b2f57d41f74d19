"""The native frames that run functions of Python."""

from __future__ import annotations

import gdb

from pyharness.ingdb.functions.native_names import UNKNOWN, name_of
from pyharness.ingdb.stack.backtrace import loops_of, stack_pointer

_EVALUATES = "_PyEval_EvalFrame"


def runs_python(frame: gdb.Frame) -> bool:
    """Whether a frame of the selected thread is a run of the interpreter's loop.

    In an interpreter without symbols such a frame may have no name, as in Debian's Python 3.14.
    """
    name = name_of(frame)[0]
    if name.startswith(_EVALUATES):
        return True
    return name == UNKNOWN and holds_loop(frame)


def holds_loop(frame: gdb.Frame) -> bool:
    """Whether what the interpreter notes on the stack for a run of its loop is in a frame of the selected thread."""
    pointer, above = stack_pointer(frame), stack_pointer(frame.older())
    if pointer is None or above is None:
        return False
    markers = (loop.marker for loop in loops_of(gdb.selected_thread()))
    return any(marker is not None and pointer <= marker < above for marker in markers)
