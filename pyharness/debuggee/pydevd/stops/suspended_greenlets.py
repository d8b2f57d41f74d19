"""Breakpoints in functions that stand in a greenlet that another one has switched away from.

No thread has such frames on its stack, so debugpy does not find them when a breakpoint is set; and they go on without
an event that would tell.
"""

from __future__ import annotations

import functools
import gc
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.unpatched import threading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


def watch(debugger: Any) -> None:
    """From now on a breakpoint of ``debugger`` is seen in these frames too."""
    original = debugger.on_breakpoints_changed

    @functools.wraps(original)
    def stands_for(*arguments: Any, **named: Any) -> Any:
        outcome = original(*arguments, **named)
        for frame in _frames():
            _forget_events(frame)
            debugger.set_trace_for_frame_and_parents(threading.main_thread().ident, frame)
        return outcome

    debugger.on_breakpoints_changed = stands_for


def _forget_events(frame: FrameType) -> None:
    """``sys.monitoring`` starts afresh where events change, not where a session before has left the same ones."""
    monitoring: Any = getattr(sys, "monitoring", None)
    outer: FrameType | None = frame
    while outer is not None and monitoring is not None and monitoring.get_tool(monitoring.DEBUGGER_ID) is not None:
        monitoring.set_local_events(monitoring.DEBUGGER_ID, outer.f_code, 0)
        outer = outer.f_back


def _frames() -> Iterator[FrameType]:
    """The innermost frame of each greenlet that is suspended."""
    kind = getattr(sys.modules.get("greenlet"), "greenlet", None)
    if not isinstance(kind, type):
        return
    for each in gc.get_objects():
        if issubclass(type(each), kind):
            with suppress(Exception):  # it is the program's own kind of greenlet
                frame = each.gr_frame
                if frame is not None:
                    yield frame
