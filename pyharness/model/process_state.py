"""Whether a process has ended or is stopped by a signal, and how to have it go on."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path


def is_stopped(pid: int | None) -> bool:
    """Whether a process is stopped by a signal, as Ctrl-Z stops one; not by a debugger."""
    return _state(pid) == "T"


def has_ended(pid: int | None) -> bool:
    """Whether a process is gone, or a zombie that its parent has not asked for yet."""
    return _state(pid) in {"", "Z", "X"}


def _state(pid: int | None) -> str:
    """The letter that the kernel shows for it; empty where there is no such process."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return status.rpartition(")")[2].split()[0]


def let_go_on(pid: int | None, *, stopped_before: bool) -> None:
    """Continue a process that a debugger has left stopped: the stop that attaching sends can outlive the debugger."""
    if pid and not stopped_before and is_stopped(pid):
        with suppress(OSError):
            os.kill(pid, signal.SIGCONT)
