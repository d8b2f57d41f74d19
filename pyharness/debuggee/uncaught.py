"""An exception that leaves the program: debugpy stops at it, if asked to, while its frames are still there."""

from __future__ import annotations

import sys
import threading


def stop_at(error: BaseException) -> None:
    """Have debugpy look at ``error``, which nobody has caught; its traceback holds the program's frames only."""
    if "pydevd" not in sys.modules:
        return
    import pydevd
    from _pydevd_bundle.pydevd_additional_thread_info import set_additional_thread_info
    from _pydevd_bundle.pydevd_breakpoints import stop_on_unhandled_exception

    debugger = pydevd.get_global_debugger()
    if debugger is None or debugger.pydb_disposed:
        return
    thread = threading.current_thread()
    stop_on_unhandled_exception(
        debugger, thread, set_additional_thread_info(thread), (type(error), error, error.__traceback__)
    )
