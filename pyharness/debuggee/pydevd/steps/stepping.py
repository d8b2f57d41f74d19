"""Arms debugpy from the stopped thread itself: what gdb asks for, through the agent, when a step goes back to Python.

While gdb holds a thread, debugpy may not be able to answer (the thread may hold the GIL). A call on that very thread
can: it sets pydevd's stepping state directly, as ``pydevd.settrace`` does for ``debugpy.breakpoint()``.
"""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.agent import handles
from pyharness.debuggee.bounded import BOUNDS
from pyharness.debuggee.contained import CONTAINMENT
from pyharness.debuggee.lines.frame_expressions import evaluated
from pyharness.debuggee.pydevd.frames.trace_function import MONITORING
from pyharness.debuggee.pydevd.steps import ended_calls
from pyharness.debuggee.pydevd.stops import woken
from pyharness.debuggee.pydevd.values import presentation
from pyharness.debuggee.unpatched import threading
from pyharness.model.user_code import is_user_python
from pyharness.protocol.agent import ArmNextLine, ArmStepIn, AskDebugpy, Disarm, Evaluate, Evaluated

if TYPE_CHECKING:
    from types import FrameType

_ARMED: set[int] = set()
"""Threads whose step is pending since the agent armed it."""
_CALLING: dict[int, tuple[int, int]] = {}
"""Thread → the call of native code that its innermost frame of the user's was in as ``arm_step_in`` armed it."""
_RUN = 1
"""pydevd_constants.STATE_RUN"""
_MOST_PRINTS = 4096
"""Characters: they share the agent's buffer with the answer."""


def user_frame() -> FrameType | None:
    """The innermost Python frame of this thread that is the user's own code."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_user_python(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


@handles(ArmNextLine)
def arm_next_line(_request: ArmNextLine) -> bool:
    """Have debugpy stop at the next line of the innermost user frame (or of a caller of it)."""
    return _arm(callbacks=False) > 0


@handles(ArmStepIn)
def arm_step_in(_request: ArmStepIn) -> int:
    """Have debugpy stop at the next line of any user frame on this thread: called by native code, or the caller's."""
    return _arm(callbacks=True)


@handles(Disarm)
def disarm(_request: Disarm) -> None:
    """Forget a step that is still pending on this thread."""
    _CALLING.pop(threading.get_ident(), None)
    if "pydevd" in sys.modules:
        _set_step(-1, None)


def is_armed(thread: threading.Thread) -> bool:
    """Whether a thread runs with a step that the agent has armed.

    debugpy has every thread go on at once, and forget its step. It may read that late, where a thread that ran all the
    while has come to native code, and is on its way out.
    """
    info = getattr(thread, "additional_info", None)
    return thread.ident in _ARMED and info is not None and info.pydev_state == _RUN


def watch(debugger: Any) -> None:
    """From now on a step that ``arm_step_in`` has armed ends neither in a library's code nor as that returns.

    A function of a library that native code calls is no place for a step. debugpy shows its caller as soon as it
    returns, though: the Python frame below the native code, which is still in the midst of its call.
    """
    original = debugger.do_wait_suspend

    @functools.wraps(original)
    def stands_for(thread: threading.Thread, frame: FrameType, event: str, *arguments: Any, **named: Any) -> Any:
        calling = _CALLING.pop(threading.get_ident(), None)
        _ARMED.discard(threading.get_ident())
        if event == "return" and calling == _call_of(frame):
            _CALLING[threading.get_ident()] = calling
            _stepping_info().pydev_state = _RUN
            _step_in()
            return None
        return original(thread, frame, event, *arguments, **named)

    debugger.do_wait_suspend = stands_for


def _call_of(frame: FrameType) -> tuple[int, int]:
    """What tells the call that a frame is in the midst of from any other: while it lasts, neither goes on."""
    return id(frame), frame.f_lasti


@handles(AskDebugpy)
def ask_debugpy(request: AskDebugpy) -> bool:
    """Do a request of debugpy's protocol on this thread: its own threads may not get the GIL. No answer is sent."""
    import pydevd

    debugger = pydevd.get_global_debugger()
    if debugger is None or debugger.pydb_disposed:
        return False
    message = {"seq": 0, "type": "request", "command": request.command, "arguments": request.arguments}
    debugger.reader.process_net_command_json(debugger, json.dumps(message), send_response=False)
    return True


