"""An exception that leaves the program: debugpy stops at it, if asked to, while its frames are still there."""

from __future__ import annotations

import functools
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.pydevd.emptied_modules import KEPT_MODULES
from pyharness.debuggee.pydevd.frames.trace_function import MONITORING, set_trace
from pyharness.debuggee.pydevd.frames.traced_frames import TRACED_FRAMES
from pyharness.debuggee.pydevd.stops import seen_error
from pyharness.debuggee.pydevd.tracing import is_connected
from pyharness.debuggee.unpatched import threading
from pyharness.debuggee.watched.imports import after_import

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType


def stop_at(error: BaseException, trace: TracebackType | None = None) -> None:
    """Have debugpy look at ``error``, which nobody has caught; its traceback holds the program's frames only.

    ``trace`` is the one to look at, where it is another than the error has now.
    """
    if is_connected():
        KEPT_MODULES.put_back()
    if "pydevd" not in sys.modules:
        return
    import pydevd
    from _pydevd_bundle.pydevd_additional_thread_info import set_additional_thread_info
    from _pydevd_bundle.pydevd_breakpoints import stop_on_unhandled_exception

    debugger = pydevd.get_global_debugger()
    if debugger is None or debugger.pydb_disposed:
        return
    thread = threading.current_thread()
    with _unwatched():
        stop_on_unhandled_exception(
            debugger, thread, set_additional_thread_info(thread), (type(error), error, trace or error.__traceback__)
        )


def watch_script() -> None:
    """Stop at what ends this process's script, where debugpy came before that began: it takes no frame for the last.

    What the program puts in the place of ``sys.excepthook``, as ``torch.distributed`` does, calls the one before.
    """
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if is_connected() and not seen_error.is_last(error) and not issubclass(kind, KeyboardInterrupt):
            stop_at(error, trace)
        before(kind, error, trace)

    sys.excepthook = hook
    watch_threads()


def watch_threads() -> None:
    """Stop at what ends a thread of Python's, in a process where the main thread's end is watched.

    So no frame has to be traced for that: on Python 3.11 all run at full speed then. ``threading.excepthook`` is the
    program's to set, so this stands where each thread looks for it.
    """
    if not MONITORING:
        after_import("threading", _watch_objects)
        after_import("_pydev_bundle.pydev_monkey", _watch_functions)
        TRACED_FRAMES.leave_uncaught()


def _watch_objects(module: Any) -> None:
    make = getattr(module, "_make_invoke_excepthook", None)
    if make is None or hasattr(make, "__wrapped__"):  # a module of the program's by that name; or it is told already
        return

    @functools.wraps(make)
    def made() -> Callable[[object], None]:
        invoke: Callable[[object], None] = make()

        def left(thread: object) -> None:
            _stop_in_thread()
            invoke(thread)

        return left

    module._make_invoke_excepthook = made


def _watch_functions(monkey: Any) -> None:
    """Watch threads that are no ``Thread``, too: pydevd has each begin with an object of this type."""
    kind = monkey._NewThreadStartupWithTrace
    begin = kind.__init__
    if hasattr(begin, "__wrapped__"):
        return

    @functools.wraps(begin)
    def begins(startup: Any, function: Callable[..., object], *arguments: Any) -> None:
        if not hasattr(getattr(function, "__self__", None), "_bootstrap_inner"):  # a Thread, of whichever module
            function = _told(function)
        begin(startup, function, *arguments)

    kind.__init__ = begins


def _told(function: Callable[..., object]) -> Callable[..., object]:
    @functools.wraps(function)
    def told(*arguments: Any, **named: Any) -> object:
        try:
            return function(*arguments, **named)
        except BaseException as error:
            _stop_in_thread(error.__traceback__ and error.__traceback__.tb_next)
            raise

    return told


def _stop_in_thread(trace: TracebackType | None = None) -> None:
    """Stop, unless pydevd has: where this thread's outermost frame is traced, for whatever reason."""
    error = sys.exc_info()[1]
    if error is None or not is_connected():
        return
    KEPT_MODULES.put_back()
    from _pydevd_bundle.pydevd_additional_thread_info import set_additional_thread_info

    info = set_additional_thread_info(threading.current_thread())
    if not info.suspended_at_unhandled:
        info.suspended_at_unhandled = True
        stop_at(error, trace)


def pass_exits() -> None:
    """``sys.exit`` is no failure from now on, whatever its status: pytest ends so."""
    import pydevd

    debugger = pydevd.get_global_debugger()
    if debugger is not None:
        debugger.ignore_system_exit_code = lambda _error: True


@contextmanager
def _unwatched() -> Iterator[None]:
    """What debugpy runs while this thread stands is no place to stop at: only its own callbacks are exempt.

    Its own files are known to it; a finder of modules of the program's, say, is not.
    """
    if not MONITORING:
        traced = sys.gettrace()
        set_trace(None)
        try:
            yield
        finally:
            if is_connected():
                set_trace(traced)
        return
    from _pydevd_sys_monitoring import pydevd_sys_monitoring

    pydevd_sys_monitoring.start_monitoring()  # so that there is something to stop on this thread
    pydevd_sys_monitoring.stop_monitoring()
    try:
        yield
    finally:
        pydevd_sys_monitoring.start_monitoring()
