"""Watches lines with ``sys.monitoring`` (Python 3.12 on): code without a place runs at full speed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.running_frames import running_frames

if TYPE_CHECKING:
    from types import CodeType, FrameType

    from pyharness.debuggee.lines.line_stops import LineStops

_NAME = "pyharness"
_monitoring: Any = getattr(sys, "monitoring", None)


class Monitoring:
    """One monitoring tool: a code object is looked at when it first starts, then watched only if it has a place."""

    def __init__(self, stops: LineStops) -> None:
        from pyharness import _trap

        self._stops = stops
        self._combine = _trap.combine_instructions
        self._events = _monitoring.events
        # The debugger's own id when it is free: a program may run under coverage or a profiler.
        self._tool = next(tool for tool in (_monitoring.DEBUGGER_ID, 3, 4) if _monitoring.get_tool(tool) is None)
        _monitoring.use_tool_id(self._tool, _NAME)
        for event, callback in (
            (self._events.PY_START, self._started),
            (self._events.PY_RESUME, self._started),
            (self._events.LINE, self._line),
            (self._events.PY_RETURN, self._returned),
            (self._events.PY_UNWIND, self._unwound),
        ):
            _monitoring.register_callback(self._tool, event, callback)

    def refresh(self) -> None:
        """Look at every code object again: those that run now at once, the others when they next start."""
        events = 0
        if self._stops.steps or not self._stops.places.empty:
            events = self._events.PY_START | self._events.PY_RESUME
        if self._stops.steps:
            events |= self._events.PY_UNWIND  # cannot be asked for one code object alone
        _monitoring.set_events(self._tool, events)
        _monitoring.restart_events()
        for frame in running_frames():
            self._watch(frame)
            self._combine(frame.f_code)

    def _watch(self, frame: FrameType) -> None:
        if self._stops.wants(frame):
            events = self._events.LINE | (self._events.PY_RETURN if self._stops.steps else 0)
            _monitoring.set_local_events(self._tool, frame.f_code, events)

    def _started(self, code: CodeType, _offset: int) -> Any:
        self._watch(sys._getframe(1))
        # A step into whatever runs next is one thread's: what another thread starts first must be seen here again.
        if any(step.into for step in self._stops.steps.values()):
            return None
        self._combine(code)
        return _monitoring.DISABLE

    def _line(self, _code: CodeType, _line: int) -> Any:
        return None if self._stops.line(sys._getframe(1)) else _monitoring.DISABLE

    def _returned(self, _code: CodeType, _offset: int, _value: object) -> Any:
        if not self._stops.steps:
            return _monitoring.DISABLE
        self._stops.left(sys._getframe(1))
        return None

    def _unwound(self, _code: CodeType, _offset: int, _error: BaseException) -> None:
        self._stops.left(sys._getframe(1))