@handles(Evaluate)
def evaluate(request: Evaluate) -> Evaluated:
    """Evaluate the user's expression, for a limited time and without effect on what the program prints and reads."""
    frame = _frame_at(request.file, request.line, request.nth) if request.file else user_frame()
    if frame is None:
        return Evaluated(None, "this thread runs no Python code of yours")
    outcome = BOUNDS.run(lambda: _shown(evaluated(request.expression, frame)))
    text = None if outcome.error else str(outcome.value)
    return Evaluated(text, outcome.problem if outcome.error else "", outcome.prints[:_MOST_PRINTS])


def _shown(value: Any) -> str:
    """The ``repr`` of a value; nothing for ``None`` behind what was printed, as in a console."""
    printed = CONTAINMENT.prints_here()
    return "" if value is None and printed and printed.text else presentation.printed(value)


def _frame_at(file: str, line: int, nth: int) -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_lineno == line and file in {
            frame.f_code.co_filename,
            str(Path(frame.f_code.co_filename).absolute()),
        }:
            if nth == 0:
                return frame
            nth -= 1
        frame = frame.f_back
    return None


def arm_first_line() -> None:
    """Have debugpy stop at the first line of the user's that this thread comes to."""
    import pydevd
    from _pydevd_bundle.pydevd_comm_constants import CMD_STEP_INTO

    frame = sys._getframe(1)
    pydevd.settrace(suspend=True, trace_only_current_thread=True, patch_multiprocessing=False, stop_at_frame=frame)
    _set_step(CMD_STEP_INTO, None)


def _arm(*, callbacks: bool) -> int:
    """Have debugpy step; how many frames of the user's own code the thread has, 0 where nothing was armed."""
    frame = user_frame()
    _CALLING.pop(threading.get_ident(), None)
    if frame is None or "pydevd" not in sys.modules:
        return 0
    _set_step(-1, None)  # a pending step would stop in what is called from here
    import pydevd
    from _pydevd_bundle.pydevd_comm_constants import CMD_STEP_OVER

    _trace(frame)
    if callbacks:
        _CALLING[threading.get_ident()] = _call_of(frame)
        _step_in()
    else:
        _set_step(CMD_STEP_OVER, frame)
        ended_calls.stop_at_return(frame)
    if MONITORING:  # which frames it watches depends on the step
        pydevd.get_global_debugger().set_trace_for_frame_and_parents(threading.get_ident(), frame)
    return _depth(frame)


def _step_in() -> None:
    from _pydevd_bundle.pydevd_comm_constants import CMD_STEP_INTO

    _set_step(CMD_STEP_INTO, None)


def _depth(frame: FrameType | None) -> int:
    """How many frames of the user's own code there are from here outwards."""
    depth = 0
    while frame is not None:
        depth += is_user_python(frame.f_code.co_filename)
        frame = frame.f_back
    return depth


def _trace(frame: FrameType) -> None:
    """Have pydevd see the lines of ``frame`` and of its callers.

    This is the part of ``pydevd.settrace`` that is needed once a program is traced; the rest starts threads.
    """
    import pydevd

    if MONITORING:
        pydevd.settrace(suspend=True, trace_only_current_thread=True, patch_multiprocessing=False, stop_at_frame=frame)
        return
    debugger = pydevd.get_global_debugger()
    info = _stepping_info()
    info.pydev_state = _RUN
    if not _is_traced():
        debugger.enable_tracing()
    debugger.set_trace_for_frame_and_parents(threading.get_ident(), frame)


def _is_traced() -> bool:
    """Whether pydevd's trace function is in place on this thread.

    To put it there pydevd starts a thread and waits for it: milliseconds under gdb, and other threads get the GIL.
    """
    import pydevd_tracing

    its = getattr(pydevd_tracing._last_tracing_func_thread_local, "tracing_func", None)
    return its is not None and sys.gettrace() == its


def _set_step(command: int, frame: FrameType | None) -> None:
    info = _stepping_info()
    (_ARMED.discard if command == -1 else _ARMED.add)(threading.get_ident())
    info.pydev_step_cmd = command
    info.pydev_original_step_cmd = command  # it tells a step from a breakpoint by this
    info.pydev_step_stop = frame
    info.update_stepping_info()
    woken.wake(threading.current_thread())


def _stepping_info() -> Any:
    from _pydevd_bundle.pydevd_additional_thread_info import set_additional_thread_info

    return set_additional_thread_info(threading.current_thread())
