"""A child that the program forks is nobody's to debug: it runs on, and stops nowhere."""

from __future__ import annotations

import os
import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyharness.debuggee import apart
from pyharness.debuggee.pydevd import forked as pydevd_in_child
from pyharness.debuggee.unpatched import time
from pyharness.host.process_state import tasks

_IMPORTS, _A_MOMENT = 10.0, 0.0005
"""Seconds that a fork waits for what the debugger imports at most, and from one look at that to the next."""
_REGISTRY = 1.0
"""Seconds that it waits for another thread to let the registry of threads go."""


class _Children:
    """What this process does in those that it forks."""

    go = False
    """Whether they are let go."""
    held: Any = None
    """The lock of ``threading``'s registry, which the thread that forks has."""


def let_children_go() -> None:
    """From now on a forked child stops nowhere; without this it would wait for ever at its first breakpoint.

    Where children are to be debugged, it then tells the debugger that it is there.
    """
    if not _Children.go:
        _Children.go = True
        os.register_at_fork(before=_before, after_in_parent=_behind, after_in_child=_begin)


def children_ended() -> int:
    """A number that grows with each child process that ends: the memory that they used for the first time."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt


def had_children(before: int) -> bool:
    """Whether this process started others since ``children_ended`` was ``before``, or has some that run still."""
    with suppress(OSError):  # without a descriptor to be had, it is what has ended that counts
        if any(Path(f"/proc/self/task/{lwp}/children").read_text(encoding="ascii") for lwp in tasks(os.getpid())):
            return True
    return children_ended() > before


def _before() -> None:
    _let_imports_end()
    if sys.version_info >= (3, 12):
        _hold_registry()


def _hold_registry() -> None:
    """Have the lock of ``threading``'s registry on this thread.

    Python takes away the states of all other threads before it makes that lock anew in the child, and then pydevd's
    finalizers of what belonged to those threads want it.
    """
    lock = sys.modules["threading"]._active_limbo_lock
    if lock.acquire(timeout=_REGISTRY):
        _Children.held = lock


def _behind() -> None:
    """Let the registry go again, in the parent and in the child."""
    lock, _Children.held = _Children.held, None
    if lock is not None:
        lock.release()


def _let_imports_end() -> None:
    """Wait until no other thread imports for us: the child would wait for the locks of such a module for ever."""
    until = time.monotonic() + _IMPORTS
    time.sleep(0)  # who waits for the GIL gets it now, and none between here and the fork
    while apart.others_import() and time.monotonic() < until:
        time.sleep(_A_MOMENT)


def _begin() -> None:
    _behind()
    apart.only_this_imports()
    pydevd_in_child.let_go()
    if "pyharness.debuggee.link.seat" in sys.modules:
        from pyharness.debuggee.link import quiet_thread
        from pyharness.debuggee.link.seat import SEAT

        quiet_thread.forget()
        SEAT.forget()
    if "pyharness.debuggee.link.served" in sys.modules:
        from pyharness.debuggee.link import served

        served.forget()
    if "PYHARNESS_CHILDREN" in os.environ:
        from pyharness.debuggee.link import children

        children.greet(children.name_of_forked())
