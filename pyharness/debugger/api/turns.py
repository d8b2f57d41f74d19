"""Several threads that use one program: one at a time, and none while another has the program run."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Turns:
    """The turn is one thread's, again and again: a signal's handler may ask while its thread waits for a stop."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._thread = 0
        self._depth = 0
        self._runs = False

    @contextmanager
    def one(self, *, runs: bool = False) -> Iterator[None]:
        """Wait for the turn; ``HarnessError`` where another thread has the program run, which may take for ever."""
        with self._changed:
            while self._is_anothers():
                if self._runs:
                    raise HarnessError(
                        "The program is running: another thread waits for its next stop.",
                        "Ask when that call returns. Any thread may call kill, detach and close.",
                    )
                self._changed.wait()
            self._thread, self._runs = threading.get_ident(), self._runs or runs
            self._depth += 1
        try:
            yield
        finally:
            self._give_back()

    def wait(self, seconds: float) -> None:
        """Wait until no other thread is at work, no longer than that: it was told to return."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_anothers(), seconds)

    def _is_anothers(self) -> bool:
        return self._thread not in {0, threading.get_ident()}

    def _give_back(self) -> None:
        with self._changed:
            self._depth -= 1
            if not self._depth:
                self._thread, self._runs = 0, False
                self._changed.notify_all()
