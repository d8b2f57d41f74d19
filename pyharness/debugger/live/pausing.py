"""A pause of a program that runs: debugpy's at the next line of Python; where none comes soon, gdb's."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from pyharness.host.process_state import computed, processor_times

if TYPE_CHECKING:
    from pyharness.debugger.shell import Events, Shell

_PYTHON_PAUSES = 0.25
"""Seconds in which Python code that runs comes to a line; of a thread that computes, its own seconds."""
_EARLY = 0.05
"""Seconds that a timer may come too early."""
_LONGEST = 5.0
"""Seconds after which gdb comes to a thread that has hardly run at all."""


class Pausing:
    """Stops a program wherever it is; the second half is an event of its own, ``pause``."""

    def __init__(self, shell: Shell, events: Events) -> None:
        self._shell = shell
        self._events = events
        self._had, self._ends = 0.0, 0.0
        """The processor time that the thread had when the pause began, and when we wait for Python no longer."""
        self._looks = 0.0
        """When we look next whether Python has come to a line; a look before that was for an earlier pause."""

    def begin(self, thread: int) -> None:
        """Have debugpy stop; ``thread`` is gdb's, where nothing of Python's comes to a line."""
        self._shell.python.post("pause", {"threadId": "*"})
        self._shell.machine.pausing = "python"
        times = processor_times(self._shell.process.pid)  # also of a thread that waits for the GIL at this moment
        self._had, self._ends = times.get(self._lwp_of(thread), 0.0), time.monotonic() + _LONGEST
        self._look_later(thread)

    def _look_later(self, thread: int) -> None:
        self._looks = time.monotonic() + _PYTHON_PAUSES - _EARLY
        native = threading.Timer(_PYTHON_PAUSES, self._events.put, (("pause", thread),))
        native.daemon = True
        native.start()

    def goes_on(self, thread: int) -> None:
        """Have gdb stop a thread, unless something has stopped meanwhile, or a busy machine lets it hardly run."""
        shell = self._shell
        if not shell.machine.pausing or shell.exit_code is not None or time.monotonic() < self._looks:
            return
        if not self._had_its_time(thread) and time.monotonic() < self._ends:
            self._look_later(thread)
            return
        shell.python.forget_pause()
        shell.machine.pausing = "native"
        shell.attach().threads.pause(self._lwp_of(thread))

    def _had_its_time(self, thread: int) -> bool:
        """Whether Python could have come to a line; the busier the machine, the longer debugpy takes."""
        now = self._computed(thread)
        if now is None:
            return True
        computed_since, since = now - self._had, time.monotonic() - (self._ends - _LONGEST)
        return computed_since * computed_since >= _PYTHON_PAUSES * since

    def _computed(self, thread: int) -> float | None:
        return computed(self._shell.process.pid, self._lwp_of(thread))

    def _lwp_of(self, thread: int) -> int:
        return thread if thread in self._shell.tasks else self._shell.process.pid
