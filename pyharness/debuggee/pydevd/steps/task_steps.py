"""Steps that leave a task of asyncio: they end in the coroutine that waits for it, not in the next one that runs."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.pydevd.steps.waiters import current_task, is_outermost, waiter_of
from pyharness.debuggee.unpatched import threading

if TYPE_CHECKING:
    from types import FrameType


class TaskSteps:
    """The steps under way that began in the outermost coroutine of a task, one a thread."""

    def __init__(self) -> None:
        self._begun: dict[int, FrameType] = {}

    def stands(self) -> None:
        """The step of this thread has ended."""
        self._begun.pop(threading.get_ident(), None)

    def begins(self, thread: threading.Thread, frame: FrameType) -> bool:
        """Go on from ``frame`` on this thread; whether its step has yet to end in another coroutine.

        *Out* goes to that one at once. *Over* goes there when the coroutine ends.
        """
        from _pydevd_bundle import pydevd_comm_constants as commands

        info: Any = getattr(thread, "additional_info", None)
        if info is None or not frame.f_code.co_flags & inspect.CO_COROUTINE or not is_outermost(frame):
            return False
        if info.pydev_step_cmd in (commands.CMD_STEP_RETURN, commands.CMD_STEP_RETURN_MY_CODE):
            _go_on(thread, info)
        elif info.pydev_step_cmd in (commands.CMD_STEP_OVER, commands.CMD_STEP_OVER_MY_CODE):
            self._begun[threading.get_ident()] = frame
            return True
        return False

    def ended(self, frame: FrameType) -> bool:
        """A coroutine has returned or raised; whether a step has gone on from it to the one that waits for its task."""
        if self._begun.get(threading.get_ident()) is not frame:
            return False
        del self._begun[threading.get_ident()]
        thread = threading.current_thread()
        return _go_on(thread, thread.additional_info)  # type: ignore[attr-defined]  # pydevd's


STEPS = TaskSteps()


def _go_on(thread: threading.Thread, info: Any) -> bool:
    """Have the step end at the next line of the coroutine that waits for this task, if there is one."""
    import pydevd
    from _pydevd_bundle.pydevd_comm_constants import CMD_STEP_OVER

    waiter = waiter_of(current_task())
    debugger = pydevd.get_global_debugger()
    if waiter is None or debugger is None:
        return False
    info.pydev_step_cmd, info.pydev_step_stop = CMD_STEP_OVER, waiter
    info.update_stepping_info()
    debugger.set_trace_for_frame_and_parents(thread.ident, waiter)
    return True
