"""What the debugger itself calls in the program, of libraries of others: nobody wants to stop there."""

from __future__ import annotations

import gdb

from pyharness.ingdb.stack import backtrace
from pyharness.model.plumbing import calls_for_debugger


class CallsOfTheProgram:
    """Calls of a function that Python, torch or the system has, and the debugger's part in the program calls, too."""

    @staticmethod
    def is_another() -> bool:
        """Whether the selected thread runs code of the debugger's, as far as its Python frames tell."""
        backtrace.forget_threads()  # gdb tells of no stop that does not become one
        loops = backtrace.loops_of(gdb.selected_thread())
        return calls_for_debugger(frame.file for loop in loops for frame in loop.frames)
