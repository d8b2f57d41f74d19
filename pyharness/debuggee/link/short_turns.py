"""Has threads of Python take shorter turns for a while: what we import beside a program that computes comes sooner.

A thread that looks at a file lets go of the GIL, and gets it back after ``sys.getswitchinterval()`` where another one
computes: 5 ms. Importing debugpy looks at some hundred files.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyharness.debuggee.unpatched import threading

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORT = 0.0001


class _Turns:
    """The interval that was there, while somebody wants short ones."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted = 0
        self._usual = self._ours = 0.0

    def shorten(self) -> None:
        with self._lock:
            self._wanted += 1
            if self._wanted == 1:
                self._usual = sys.getswitchinterval()
                sys.setswitchinterval(min(_SHORT, self._usual))
                self._ours = sys.getswitchinterval()

    def give_back(self) -> None:
        with self._lock:
            self._wanted -= 1
            if not self._wanted and sys.getswitchinterval() == self._ours:  # else the program has set another one
                sys.setswitchinterval(self._usual)


_TURNS = _Turns()


@contextmanager
def short_turns() -> Iterator[None]:
    """Threads take short turns in this block."""
    _TURNS.shorten()
    try:
        yield
    finally:
        _TURNS.give_back()
