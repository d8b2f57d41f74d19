"""debugpy in the program: connected, and gone without a trace when its debugger has left or died."""

from __future__ import annotations

import os
import platform
import sys
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from pyharness.debuggee.bounded import BOUNDS
from pyharness.debuggee.link import quiet_thread
from pyharness.debuggee.pydevd import left_behind, saved_modules, second_client
from pyharness.debuggee.pydevd.frames import waiting
from pyharness.debuggee.pydevd.frames.monitored import MONITORED
from pyharness.debuggee.pydevd.frames.trace_function import MONITORING, set_trace
from pyharness.debuggee.pydevd.frames.traced_frames import TRACED_FRAMES, is_pydevds
from pyharness.debuggee.pydevd.stops import breakpoint_hook, woken
from pyharness.debuggee.running_frames import running_frames
from pyharness.debuggee.unpatched import threading

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator
    from types import FrameType

_QUIET = {"PYDEVD_DISABLE_FILE_VALIDATION": "1", "PYDEVD_USE_FRAME_EVAL": "NO"}
"""Frozen modules cannot be stepped into, which it would say on stderr; frames that it evaluates itself stay slow."""
_GEVENT = "GEVENT_SUPPORT"
_SOON = 0.02
"""Seconds."""


class _Known:
    """What this process knows of the debuggers that ``connect`` made."""

    debuggers: ClassVar[list[Any]] = []
    """The one that was made last. pydevd forgets one that is disposed, however much of it is still starting."""
    mtime = 0
    """A number beyond that of any of them."""
    hook: Any = None
    """The trace function that new threads had before."""


def foreign_debugger() -> str:
    """The name of a Python debugger that is in this process already and not ours, else empty."""
    holder = sys.modules.get("_pydevd_bundle.pydevd_constants")
    debugger = holder.get_global_debugger() if holder else None
    if debugger is None or debugger.pydb_disposed:
        return _monitoring_debugger()
    return "debugpy" if "debugpy" in sys.modules else "pydevd"


def _monitoring_debugger() -> str:
    """The name of who has the place that ``sys.monitoring`` keeps for one debugger: pydevd would say nothing."""
    if not MONITORING:
        return ""
    tool = sys.monitoring.get_tool(sys.monitoring.DEBUGGER_ID)  # type: ignore[attr-defined,unused-ignore]
    return f"{tool!r}, which has the debugger's number of sys.monitoring" if tool not in {None, "pydevd"} else ""


def connect(link: socket.socket, is_over: Callable[[], bool]) -> None:
    """Have debugpy serve the debugger at the other end: every thread is traced then, those that run included.

    Returns when the debugger has set its breakpoints, or at ``release``. ``is_over`` says whether that was called.
    """
    with _environment(), saved_modules.given(), breakpoint_hook.taken():
        import debugpy.server.api as server
    import pydevd_tracing

    from pyharness.debuggee.pydevd import debugpy_link

    if _Known.debuggers:  # of one whose end was not seen
        let_go()
    left_behind.clear()
    server._settrace.called = False  # type: ignore[attr-defined]  # it would refuse a second time
    _Known.hook = threading.settrace.__globals__["_trace_hook"]  # Python 3.9 has no ``gettrace``

    def made(debugger: Any) -> None:
        """Remember one that may be disposed before it is ready, by its reader or by ``release``."""
        _Known.debuggers[:] = [debugger]
        if is_over():  # else ``release`` sets it, maybe at this moment
            debugger.ready_to_run = True

    debugger = debugpy_link.serve(link, made)
    if debugger is None:
        return  # released
    second_client.refuse(is_connected)
    # What it remembers of code (has it a breakpoint?) is as old as this number says, and outlives a session.
    debugger.mtime = _Known.mtime = max(_Known.mtime, debugger.mtime) + 1000
    debugger.set_tracing_for_untraced_contexts(breakpoints_changed=True)
    if not MONITORING and quiet_thread.is_one():
        pydevd_tracing.SetTrace(None)
    TRACED_FRAMES.begin(debugger)
    if MONITORING:
        MONITORED.begin(debugger)
        waiting.follow(debugger)


def is_connected() -> bool:
    """Whether debugpy serves somebody now."""
    return bool(_Known.debuggers)


def expect_end() -> None:
    """The script has ended, and Python waits for the thread that looks five times a second whether all others have."""
    import pydevd

    pydevd.TIMEOUT_SLOW = _SOON
    for debugger in _Known.debuggers:
        looked_at = debugger.check_alive_thread._wait_event
        looked_at.set()
        looked_at.clear()


