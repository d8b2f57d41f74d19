"""Two processes that are started at once find each other, whichever is first: a program, and the gdb that attaches.

Each names the same key. Under a lock the one that comes looks for one that waits, and connects to it; where there is
none it waits itself. So nothing polls, and a third party, which comes later, waits for a fourth.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import select
import socket
import struct
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Literal

from pyharness.host.descriptors import socket_above_streams
from pyharness.host.state import state_dir, state_errors
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Role = Literal["program", "gdb"]
OTHER: dict[Role, Role] = {"program": "gdb", "gdb": "program"}


class NobodyCameError(HarnessError):
    """Nobody came to the meeting in time."""


class AbandonedError(HarnessError):
    """Whoever wanted us to wait has gone."""


def meet(
    key: str, role: Role, *, within: float, hung_up: int = -1, waits: Callable[[], None] = lambda: None
) -> socket.socket:
    """A stream to the other process that names ``key``; it has the other role, and is this user's.

    ``waits`` is called if the other one is not there yet. ``NobodyCameError`` after ``within`` seconds,
    ``AbandonedError`` once the descriptor ``hung_up`` has no other end.
    """
    folder = state_dir("meetings", hashlib.sha256(key.encode()).hexdigest()[:16])
    with state_errors(), _locked(folder):
        waiting = _connect(folder, OTHER[role])
        if waiting is not None:
            return waiting
        listener, path = _listen(folder, role)
    try:
        waits()
        if _came(listener, within, hung_up):
            return socket_above_streams(listener.accept()[0])
        with _locked(folder):  # it may come at the last moment; nobody does once the path is gone
            path.unlink(missing_ok=True)
            if _came(listener, 0, -1):
                return socket_above_streams(listener.accept()[0])
        raise NobodyCameError(f"No {OTHER[role]} came within {within:g} s for {key!r}.")
    finally:
        path.unlink(missing_ok=True)
        listener.close()


def pid_of(peer: socket.socket) -> int:
    """The process at the other end, as the kernel knows it."""
    pid: int = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))[0]
    return pid


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _short(path: Path) -> Iterator[str]:
    """A name of ``path`` that fits into a socket's address, which has 107 bytes."""
    descriptor = os.open(path.parent, os.O_PATH)
    try:
        yield f"/proc/self/fd/{descriptor}/{path.name}"
    finally:
        os.close(descriptor)


def _connect(folder: Path, role: Role) -> socket.socket | None:
    """Connect to the one of that role that has waited longest, and take it out of the queue."""
    for path in sorted(folder.glob(f"{role}.*"), key=lambda one: one.stat().st_mtime_ns):
        peer = socket_above_streams(socket.socket(socket.AF_UNIX))
        with _short(path) as name, suppress(OSError):  # one that was killed left its path
            peer.connect(name)
            path.unlink(missing_ok=True)  # the other one takes it away too
            return peer
        peer.close()
        path.unlink(missing_ok=True)
    return None


def _listen(folder: Path, role: Role) -> tuple[socket.socket, Path]:
    path = folder / f"{role}.{os.getpid()}"
    path.unlink(missing_ok=True)  # of an earlier process with this number
    listener = socket_above_streams(socket.socket(socket.AF_UNIX))
    with _short(path) as name:
        listener.bind(name)
    listener.listen(1)
    return listener, path


def _came(listener: socket.socket, within: float, hung_up: int) -> bool:
    """Whether somebody connects in time."""
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    if hung_up >= 0:
        poll.register(hung_up, 0)  # POLLHUP is always told
    ready = dict(poll.poll(within * 1000))
    if listener.fileno() in ready:
        return True
    if ready:
        raise AbandonedError("Whoever started this has gone.")
    return False
