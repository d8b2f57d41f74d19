"""Who may attach to this process with gdb, where Yama lets in only those whom it names (ptrace_scope 1)."""

from __future__ import annotations

import ctypes

_PR_SET_PTRACER = 0x59616D61


def allow_ptrace(pid: int) -> None:
    """Let the process ``pid``, and what it starts (gdb), attach; 0 is one that has no id here."""
    if pid > 0:
        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, pid, 0, 0, 0)
