"""Who may attach to this process with gdb, where Yama lets in only those whom it names (ptrace_scope 1)."""

from __future__ import annotations

import ctypes
from typing import ClassVar

_PR_SET_PTRACER = 0x59616D61


_ANY = -1


class _Allowed:
    """Who may attach to this process, of which the kernel keeps one."""

    everyone: ClassVar[bool] = False


def allow_everyone() -> None:
    """Let each process of the same user attach, as where there is no Yama."""
    _Allowed.everyone = True
    ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(_ANY), 0, 0, 0)


def allow_ptrace(pid: int) -> None:
    """Let the process ``pid``, and what it starts (gdb), attach; 0 is one that has no id here."""
    if pid > 0 and not _Allowed.everyone:
        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, pid, 0, 0, 0)
