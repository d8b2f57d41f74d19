"""Steps out of native code into a Python line that does nothing more, as ``return call()``: they end in the caller.

debugpy's step waits for the next line of the frame. On the Pythons with a trace function it takes the frame's return
for the beginning of a step into whatever comes: the callers whose line is done, too, are passed.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.pydevd.frames.trace_function import MONITORING
from pyharness.debuggee.pydevd.steps import unwound_steps

if TYPE_CHECKING:
    from types import FrameType

_WAITS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""Kinds of functions that return to nobody where they only wait."""


def stop_at_return(frame: FrameType) -> None:
    """Have the step that is armed now stop in the caller of ``frame``, where that returns without another line."""
    if not MONITORING and not frame.f_code.co_flags & _WAITS and not isinstance(frame.f_trace, Watched):
        frame.f_trace = Watched(frame.f_trace)


class Watched:
    """Trace function of a frame: that of debugpy's, and its return."""

    def __init__(self, traced: Any) -> None:
        self.traced = traced
        self._raised = False
        """Whether an exception may be what leaves the frame."""

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Take one event."""
        if event in {"exception", "line"}:
            self._raised = event == "exception"
        elif event == "return" and not self._raised and _waits_for(frame):
            return None
        if self.traced is not None:
            self.traced(frame, event, argument)
        return self


def _waits_for(frame: FrameType) -> bool:
    """Stop in the caller, if the step waits for the next line of ``frame``; whether it did."""
    from _pydevd_bundle.pydevd_comm_constants import CMD_STEP_OVER, CMD_STEP_RETURN

    thread, info = unwound_steps.stepping()
    if info is None or frame.f_back is None:
        return False
    if info.pydev_step_stop is not frame or info.pydev_step_cmd != CMD_STEP_OVER:
        return False
    info.pydev_step_cmd = info.pydev_original_step_cmd = CMD_STEP_RETURN
    unwound_steps.step_on(thread, info, frame.f_back)
    return True
