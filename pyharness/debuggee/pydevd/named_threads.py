"""Names the threads that debugpy starts, as ours are named (``link/thread_names.py``)."""

from __future__ import annotations

from pyharness.debuggee.link.thread_names import name_this


def name_them() -> None:
    """Every thread that debugpy starts from now on is."""
    from _pydevd_bundle.pydevd_daemon_thread import PyDBDaemonThread

    run = PyDBDaemonThread.run
    if run.__module__ == __name__:
        return

    def named_run(self: PyDBDaemonThread) -> None:
        name_this()
        run(self)

    PyDBDaemonThread.run = named_run
