"""Whether the selected thread stands at a signal that ends the program."""

from __future__ import annotations

import signal

import gdb

from pyharness.ingdb.process.signal_info import signal_info

_FATAL = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT}


def is_here() -> bool:
    """Whether it got one."""
    try:
        return int(signal_info()["si_signo"]) in _FATAL
    except (gdb.error, ValueError):
        return False
