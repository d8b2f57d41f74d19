"""Gives pydevd our modules of the standard library, before it takes the program's, which gevent may patch later."""

from __future__ import annotations

import _thread
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyharness.debuggee import unpatched
from pyharness.debuggee.thread_registry import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Iterator

_SAVED = "_pydev_bundle._pydev_saved_modules"


@contextmanager
def given() -> Iterator[None]:
    """Import pydevd within; one that is here before has the program's modules."""
    if _SAVED in sys.modules:
        yield
        return
    _give()
    yield
    from _pydevd_bundle import pydevd_utils

    pydevd_utils.SUPPORT_GEVENT = True  # else it tells the program that it has none
    if REGISTRY.is_shared:
        REGISTRY.at_part.append(_leave_starts)
        _follow_programs()
    else:
        _leave_starts()


def _give() -> None:
    """Replace what its modules import from one."""
    from debugpy._vendored import vendored

    with vendored("pydevd"):
        from _pydev_bundle import _pydev_saved_modules as saved
    saved.threading, saved.thread, saved._queue = unpatched.threading, unpatched._thread, unpatched.queue
    saved.time, saved.select, saved.socket = unpatched.time, unpatched.select, unpatched.socket
    saved.ThreadingEvent, saved.ThreadingLock = unpatched.threading.Event, unpatched.threading.Lock
    saved.threading_current_thread = unpatched.threading.current_thread


def _follow_programs() -> None:
    """Have pydevd see the threads that the program's module starts, and hide its own ones there."""
    from _pydev_bundle import pydev_monkey
    from _pydevd_bundle import pydevd_daemon_thread as daemons

    pydev_monkey.threading_modules_to_patch[:] = [_thread, threading]
    daemons.threading = threading
    daemons._patch_threading_to_hide_pydevd_threads()
    daemons.threading = unpatched.threading


def _leave_starts() -> None:
    """Have pydevd leave alone how the program starts threads: it starts greenlets from now on."""
    import pydevd
    from _pydev_bundle import pydev_monkey

    pydev_monkey.threading_modules_to_patch.clear()
    debugger = pydevd.get_global_debugger()
    if debugger is not None and threading._trace_hook is debugger.trace_dispatch:  # type: ignore[attr-defined]
        threading.settrace(None)  # a greenlet is traced as the thread that runs it
