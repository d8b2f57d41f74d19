"""What ``sys.monitoring`` tells pydevd, kept to what pydevd needs (Python 3.12 on).

pydevd is called for each call and line of a function that has a breakpoint, and for each exception that leaves a
function where it shall stop at those that leave a thread. Our C half (``csrc/trap/monitoring/monitored.h``) stands in
front.
"""

from __future__ import annotations

import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.pydevd.frames.suspensions import any_thread_may_stop
from pyharness.debuggee.running_frames import running_frames

if TYPE_CHECKING:
    from types import CodeType

_monitoring: Any = getattr(sys, "monitoring", None)
_BEGINNERS = frozenset({"threading", "pydev_monkey", "pydevd", "pydevd_runpy", "runpy", "<frozen runpy>"})
"""The files of pydevd's and Python's whose functions call what a thread runs, as pydevd has them."""


class Monitored:
    """What one debugger is told; without our C half, all of it."""

    def __init__(self) -> None:
        self._debugger: Any = None
        self._trap: Any = None
        self._module: Any = None
        """pydevd's module; kept, as all here, for a program that empties ``sys.modules``."""
        self._update: Any = None
        """pydevd's function that says what it wants to hear."""
        self._restart: Any = None
        """pydevd's function that asks for all of it anew."""
        self._parts_of_name: Any = None
        self._start: Any = None
        self._line: Any = None
        self._unwind: Any = None
        """pydevd's callbacks."""

    def begin(self, debugger: Any) -> None:
        """From now on."""
        try:
            from pyharness import _trap
        except ImportError:
            return
        import pydevd_file_utils
        from _pydevd_bundle.pydevd_additional_thread_info import any_thread_stepping
        from _pydevd_sys_monitoring import pydevd_sys_monitoring

        self.end()
        self._debugger, self._trap = debugger, _trap
        self._parts_of_name = pydevd_file_utils.get_abs_path_real_path_and_base_from_file
        asked = any_thread_stepping, any_thread_may_stop, _begins_threads, _watches_lines
        _trap.begin_monitored(self._lines_in, *asked, _monitoring.DISABLE)
        self._module, self._update = pydevd_sys_monitoring, pydevd_sys_monitoring.update_monitor_events
        self._restart = pydevd_sys_monitoring.restart_events
        self._module.update_monitor_events, self._module.restart_events = self._updated, self._restarted
        self._stand_in_front()

    def end(self) -> None:
        """Tell pydevd everything again."""
        if self._debugger is not None:
            self._module.update_monitor_events, self._module.restart_events = self._update, self._restart
            self._debugger = self._start = self._line = self._unwind = None
            self._trap.end_monitored()

    def _updated(self, *arguments: Any, **named: Any) -> None:
        """Follow pydevd, which wants something else, or has other breakpoints: before it asks for all events anew."""
        self._update(*arguments, **named)
        self._stand_in_front()

    def _restarted(self) -> None:
        """Have the functions that run be as quick as those that start from now on: see ``superinstructions.h``."""
        self._restart()
        for frame in running_frames():
            self._trap.combine_instructions(frame.f_code)

    def _stand_in_front(self) -> None:
        debugger, tool = self._debugger, _monitoring.DEBUGGER_ID
        if debugger is None or _monitoring.get_tool(tool) != "pydevd":
            return
        if not debugger.has_plugin_line_breaks:
            self._line = _behind(_monitoring.events.LINE, self._trap.line_event, self._line)
            if not debugger.function_breakpoint_name_to_breakpoint:
                self._start = _behind(_monitoring.events.PY_START, self._trap.start_event, self._start)
                wanted = _monitoring.get_events(tool) & _monitoring.events.PY_RESUME
                _monitoring.register_callback(
                    tool, _monitoring.events.PY_RESUME, self._trap.resume_event if wanted else None
                )
        if not _stops_further_in(debugger):
            self._unwind = _behind(_monitoring.events.PY_UNWIND, self._trap.unwind_event, self._unwind)
        self._trap.change_monitored(self._start, self._line, self._unwind)

    def _lines_in(self, file: str) -> frozenset[int]:
        """The lines of breakpoints in the code of a file, by the name that its code objects have."""
        debugger = self._debugger
        return frozenset(debugger.breakpoints.get(self._parts_of_name(file)[1], ())) if debugger else frozenset()


def _behind(event: int, stands: Any, known: Any) -> Any:
    """Put ``stands`` in the place of pydevd's callback, which is returned; where pydevd wants none, ``known`` is."""
    found = _monitoring.register_callback(_monitoring.DEBUGGER_ID, event, stands)
    if found is None:
        _monitoring.register_callback(_monitoring.DEBUGGER_ID, event, None)
    return known if found is None or found is stands else found


def _begins_threads(file: str) -> bool:
    return PurePath(file).stem in _BEGINNERS


def _watches_lines(code: CodeType) -> bool:
    """Whether pydevd hears of the lines of ``code``; of jumps, for which it asks too, it does not from 3.13 on."""
    tool, event = _monitoring.DEBUGGER_ID, _monitoring.events
    events: int = _monitoring.get_local_events(tool, code)
    if events & event.JUMP and sys.version_info >= (3, 13):  # each costs 12 ns
        _monitoring.set_local_events(tool, code, events & ~event.JUMP)
    return bool(events & event.LINE)


def _stops_further_in(debugger: Any) -> bool:
    """Whether it stops at exceptions that leave no thread, too."""
    return bool(
        debugger.break_on_caught_exceptions
        or debugger.break_on_user_uncaught_exceptions
        or debugger.has_plugin_exception_breaks
    )


MONITORED = Monitored()
