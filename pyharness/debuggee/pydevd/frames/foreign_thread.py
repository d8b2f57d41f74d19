"""Threads that C++ has made, known to ``threading`` while they live: pydevd traces no others.

From Python 3.12 on ``threading`` forgets them itself.
"""

from __future__ import annotations

from typing import Any

from pyharness.debuggee.unpatched import threading

_local = threading.local()


class _Leaves:
    """Collected when its thread has left Python: what is a thread's own goes then."""

    def __init__(self, active: dict[int, Any], ident: int) -> None:
        self._active, self._ident = active, ident
        self._thread = active.get(ident)

    def __del__(self) -> None:
        if self._active.get(self._ident) is self._thread:
            self._active.pop(self._ident, None)


def make_known(debugger: Any) -> None:
    """Have ``threading`` know the calling thread, as far as pydevd looks for it there."""
    active, ident = debugger.threading_active, debugger.threading_get_ident()
    if ident not in active:
        debugger.threading_current_thread()
        _local.leaves = _Leaves(active, ident)
