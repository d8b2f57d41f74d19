"""Whether a stopped thread may be called in non-stop mode, where other threads run on and may stop too."""

from __future__ import annotations

import time
from pathlib import Path

import gdb

from pyharness.ingdb.stack import backtrace

_LOOKS = 10
_BETWEEN = 0.025
"""Seconds."""


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
    not run at all while we look is one.
    """
    before: tuple[int, str] | None = None
    for _ in range(_LOOKS):
        holder = next(iter(backtrace.gil_holders() - {caller.ptid[1]}), 0)
        now = holder, _waits(gdb.selected_inferior().pid, holder)
        if not now[1] or now != (before or now):
            return 0
        before = now
        time.sleep(_BETWEEN)
    return before[0] if before else 0


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
