"""Names a debugger's threads for the kernel: a list of threads leaves them out without asking Python."""

from __future__ import annotations

import json
import threading as programs
from contextlib import suppress
from pathlib import Path

from pyharness.debuggee.unpatched import threading

NAME = "pydevd"
_NAMELESS = "thread"


def name_this() -> None:
    """The calling thread is a debugger's."""
    with suppress(OSError):  # without /proc it is only listed
        Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text(NAME, encoding="ascii")


def all_as_json() -> str:
    """The calling thread's LWP, and LWP → name of every thread that Python knows; debuggers' have an empty name."""
    names = {
        thread.native_id: "" if getattr(thread, "is_pydev_daemon_thread", False) else _name_of(thread)
        for thread in (*programs.enumerate(), *threading.enumerate())  # greenlets are none
        if thread.native_id is not None  # one that is about to begin has no number yet
    }
    return json.dumps([threading.get_native_id(), names])


def _name_of(thread: programs.Thread) -> str:
    """What a person would call it: ``threading`` takes anything for a name, and a class of the program's may fail."""
    try:
        name: object = thread.name
    except Exception:  # noqa: BLE001  (a property of the program's)
        return _NAMELESS
    return str(name) if type(name) in {str, int} else _NAMELESS
