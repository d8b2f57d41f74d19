"""Where clients come from: this process's own standard streams, or a TCP port on the loopback interface."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import signal
import socket
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyharness.dap import handlers  # noqa: F401  (registers every request)
from pyharness.dap.connection import Connection
from pyharness.dap.session import Session
from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LOOPBACK = "127.0.0.1"
_VARIABLE = "PYHARNESS_TOKEN"
_LENGTH = 24


def serve_stdio() -> None:
    """Serve the client on standard input and output; whatever else prints goes to standard error."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    Session(Connection(incoming, outgoing, lambda: None), lambda _token: True).run()


@dataclass
class Server:
    """Listens on a port; a client debugs once it has given the token."""

    port: int
    token: str = ""

    def __post_init__(self) -> None:
        self.token = self.token or _chosen() or secrets.token_urlsafe(_LENGTH)
        try:
            self._socket = socket.create_server((_LOOPBACK, self.port), backlog=8)
        except OSError as error:
            reason = os.strerror(error.errno or 0).lower()
            raise UsageError(f"Port {self.port} cannot be listened on: {reason}.", "Name another, or 0.") from error
        self.port = self._socket.getsockname()[1]
        self._lock = threading.Lock()
        self._sessions: list[Session] = []

    def serve(self, announce: Callable[[dict[str, object]], None], *, once: bool = False) -> None:
        """Accept clients, each on a thread of its own, until interrupted."""
        announce({"host": _LOOPBACK, "port": self.port, "token": self.token})
        with self._socket, _signals() as signalled:
            while True:
                ready, _, _ = select.select([self._socket, signalled], [], [])
                if signalled in ready:
                    signalled.recv(1)  # a handler that does not raise has run
                    continue
                stream, _ = self._socket.accept()
                if not _is_mine(stream):
                    stream.close()
                    continue
                thread = threading.Thread(target=self._serve, args=(stream,), name="pyharness-session")
                thread.start()
                if once:
                    thread.join()
                    return

    def close(self) -> None:
        """End every session, as if its client had gone."""
        with self._lock:
            sessions = list(self._sessions)
        for session in sessions:
            session.put("client", None)

    def _serve(self, stream: socket.socket) -> None:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def hang_up() -> None:
            with contextlib.suppress(OSError):
                stream.shutdown(socket.SHUT_RDWR)

        client = Connection(stream.fileno(), stream.fileno(), hang_up, forgiving=False)
        door: dict[str, object] = {"debugServer": self.port, "token": self.token}
        session = Session(client, self._may, door)
        with self._lock:
            self._sessions.append(session)
        try:
            session.run()
        finally:
            with self._lock:
                self._sessions.remove(session)
            stream.close()

    def _may(self, token: str) -> bool:
        """Whether a client may debug."""
        return secrets.compare_digest(token.encode("utf-8", "replace"), self.token.encode())


@contextlib.contextmanager
def _signals() -> Iterator[socket.socket]:
    """What can be read once a signal came: one that comes just before ``accept`` begins to wait does not end that."""
    ours, pythons = socket.socketpair()
    with ours, pythons:
        pythons.settimeout(0)
        before = signal.set_wakeup_fd(pythons.fileno())
        try:
            yield ours
        finally:
            signal.set_wakeup_fd(before)


def _chosen() -> str:
    """The token that the environment names, for clients whose configuration is written beforehand."""
    token = os.environ.get(_VARIABLE, "")
    if token and len(token) < _LENGTH:
        short = f"${_VARIABLE} has {len(token)} characters: others could guess it."
        raise UsageError(short, f"Give it {_LENGTH} or more.")
    return token


def _is_mine(stream: socket.socket) -> bool:
    """Whether the process at the other end is this user's: any user of the machine can connect to a loopback port."""
    host, port = stream.getpeername()
    address = f"{int.from_bytes(socket.inet_aton(host), 'little'):08X}:{port:04X}"
    with contextlib.suppress(OSError), open("/proc/net/tcp", encoding="ascii") as table:  # noqa: PTH123
        for line in table:
            fields = line.split()
            if fields[1] == address:
                return int(fields[7]) in {os.getuid(), 0}
    return True  # no /proc/net here: the loopback interface and the token are what is left
