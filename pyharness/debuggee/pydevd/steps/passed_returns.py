"""Steps out through code that debugpy never traces: what makes functions without a file, importlib, ``threading``.

Such a step waits for the return of the outermost frame that it passes. debugpy looks at no event of a frame that it
takes for its own or for a library's, whatever its rules say, and so the step would never end. That one frame is
watched here.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.pydevd.frames.trace_function import MONITORING
from pyharness.debuggee.pydevd.steps import unwound_steps
from pyharness.debuggee.thread_registry import REGISTRY
from pyharness.debuggee.unpatched import threading

if TYPE_CHECKING:
    from types import FrameType


def watch(debugger: Any) -> None:
    """From now on each step out of ``debugger`` ends in the caller, whatever it returns through."""
    original = debugger.do_wait_suspend

    @functools.wraps(original)
    def stands_for(thread: threading.Thread, *arguments: Any, **named: Any) -> Any:
        outcome = original(thread, *arguments, **named)
        _see_return(debugger, thread)
        return outcome

    debugger.do_wait_suspend = stands_for


def _see_return(debugger: Any, thread: threading.Thread) -> None:
    """Watch the frame whose return ends the step that begins, if debugpy does not."""
    info = getattr(thread, "additional_info", None)
    frame = None if info is None or not unwound_steps.is_out(info) else info.pydev_step_stop
    if frame is None or debugger.get_file_type(frame) is None:
        return
    if MONITORING:
        unwound_steps.watch_returns(frame.f_code)
    else:
        frame.f_trace = _traced


def _traced(frame: FrameType, event: str, _argument: Any) -> Any:
    """The trace function of the frame; it goes when the step is over."""
    thread = REGISTRY.active.get(threading.get_ident())
    info = getattr(thread, "additional_info", None)
    if thread is None or info is None or info.pydev_step_stop is not frame:
        return None
    if event == "return" and frame.f_back is not None:
        unwound_steps.step_on(thread, info, frame.f_back)
    return _traced
