"""Whether a stopped thread may be called in non-stop mode, where other threads run on and may stop too."""

from __future__ import annotations

import time
from pathlib import Path
from typing import ClassVar

import gdb

from pyharness.ingdb.stack import backtrace

_PATIENCE, _BETWEEN = 2.0, 0.025
"""Seconds that a thread may wait with the GIL, and from one look to the next."""
_COMPUTES = 10_000_000
"""Nanoseconds that a thread has run after which it is taken to compute: it lets the GIL go when it is asked to."""


class _Blocked:
    """The thread that was last found to wait with the GIL, and how often it had been switched to and from by then."""

    known: ClassVar[tuple[int, str]] = (0, "")


def a_stop_is_coming() -> bool:
    """Whether a thread has stopped that gdb still takes for running.

    gdb ends a call into the program at the next stop, whichever thread that is of: it has to be reported first.
    """
    inferior = gdb.selected_inferior()
    running = [thread.ptid[1] for thread in inferior.threads() if thread.is_running()]
    return any(_is_held(inferior.pid, lwp) for lwp in running)


def _is_held(pid: int, lwp: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/task/{lwp}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:  # it has ended
        return False
    return status.rpartition(")")[2].split()[:1] == ["t"]


def stopped_gil_holder(caller: gdb.InferiorThread) -> int:
    """The other thread that stands and holds the GIL, 0 for none: a call that needs the GIL would wait for ever."""
    holders = backtrace.gil_holders() - {caller.ptid[1]}
    threads = gdb.selected_inferior().threads() if holders else ()
    return next((thread.ptid[1] for thread in threads if thread.ptid[1] in holders and thread.is_stopped()), 0)


def blocked_gil_holder(caller: gdb.InferiorThread) -> int:
    """The other thread that holds the GIL and waits in native code for something else, 0 for none.

    It may wait for the caller, as one that joins it does: a call that needs the GIL would never end. A thread that does
    not run at all while we look is one; nobody looks longer than until another one stops. One that is about to run may
    be on its way to such a wait, so it is looked at until it has run for a while.
    """
    pid = gdb.selected_inferior().pid
    first, ran = _holder(caller), 0
    end = time.monotonic() + _PATIENCE
    while first[0] and first != _Blocked.known and time.monotonic() < end:
        ran = ran or _ran(pid, first[0])
        now = _holder(caller)
        if now[0] != first[0] or a_stop_is_coming():
            return 0
        if now != first:
            if first[1]:  # it has waited, and runs again
                return 0
            first = now
        elif not first[1] and _ran(pid, first[0]) - ran >= _COMPUTES:
            return 0
        time.sleep(_BETWEEN)
    _Blocked.known = first
    return first[0] if first[1] else 0


def _holder(caller: gdb.InferiorThread) -> tuple[int, str]:
    """The other thread that holds the GIL, and what ``_waits`` says of it."""
    holder = next(iter(backtrace.gil_holders() - {caller.ptid[1]}), 0)
    return holder, _waits(gdb.selected_inferior().pid, holder)


def _ran(pid: int, lwp: int) -> int:
    """The nanoseconds for which a thread has had a processor; those of a clock where the kernel does not say."""
    try:
        return int(Path(f"/proc/{pid}/task/{lwp}/schedstat").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return time.monotonic_ns()


def _waits(pid: int, lwp: int) -> str:
    """How often a thread that waits now has been switched to and from; empty for one that does not wait."""
    try:
        status = Path(f"/proc/{pid}/task/{lwp}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:  # there is none, or it has ended
        return ""
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    if fields["State"].split()[0] != "S":
        return ""
    return f"{fields['voluntary_ctxt_switches']} {fields['nonvoluntary_ctxt_switches']}"
