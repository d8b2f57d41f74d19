"""Steps whose function ends without debugpy's notice.

With ``sys.monitoring`` (Python 3.12 on) debugpy sees a function return, not raise. With a trace function it takes an
exception in a generator or a coroutine for a wait. A task that ends is nobody's callee: see ``task_steps``.
"""

from __future__ import annotations

import atexit
import inspect
import opcode
import sys
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.pydevd.steps import task_steps
from pyharness.debuggee.thread_registry import REGISTRY
from pyharness.debuggee.unpatched import threading

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

_NAME = "pyharness steps"
_monitoring: Any = getattr(sys, "monitoring", None)
_RETURNS = opcode.opmap["RETURN_VALUE"]


def watch() -> None:
    """From now on a step that an exception takes out of its function ends in the caller, as its return would."""
    if _monitoring is None or _tool() is not None:
        return
    free = [tool for tool in (4, 3) if _monitoring.get_tool(tool) is None]
    if not free:
        return  # the program's own tools have them all: such a step runs on, as with debugpy alone
    _monitoring.use_tool_id(free[0], _NAME)
    _monitoring.register_callback(free[0], _monitoring.events.PY_UNWIND, _while_stepping(_unwound))
    _monitoring.register_callback(free[0], _monitoring.events.PY_RETURN, _returned)  # in code for which it is asked
    _monitoring.register_callback(free[0], _monitoring.events.PY_YIELD, _yielded)  # likewise
    _monitoring.set_events(free[0], _monitoring.events.PY_UNWIND)
    atexit.register(forget)  # functions unwind until Python has taken this module down


def _while_stepping(callback: Callable[..., object]) -> Callable[..., object]:
    """Have C ask whether anybody steps, whenever an exception leaves a function: that is a fifth of the time."""
    try:
        from pyharness import _trap
    except ImportError:
        return callback
    return _trap.while_stepping(callback)


def forget() -> None:
    """No more."""
    if _monitoring is not None and (tool := _tool()) is not None:
        _monitoring.set_events(tool, 0)
        for event in (_monitoring.events.PY_UNWIND, _monitoring.events.PY_RETURN, _monitoring.events.PY_YIELD):
            _monitoring.register_callback(tool, event, None)
        _monitoring.free_tool_id(tool)


def watch_returns(code: CodeType) -> None:
    """A step that waits for a frame of ``code`` to end does so in the caller, also where debugpy sees no return."""
    if (tool := _tool()) is not None:
        _monitoring.set_local_events(tool, code, _monitoring.events.PY_RETURN | _monitoring.events.PY_YIELD)


def is_out(info: Any) -> bool:
    """Whether the step of a thread leaves a function."""
    from _pydevd_bundle import pydevd_comm_constants as commands

    return info.pydev_step_cmd in (commands.CMD_STEP_RETURN, commands.CMD_STEP_RETURN_MY_CODE)


def _tool() -> int | None:
    return next((tool for tool in (4, 3) if _monitoring.get_tool(tool) == _NAME), None)


def begins(thread: threading.Thread, frame: FrameType) -> None:
    """A thread goes on from ``frame``, perhaps with a step."""
    if not task_steps.STEPS.begins(thread, frame) or _monitoring is None:
        return
    if (tool := _tool()) is not None:
        _monitoring.set_local_events(tool, frame.f_code, _monitoring.events.PY_RETURN)


def left(frame: FrameType, raises: bool) -> None:  # noqa: FBT001  (C calls it)
    """A generator or a coroutine has returned, raised or begun to wait, on the Pythons with a trace function."""
    if raises:
        _ended(frame)
    elif frame.f_code.co_code[frame.f_lasti] == _RETURNS:
        task_steps.STEPS.ended(frame)


def _returned(code: CodeType, _offset: int, _value: object) -> None:
    frame = sys._getframe(1)
    if task_steps.STEPS.ended(frame) or (not _left(frame) and not code.co_flags & inspect.CO_COROUTINE):
        _monitoring.set_local_events(_tool(), code, 0)


def _yielded(code: CodeType, _offset: int, _value: object) -> None:
    if not _left(sys._getframe(1)):
        _monitoring.set_local_events(_tool(), code, 0)


def _unwound(_code: CodeType, _offset: int, _error: BaseException) -> None:
    _ended(sys._getframe(1))


def _ended(frame: FrameType) -> None:
    """An exception has ended ``frame``: a step that belongs to it goes on, as debugpy's would where it returns."""
    if stepping()[1] is not None and not task_steps.STEPS.ended(frame):
        _left(frame)


def _left(frame: FrameType) -> bool:
    """Go on with the step that waits for ``frame`` to end; whether there is one."""
    thread, info = stepping()
    if info is None or info.pydev_step_stop is not frame or frame.f_back is None:
        return False
    step_on(thread, info, frame.f_back)
    return True


def stepping() -> tuple[Any, Any]:
    """The current thread and what pydevd notes on it, ``None`` where it does not step."""
    thread = REGISTRY.active.get(threading.get_ident())
    info = getattr(thread, "additional_info", None)
    return thread, info if info is not None and info.pydev_step_cmd != -1 else None


def step_on(thread: threading.Thread, info: Any, caller: FrameType) -> None:
    """Step on as debugpy's trace function does where a function ends: *out* stops there, *over* at the next line."""
    import pydevd
    from _pydevd_bundle import pydevd_comm_constants as commands

    debugger = pydevd.get_global_debugger()
    if debugger is None or debugger.pydb_disposed:
        return
    if is_out(info) and not debugger.apply_files_filter(
        caller, caller.f_code.co_filename, force_check_project_scope=False
    ):
        debugger.set_suspend(thread, info.pydev_step_cmd, original_step_cmd=info.pydev_original_step_cmd)
        info.trace_suspend_type = "sys_monitor" if _monitoring else "trace"
        debugger.do_wait_suspend(thread, caller, "return", None)
        return
    mine = (commands.CMD_STEP_OVER_MY_CODE, commands.CMD_STEP_RETURN_MY_CODE)
    info.pydev_step_cmd = commands.CMD_STEP_INTO_MY_CODE if info.pydev_step_cmd in mine else commands.CMD_STEP_INTO
    info.pydev_step_stop = None
    info.update_stepping_info()
    debugger.set_trace_for_frame_and_parents(threading.get_ident(), caller)
