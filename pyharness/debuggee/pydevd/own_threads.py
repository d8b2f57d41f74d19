"""The threads that debugpy starts: named as ours are (``link/thread_names.py``), without the program's signals."""

from __future__ import annotations

from pyharness.debuggee.link.quiet_thread import signals_blocked
from pyharness.debuggee.link.thread_names import name_this


def keep_quiet() -> None:
    """Every thread that debugpy starts from now on is like that."""
    from _pydevd_bundle.pydevd_daemon_thread import PyDBDaemonThread

    run, start = PyDBDaemonThread.run, PyDBDaemonThread.start
    if run.__module__ == __name__:
        return

    def named_run(self: PyDBDaemonThread) -> None:
        name_this()
        run(self)

    def quiet_start(self: PyDBDaemonThread) -> None:
        with signals_blocked():
            start(self)

    PyDBDaemonThread.run, PyDBDaemonThread.start = named_run, quiet_start
