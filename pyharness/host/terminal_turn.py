"""Whose turn it is at a terminal: of several processes that open a prompt there, one stands at a time."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from pyharness.host.state import StateError, state_dir


class Turn:
    """The lock of this process's terminal; without a state folder nobody waits for anybody."""

    def __init__(self) -> None:
        self.held = False
        self._file = -1
        with suppress(OSError, StateError):
            path = state_dir("terminals") / f"{_terminal()}.lock"
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def take(self) -> bool:
        """Whether it is this process's from now on."""
        if self._file >= 0 and not self.held:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return False
        self.held = True
        return True

    def leave(self) -> None:
        """Let the next one have it."""
        self.held = False
        if self._file >= 0:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Leave it, and give the file back."""
        if self._file >= 0:
            os.close(self._file)
        self.held, self._file = False, -1


def told(pid: int) -> bytes:
    """What whoever sits at the terminal is told of a process that waits."""
    return f"\r\npyharness: process {pid} waits at its stop until the prompt of another one goes on.\r\n".encode()


def _terminal() -> int:
    """The kernel's number of the terminal of this process's session."""
    return int(Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[4])
