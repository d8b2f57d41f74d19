"""What ran where no debugger sees it: behind the program's own trace function, and after the debugger's end.

Python joins pydevd's threads before it calls the functions of atexit, and pydevd takes itself away then.
"""

from __future__ import annotations

import atexit
import sys
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.pydevd.frames import trace_function
from pyharness.debuggee.thread_registry import REGISTRY
from pyharness.debuggee.unpatched import threading
from pyharness.model.user_code import is_user_python

if TYPE_CHECKING:
    from types import FrameType


class Unseen:
    """What no breakpoint can see in one program; noted on its main thread."""

    def __init__(self) -> None:
        self.at_exit: set[str] = set()
        """The files of which Python called code when it ended, as far as they can be the user's."""
        self._threads_are_traced = False

    def script_has_ended(self) -> None:
        """Look from now on; the last to be registered is the first to be called."""
        self._threads_are_traced = _has_taken_threads()
        atexit.register(self._begin)

    def end(self) -> None:
        """Look no more."""
        if sys.gettrace() == self._call:
            trace_function.set_trace(None)

    @property
    def traced(self) -> bool:
        """Whether the program has called ``sys.settrace``, or ``threading``'s.

        From Python 3.12 on these have no effect on debugpy.
        """
        if trace_function.MONITORING or "pydevd_tracing" not in sys.modules:
            return False
        import pydevd_tracing

        return self._threads_are_traced or bool(pydevd_tracing.TracingFunctionHolder._warnings_shown)

    def _begin(self) -> None:
        if not self.traced:  # else the program's own function may be at work
            trace_function.set_trace(self._call)

    def _call(self, frame: FrameType, _event: str, _argument: Any) -> None:
        if is_user_python(frame.f_code.co_filename):
            self.at_exit.add(frame.f_code.co_filename)


def _has_taken_threads() -> bool:
    """Whether the threads that begin now get another trace function than the debugger's."""
    if trace_function.MONITORING or not REGISTRY.is_shared or "pydevd" not in sys.modules:
        return False
    import pydevd

    debugger = pydevd.get_global_debugger()
    hook = threading.settrace.__globals__["_trace_hook"]  # Python 3.9 has no ``gettrace``
    return debugger is not None and not debugger.pydb_disposed and hook is not debugger.trace_dispatch


UNSEEN = Unseen()
