"""The door at which child processes of a debugged program call: each says who it is and waits, if it was told to."""

from __future__ import annotations

import os
import select
import socket
import struct
import threading
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyharness.host.descriptors import socket_above_streams, streams_held
from pyharness.host.forks import blind, own
from pyharness.model.codec import MalformedError
from pyharness.protocol.channel import Child, Children, message_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.protocol.channel import Message

_MAX_MESSAGE = 1 << 16


class ChildProcesses:
    """Listens on an abstract socket, which leaves nothing behind, and takes callers of this user or root only.

    ``on_message`` gets each ``Child`` on a thread of this object. The child
    waits for a debugger no longer than ``wait`` seconds, and not after ``let_go``.
    """

    def __init__(
        self,
        on_message: Callable[[Message[Any]], None],
        wait: float,
        parent: str,
        ranks: tuple[int, ...] | None = None,
    ) -> None:
        self._on_message = on_message
        self._name = f"pyharness-{os.getpid()}-{os.urandom(8).hex()}"
        with streams_held():
            self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._wake, self._sleeper = socket.socketpair()
        self._listener.bind("\0" + self._name)
        self._listener.listen(64)
        self._callers: dict[int, socket.socket] = {}
        self._open: list[socket.socket] = []
        """All connections, also of those who call twice."""
        self._hung_up = threading.Condition()
        self.told = Children(self._name, wait, parent, ranks)
        """What the program tells its children."""
        own(self)
        self._thread = threading.Thread(target=self._serve, name="pyharness-children", daemon=True)
        self._thread.start()

    def let_go(self, pid: int) -> None:
        """Nobody will debug this child: it need not wait."""
        if caller := self._callers.get(pid):
            with suppress(OSError):
                caller.shutdown(socket.SHUT_RDWR)

    def dismiss(self, seconds: float) -> None:
        """Tell all who called that nobody debugs any more, and wait until they have heard it, but no longer than that.

        A rank gives its process groups their own timeouts again before it hangs up.
        """
        for caller in list(self._open):
            with suppress(OSError):
                caller.shutdown(socket.SHUT_WR)
        with self._hung_up:
            self._hung_up.wait_for(lambda: not self._open, seconds)

    def close(self) -> None:
        """Children that wait go on, and later ones find nobody."""
        with suppress(OSError):
            self._wake.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._wake.close()

    def disown(self) -> None:
        """Forget it, in a forked child: whoever calls is its parent's."""
        blind(one.fileno() for one in (self._listener, *list(self._callers.values())))

    def _serve(self) -> None:
        try:
            while True:
                ready, _, _ = select.select([self._sleeper, self._listener, *self._open], [], [])
                if self._sleeper in ready:
                    return
                if self._listener in ready:
                    self._open.append(socket_above_streams(self._listener.accept()[0]))
                for caller in [one for one in self._open if one in ready]:
                    if not self._heard(caller):
                        with self._hung_up:
                            self._open.remove(caller)
                            self._hung_up.notify_all()
        finally:
            for one in (*self._open, self._listener, self._sleeper):
                one.close()

    def _heard(self, caller: socket.socket) -> bool:
        """Take what a caller says; whether it stays."""
        raw = caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid, user, _group = struct.unpack("3i", raw)
        with suppress(OSError, MalformedError):
            message = message_in(caller.recv(_MAX_MESSAGE))[0]
            if user in {0, os.geteuid()} and isinstance(message, Child):
                self._callers[pid] = caller
                self._on_message(replace(message, pid=pid))
                return True
        if self._callers.get(pid) is caller:
            del self._callers[pid]
        caller.close()
        return False
