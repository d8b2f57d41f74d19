"""Whether a process is stopped by a signal, and how to have it go on."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path


def is_stopped(pid: int | None) -> bool:
    """Whether a process is stopped by a signal, as Ctrl-Z stops one; not by a debugger."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return state.rpartition(")")[2].split()[0] == "T"


def let_go_on(pid: int | None, *, stopped_before: bool) -> None:
    """Continue a process that a debugger has left stopped: the stop that attaching sends can outlive the debugger."""
    if pid and not stopped_before and is_stopped(pid):
        with suppress(OSError):
            os.kill(pid, signal.SIGCONT)
