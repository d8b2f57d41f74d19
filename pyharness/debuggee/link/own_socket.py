"""A socket of ours in a program that may close all its descriptors, as daemons do, and get their numbers for files."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from pyharness.debuggee.unpatched import socket


class OwnSocket(socket.socket):
    """Takes over the descriptor of ``connection``, and leaves alone what has that number later."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(fileno=connection.detach())
        self.setblocking(True)  # one that gevent has made is not  # noqa: FBT003
        self._file = _known(self.fileno())

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Send all, as a socket does; ``OSError`` where it is gone."""
        if not self._is_ours(self.fileno()):
            raise OSError("the program has closed it")
        super().sendall(data, flags)

    def shutdown(self, how: int) -> None:
        """Shut down, as a socket does; nothing where it is gone."""
        if self._is_ours(self.fileno()):
            super().shutdown(how)

    def close(self) -> None:
        """Give the descriptor back, at once, whatever reads from a stream of it; the first of several who do so."""
        descriptor = self.detach()
        if descriptor >= 0 and self._is_ours(descriptor):
            os.close(descriptor)

    def _is_ours(self, descriptor: int) -> bool:
        with suppress(OSError):
            return _known(descriptor) == self._file
        return False


def _known(descriptor: int) -> tuple[int, int]:
    known = os.fstat(descriptor)
    return known.st_dev, known.st_ino
