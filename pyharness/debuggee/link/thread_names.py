"""Names debugpy's threads and ours for the kernel: a list of threads leaves them out without asking Python."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from pathlib import Path

NAME = "pydevd"


def name_this() -> None:
    """The calling thread is a debugger's."""
    with suppress(OSError):  # without /proc it is only listed
        Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text(NAME, encoding="ascii")


def all_as_json() -> str:
    """The calling thread's LWP, and LWP → name of every thread that Python knows; debuggers' have an empty name."""
    names = {
        thread.native_id: "" if getattr(thread, "is_pydev_daemon_thread", False) else thread.name
        for thread in threading.enumerate()
    }
    return json.dumps([threading.get_native_id(), names])


def name_debugpys() -> None:
    """Every thread that debugpy starts from now on is."""
    from _pydevd_bundle.pydevd_daemon_thread import PyDBDaemonThread

    run = PyDBDaemonThread.run
    if run.__module__ == __name__:
        return

    def named_run(self: PyDBDaemonThread) -> None:
        name_this()
        run(self)

    PyDBDaemonThread.run = named_run
