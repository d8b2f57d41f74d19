"""Threads of ours in gdb, which take no signal.

gdb waits for a signal with the others blocked, on its main thread; one that another thread took would never wake it,
and gdb would sleep with every thread of the program halted (sigsuspend(2); gdb 13 has no ``gdb.Thread``).
"""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def start(function: Callable[..., None], *arguments: Any) -> None:
    """Run ``function`` on a thread that ends with gdb at the latest."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # a thread begins with its maker's mask
    try:
        threading.Thread(target=function, args=arguments, daemon=True).start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
