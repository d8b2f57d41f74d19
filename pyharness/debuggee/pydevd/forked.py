"""Takes pydevd out of a forked child, in which none of its threads runs."""

from __future__ import annotations

import sys
from typing import Any

from pyharness.debuggee.pydevd.frames.monitored import MONITORED
from pyharness.debuggee.pydevd.frames.traced_frames import TRACED_FRAMES
from pyharness.debuggee.unpatched import threading

_monitoring: Any = getattr(sys, "monitoring", None)  # since Python 3.12


def let_go() -> None:
    """Have the child run on as without a debugger; its parent keeps its own."""
    if not _is_there():
        return
    import pydevd
    from _pydevd_bundle.pydevd_constants import after_fork

    debugger = pydevd.get_global_debugger()
    TRACED_FRAMES.end()
    MONITORED.end()
    after_fork()  # its locks may be held by threads that do not exist here
    pydevd.settrace_forked(setup_tracing=False)
    sys.settrace(None)
    threading.settrace(None)
    if _monitoring:
        _stop_monitoring()
    if debugger is not None:
        debugger.pydb_disposed = True  # what still refers to it does nothing


def _is_there() -> bool:
    """Whether pydevd was imported. Half of it has traced nothing, and its lock is held by a thread of the parent's."""
    pydevd = sys.modules.get("pydevd")
    return pydevd is not None and not getattr(pydevd.__spec__, "_initializing", False)


def _stop_monitoring() -> None:
    tool = _monitoring.DEBUGGER_ID
    if _monitoring.get_tool(tool) is not None:
        _monitoring.set_events(tool, 0)
        _monitoring.free_tool_id(tool)
