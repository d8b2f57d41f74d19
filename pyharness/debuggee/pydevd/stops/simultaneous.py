"""Stops of several threads at once, each of which is told.

pydevd tells one, and holds the other threads silently: those that are about to stop, and those whose breakpoint it has
not even looked at. When the person goes on, all of them would run past their stops.
"""

from __future__ import annotations

import functools
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.pydevd.sent import send
from pyharness.debuggee.unpatched import threading
from pyharness.protocol.pydevd import Returns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType

_MARK = "pyharness_stops"
_GOING_ON = ("on_continue_request", "on_next_request", "on_stepin_request", "on_stepout_request")


class Stops:
    """The stops of one pydevd debugger: one is told at a time, the next as soon as the person goes on."""

    def __init__(self, debugger: Any) -> None:
        self._debugger = debugger
        self._set_suspend, self._wait = debugger.set_suspend, debugger.do_wait_suspend
        self._lock = threading.RLock()
        self._goes_on = False
        """pydevd is letting the threads go from which the person has gone on."""
        self._reasons: dict[threading.Thread, int] = {}
        """Why a thread is about to stop: pydevd forgets that when another stops, too."""
        self._told: set[threading.Thread] = set()
        """The thread whose stop the person looks at."""
        self._gone_on: set[threading.Thread] = set()
        """Threads whose stops the person has gone on from, until they run."""
        self._waiting: set[threading.Thread] = set()
        self._returning: dict[threading.Thread, int] = {}
        """Threads that are held as a function returns → LWP."""
        self._condition = debugger.handle_breakpoint_condition
        self._asked: dict[Any, tuple[CodeType, int]] = {}
        """pydevd's record of a thread → the line whose condition did not hold, while another thread's stop came."""

    def watch(self) -> None:
        """From now on."""
        _hear_of_going_on()
        setattr(self._debugger, _MARK, self)
        self._debugger.set_suspend, self._debugger.do_wait_suspend = self.suspend, self.wait
        self._debugger.handle_breakpoint_condition = self.asked
        notifications = self._debugger._threads_suspended_single_notification
        notifications.__class__ = _one_at_a_time(type(notifications), self)

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """The person goes on from what was told; pydevd lets every thread go."""
        with self._lock:
            self._gone_on |= self._told
            self._told.clear()
            self._goes_on = True
        try:
            yield
        finally:
            self._goes_on = False

    def let_go(self, thread: threading.Thread, run: Callable[[], None]) -> None:
        """Let a thread run, but one whose stop was told since the person has gone on."""
        with self._lock:
            if not (self._goes_on and thread in self._told):
                run()

    def is_next(self, thread: Any) -> bool:
        """Whether the person can be told of this stop now; they are. One that was let go meanwhile stops again."""
        from _pydevd_bundle.pydevd_constants import STATE_SUSPEND

        with self._lock:
            if self._told - {thread} or thread.additional_info.pydev_state != STATE_SUSPEND:
                return False
            self._told.add(thread)
            return True

    def say_that_it_returns(self, thread: threading.Thread) -> None:
        """Say so of a thread whose stop is told next, if it does: native code of the user's may have called it.

        A thread that is held silently says nothing: it would be taken for a word on its next stop.
        """
        if lwp := self._returning.get(thread):
            send(self._debugger, "", "telemetry", Returns(lwp))

    def suspend(self, thread: threading.Thread, stop_reason: int, *arguments: Any, **options: Any) -> None:
        """Stop a thread; in place of pydevd's ``set_suspend``."""
        from _pydevd_bundle.pydevd_comm_constants import CMD_THREAD_SUSPEND

        if stop_reason != CMD_THREAD_SUSPEND:
            self._reasons[thread] = stop_reason
        self._set_suspend(thread, stop_reason, *arguments, **options)

    def asked(self, info: Any, breakpoint_: Any, frame: FrameType) -> bool:
        """Whether a thread stops at this breakpoint; in place of pydevd's ``handle_breakpoint_condition``.

        Another may have stopped meanwhile: then pydevd holds this one right behind, which is not to be asked again.
        """
        line = frame.f_code, frame.f_lineno
        holds = bool(self._condition(info, breakpoint_, frame))  # which puts back modules that the program threw out
        from _pydevd_bundle.pydevd_constants import STATE_SUSPEND

        if not holds and info.pydev_state == STATE_SUSPEND:
            self._asked[info] = line
        return holds  # nothing on the way from here to where pydevd looks has another thread run

    def wait(self, thread: Any, frame: FrameType, event: str, arg: Any, exception_type: Any = None) -> None:
        """Hold a thread until it may go on; in place of pydevd's ``do_wait_suspend``."""
        reason = self._reasons.pop(thread, None)
        self._returning[thread] = threading.get_native_id() if event == "return" else 0
        if thread in self._waiting:  # after a jump pydevd holds it anew within the same stop
            self._wait(thread, frame, event, arg, exception_type)
            return
        self._waiting.add(thread)
        try:
            self._hold(thread, reason, frame, event, arg, exception_type)
        finally:
            self._waiting.discard(thread)
            self._returning.pop(thread, None)

    def _hold(self, thread: Any, reason: int | None, frame: FrameType, event: str, *more: Any) -> None:
        asked = self._asked.pop(thread.additional_info, None)
        self._wait(thread, frame, event, *more)
        was_asked = reason is None and asked == (frame.f_code, frame.f_lineno)
        while not (self._was_told(thread) or was_asked):
            ahead = self._stop_ahead(thread, frame, event, reason)
            if ahead is None:
                break
            reason = ahead
            self._set_suspend(thread, ahead)
            self._wait(thread, frame, event, *more)

    def _was_told(self, thread: threading.Thread) -> bool:
        with self._lock:
            told = thread in self._told or thread in self._gone_on
            self._told.discard(thread)
            self._gone_on.discard(thread)
        return told

    def _stop_ahead(self, thread: Any, frame: FrameType, event: str, reason: int | None) -> int | None:
        """Why a thread that was held silently, and is let go with the others, stops before it goes on."""
        from _pydevd_bundle.pydevd_comm_constants import CMD_SET_BREAK, CMD_THREAD_SUSPEND

        debugger, info = self._debugger, thread.additional_info
        its_own_step = info.pydev_step_cmd not in {-1, CMD_THREAD_SUSPEND}
        if debugger.pydb_disposed or its_own_step or not debugger.multi_threads_single_notification:
            return None
        if reason not in {None, CMD_SET_BREAK}:
            return reason
        line = self._lines(frame).get(frame.f_lineno) if event == "line" else None
        if line is None:  # the breakpoint may have been taken away meanwhile
            return None
        return CMD_SET_BREAK if reason is not None or self._hits(line, info, frame) else None

    def _hits(self, line: Any, info: Any, frame: FrameType) -> bool:
        """Whether a thread stops at a line where it was held: pydevd has not looked."""
        if line.expression is not None:
            self._debugger.handle_breakpoint_expression(line, info, frame)
        holds = not line.has_condition or self._condition(info, line, frame)
        return bool(holds) and not line.is_logpoint

    def _lines(self, frame: FrameType) -> Any:
        from pydevd_file_utils import get_abs_path_real_path_and_base_from_frame

        return self._debugger.breakpoints.get(get_abs_path_real_path_and_base_from_frame(frame)[1], {})


