"""An exception that leaves the program: debugpy stops at it, if asked to, while its frames are still there."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyharness.debuggee.pydevd.emptied_modules import KEPT_MODULES
from pyharness.debuggee.pydevd.frames.trace_function import MONITORING, set_trace
from pyharness.debuggee.pydevd.stops import seen_error
from pyharness.debuggee.pydevd.tracing import is_connected
from pyharness.debuggee.unpatched import threading

if TYPE_CHECKING:
    from collections.abc import Iterator
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
