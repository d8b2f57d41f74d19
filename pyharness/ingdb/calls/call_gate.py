"""Whether a stopped thread may be called in non-stop mode, where other threads run on and may stop too."""

from __future__ import annotations

from pathlib import Path

import gdb

from pyharness.ingdb.stack import backtrace


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