def let_go(thread: threading.Thread, run: Callable[[], None]) -> None:
    """Let a thread run, as pydevd does with all that stand, unless its stop is still to be looked at."""
    import pydevd

    stops: Stops | None = getattr(pydevd.get_global_debugger(), _MARK, None)
    if stops is None:
        run()
    else:
        stops.let_go(thread, run)


def _one_at_a_time(notifications: type, stops: Stops) -> type:
    """The class of a debugger's notifications where stops come one by one."""

    class OneAtATime(notifications):  # type: ignore[misc]
        __slots__ = ()

        def send_suspend_notification(self, thread_id: str, thread: threading.Thread, stop_reason: int) -> None:
            if stops.is_next(thread):
                stops.say_that_it_returns(thread)
                super().send_suspend_notification(thread_id, thread, stop_reason)

    return OneAtATime


def _hear_of_going_on() -> None:
    from _pydevd_bundle.pydevd_process_net_command_json import PyDevJsonCommandProcessor

    if hasattr(PyDevJsonCommandProcessor, _MARK):
        return
    setattr(PyDevJsonCommandProcessor, _MARK, True)
    for name in _GOING_ON:
        setattr(PyDevJsonCommandProcessor, name, _after_word(getattr(PyDevJsonCommandProcessor, name)))


def _after_word(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def stands_for(processor: Any, py_db: Any, request: Any) -> Any:
        with stops.going_on() if (stops := getattr(py_db, _MARK, None)) else nullcontext():
            return method(processor, py_db, request)

    return stands_for
