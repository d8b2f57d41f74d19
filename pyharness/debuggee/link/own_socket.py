"""A socket of ours in a program that may close all its descriptors, as daemons do, and get their numbers for files."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from typing import Any


class OwnSocket(socket.socket):
    """Takes over the descriptor of ``connection``, and leaves alone what has that number later."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(fileno=connection.detach())
        self._file = self._known()

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Send all, as a socket does; ``OSError`` where it is gone."""
        if not self._is_ours():
            raise OSError("the program has closed it")
        super().sendall(data, flags)

    def shutdown(self, how: int) -> None:
        """Shut down, as a socket does; nothing where it is gone."""
        if self._is_ours():
            super().shutdown(how)

    def close(self) -> None:
        """Give the descriptor back, at once, whatever reads from a stream of it."""
        ours = self._is_ours()
        descriptor = self.detach()
        if ours:
            os.close(descriptor)

    def _is_ours(self) -> bool:
        with suppress(OSError):
            return self._known() == self._file
        return False

    def _known(self) -> tuple[int, int]:
        known = os.fstat(self.fileno())
        return known.st_dev, known.st_ino