def release() -> None:
    """The debugger is gone: have ``connect`` return, suspended threads go on, and its expressions end."""
    for debugger in tuple(_Known.debuggers):
        debugger.ready_to_run = True
        with suppress(OSError):  # a program that closes every file has closed debugpy's socket
            debugger.dispose_and_kill_all_pydevd_threads(wait=False)
        left_behind.clear(debugger)
    BOUNDS.cancel()


def let_go() -> None:
    """Take all tracing away, so that the program runs at full speed and can be connected again."""
    if "pydevd" not in sys.modules:
        return
    import pydevd_tracing
    from _pydev_bundle.pydev_monkey import undo_patch_thread_modules

    TRACED_FRAMES.end()
    while _Known.debuggers:
        debugger = _Known.debuggers.pop()
        _end(debugger)
        left_behind.clear(debugger)
    left_behind.wait_until_left()
    breakpoint_hook.give_back()
    undo_patch_thread_modules()
    if MONITORING:
        _stop_monitoring()
        return
    pydevd_tracing.restore_sys_set_trace_func()
    threading.settrace(_Known.hook)
    pydevd_tracing.set_trace_to_threads(_vanish, create_dummy_thread=False)
    for frame in running_frames():
        frame.f_trace = _vanish  # a loop that calls nothing comes here too
    set_trace(None)


def _end(debugger: Any) -> None:
    """End pydevd's threads, also those that did not run when it was disposed: Python waits for one of them at exit."""
    from _pydevd_bundle.pydevd_constants import get_global_debugger, set_global_debugger

    _Known.mtime = max(_Known.mtime, debugger.mtime)
    debugger.dispose_and_kill_all_pydevd_threads()
    if get_global_debugger() is debugger:  # another thread disposes it, and has not come to this yet
        set_global_debugger(None)
    for thread in (debugger.reader, debugger.writer, debugger.py_db_command_thread, debugger.check_alive_thread):
        if thread is not None:
            thread.do_kill_pydev_thread()


def stop_soon(thread: threading.Thread | None = None) -> None:
    """Have a thread, the main one by default, stop at the next line of the user's that it runs."""
    import pydevd
    from _pydevd_bundle.pydevd_additional_thread_info import set_additional_thread_info
    from _pydevd_bundle.pydevd_comm_constants import CMD_STEP_INTO

    thread = thread or threading.main_thread()
    info = set_additional_thread_info(thread)
    info.pydev_step_cmd = CMD_STEP_INTO
    info.pydev_step_stop = None
    info.update_stepping_info()
    woken.wake(thread)
    debugger = pydevd.get_global_debugger()
    if debugger is not None:
        debugger.set_tracing_for_untraced_contexts(breakpoints_changed=True)


def _stop_monitoring() -> None:
    from _pydevd_sys_monitoring import pydevd_sys_monitoring

    from pyharness.debuggee.pydevd.steps import unwound_steps

    unwound_steps.forget()
    MONITORED.end()
    pydevd_sys_monitoring.stop_monitoring(all_threads=True)


def _vanish(_frame: FrameType, _event: str, _argument: Any) -> None:
    """A trace function that removes itself: what a thread is traced by, only that thread can take away for certain.

    It may come to that when the next debugger is there, whose own functions stay. If none is, one that pydevd put back
    goes too: the thread was in pydevd when all tracing was taken away.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_trace is _vanish or not _Known.debuggers:
            frame.f_trace = None
        frame = frame.f_back
    tracer = sys.gettrace()
    if tracer is _vanish or (not _Known.debuggers and is_pydevds(tracer)):
        set_trace(None)


def _has_gevent() -> bool:
    """Whether there is what the person's variable asks pydevd to support; it prints a traceback where there is not."""
    if _GEVENT in os.environ:
        with suppress(Exception):  # any: the package is the program's
            import_module("gevent")
            return True
    return False


@contextmanager
def _environment() -> Iterator[None]:
    """What debugpy reads when it is imported; the program's own environment stays as it is.

    It makes the head of a log that is not kept, for which Python would run ``uname``.
    """
    quiet = _QUIET if _has_gevent() else {**_QUIET, _GEVENT: "False"}
    before = {name: os.environ.get(name) for name in quiet}
    os.environ.update(quiet)
    describe, platform.platform = platform.platform, lambda *_named: ""
    try:
        yield
    finally:
        platform.platform = describe
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
