"""Watches lines with ``sys.settrace``, for Pythons before 3.12: lines are traced only in frames that have a place."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.unpatched import threading

if TYPE_CHECKING:
    from types import FrameType

    from pyharness.debuggee.lines.line_stops import LineStops


class Tracing:
    """The tracer of this thread and of the threads that ``threading`` starts later.

    A thread that already ran when the first place was asked for is not watched: Python 3.10 and 3.11 cannot do that.
    """

    def __init__(self, stops: LineStops) -> None:
        self._stops = stops

    def refresh(self) -> None:
        """Trace calls while anything may stop, and the lines of the frames that already run."""
        wanted = bool(self._stops.steps) or not self._stops.places.empty
        threading.settrace(self._call if wanted else None)
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if self._stops.wants(frame):
                frame.f_trace = self._line
            elif frame.f_trace == self._line:
                frame.f_trace = None
            frame = frame.f_back
        sys.settrace(self._call if wanted else None)  # last: what is called before is ours

    def _call(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        return self._line if self._stops.wants(frame) else None

    def _line(self, frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line":
            self._stops.line(frame)
            if not self._stops.steps and self._stops.places.empty:
                sys.settrace(None)  # a step without any place has ended: full speed again
        elif event == "return":
            self._stops.left(frame)
        return self._line
