"""A lock that a forked child has and can use, whichever thread had it.

Of the parent's threads a child has the one that forks alone: a lock that another one had stays taken for ever. So the
thread that forks has it meanwhile, on both sides. As Python's own hooks run in a child, they are traced: a lock that is
made anew there comes too late for what traces.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threading import RLock

_PATIENCE = 1.0
"""Seconds that a fork waits for another thread to let it go."""


class ForkLock:
    """Wraps a lock that one thread may take several times."""

    def __init__(self, lock: RLock) -> None:
        self._lock = lock
        self._forks: RLock | None = None
        """The lock, while a thread that forks has it."""
        self._follows = False

    def begin(self, lock: RLock) -> None:
        """Use a new lock, and follow the forks of this process from now on."""
        self._lock = lock
        if not self._follows:
            self._follows = True
            os.register_at_fork(before=self._hold, after_in_parent=self._let_go, after_in_child=self._let_go)

    def __enter__(self) -> None:
        """Take it."""
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        """Let it go."""
        self._lock.release()

    def _hold(self) -> None:
        if self._lock.acquire(timeout=_PATIENCE):
            self._forks = self._lock

    def _let_go(self) -> None:
        lock, self._forks = self._forks, None
        if lock is not None:
            lock.release()
