"""A child that the program forks is nobody's to debug: it runs on, and stops nowhere."""

from __future__ import annotations

import os
import resource
import sys
import threading
from pathlib import Path
from typing import Any

_monitoring: Any = getattr(sys, "monitoring", None)


_registered: list[int] = []


def let_children_go() -> None:
    """From now on a forked child stops nowhere; without this it would wait for ever at its first breakpoint.

    Where children are to be debugged, it then tells the debugger that it is there.
    """
    if not _registered:
        _registered.append(os.getpid())
        os.register_at_fork(after_in_child=_begin)


def children_ended() -> int:
    """A number that grows with each child process that ends: the memory that they used for the first time."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt


def had_children(before: int) -> bool:
    """Whether this process started others since ``children_ended`` was ``before``, or has some that run still."""
    return children_ended() > before or any(
        listed.read_text(encoding="ascii") for listed in Path("/proc/self/task").glob("*/children")
    )


def _begin() -> None:
    _let_go()
    if "pyharness.debuggee.link.seat" in sys.modules:
        from pyharness.debuggee.link import quiet_thread
        from pyharness.debuggee.link.seat import SEAT

        quiet_thread.forget()
        SEAT.forget()
    if "pyharness.debuggee.link.served" in sys.modules:
        from pyharness.debuggee.link import served

        served.forget()
    if "PYHARNESS_CHILDREN" in os.environ:
        from pyharness.debuggee.link import children

        children.greet(children.name_of_forked())


def _let_go() -> None:
    if "pydevd" not in sys.modules:
        return
    import pydevd
    from _pydevd_bundle.pydevd_constants import after_fork

    debugger = pydevd.get_global_debugger()
    after_fork()  # its locks may be held by threads that do not exist here
    pydevd.settrace_forked(setup_tracing=False)
    sys.settrace(None)
    threading.settrace(None)
    if _monitoring:
        _stop_monitoring()
    if debugger is not None:
        debugger.pydb_disposed = True  # what still refers to it does nothing


def _stop_monitoring() -> None:
    tool = _monitoring.DEBUGGER_ID
    if _monitoring.get_tool(tool) is not None:
        _monitoring.set_events(tool, 0)
        _monitoring.free_tool_id(tool)
