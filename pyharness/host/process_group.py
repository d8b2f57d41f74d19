"""Tells whether a signal was sent to a whole group of processes, as a terminal does, or to this one alone."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_PR_SET_PDEATHSIG = 1
_PENDING = "ShdPnd:"
"""The line of ``/proc/PID/status`` with the signals that wait for a process."""
_UNTIL_ALL_HAVE_IT = 0.02
"""Seconds in which the kernel has gone through a group."""


class Group:
    """A process of the group that does nothing but to let signals wait: the kernel does not say whom it sent one."""

    def __init__(self, signals: Iterable[signal.Signals]) -> None:
        self._signals = tuple(signals)
        self._begin()

    def has_got(self, number: int) -> bool:
        """Whether a signal that this process has just got was the group's."""
        time.sleep(_UNTIL_ALL_HAVE_IT)
        try:
            status = Path(f"/proc/{self._process}/status").read_text(encoding="utf-8")
        except OSError:
            return False
        waiting = next(line.split()[1] for line in status.splitlines() if line.startswith(_PENDING))
        if not int(waiting, 16) >> (number - 1) & 1:
            return False
        self.leave()
        self._begin()  # nothing waits for the next one
        return True

    def leave(self) -> None:
        """End that process."""
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)

    def _begin(self) -> None:
        parent = os.getpid()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, self._signals)
        self._process = os.fork()
        if not self._process:
            end_with(parent)
            os.closerange(0, 1024)  # nobody waits for the end of a stream because of it
            while True:
                signal.pause()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with(parent: int) -> None:
    """Do not outlive the process that has forked this one."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
