"""Handles: names of running programs that wait for a debugger, each with a socket and a card in a private folder."""

from __future__ import annotations

import errno
import json
import os
import re
import socket
import struct
import sys
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.host.descriptors import socket_above_streams
from pyharness.host.folders import current_folder
from pyharness.host.process_state import start_of
from pyharness.host.regular_file import read_own
from pyharness.host.state import StateError, state_dir, state_errors, write_private
from pyharness.model.errors import UsageError
from pyharness.model.frozen import frozen
from pyharness.model.text.json_lines import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,60}")
_SOCKET, _CARD = ".sock", ".json"
_MOST = 8 << 20
"""Bytes of a card: it has a command line, which may be long."""
_A_MOMENT = 0.001


@frozen
class Handle:
    """A program that listens; ``started`` tells it from a later process with the same number."""

    name: str
    pid: int
    started: int
    """Clock ticks from the boot to its start, as the kernel has it."""
    place: str
    """The boot and the pid namespace in which ``pid`` means something: home folders are shared among machines."""
    command: str
    cwd: str
    python: str
    parent: str = ""
    """The handle of the program that started it, where that is debugged too."""
    folder: str = ""
    """Where socket and card lie."""

    def to_json(self) -> dict[str, Any]:
        """The object that ``pyharness run --list --json`` prints."""
        return {key: value for key, value in asdict(self).items() if key not in {"started", "place", "folder"}}

    def connect(self, seconds: float = 0) -> socket.socket:
        """A connection to the program; ``OSError`` where it does not listen any more.

        ``BlockingIOError`` where it takes none within that time: it is stopped, and its queue is full.
        """
        connection = socket_above_streams(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        try:
            _wait_at_most(connection, max(seconds, _A_MOMENT))
            with _short(Path(self.folder)) as folder:
                connection.connect(f"{folder}/{self.name}{_SOCKET}")
            _wait_at_most(connection, 0)
        except OSError:
            connection.close()
            raise
        return connection

    @property
    def alive(self) -> bool | None:
        """Whether it listens; ``None`` where that cannot be told from here."""
        if self.place != place():
            return None
        if start_of(self.pid) != self.started:
            return False
        try:
            self.connect().close()
        except OSError as error:
            return error.errno not in {errno.ECONNREFUSED, errno.ENOENT}  # a full queue is somebody's
        return True

    def remove(self) -> None:
        """Take socket and card away."""
        for suffix in (_SOCKET, _CARD):
            with suppress(OSError):
                (Path(self.folder) / f"{self.name}{suffix}").unlink()


def _wait_at_most(connection: socket.socket, seconds: float) -> None:
    """Let the kernel give up what it waits for, so that the program takes what is sent; 0 is for ever."""
    whole, rest = divmod(round(seconds * 1e6), 1_000_000)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", whole, rest))


def check_name(name: str) -> str:
    """``name``, where it can be a handle."""
    if not _NAME.fullmatch(name) or name.isdigit() or name.startswith("."):
        raise UsageError(
            f"{name!r} cannot be a handle.", "Use up to 60 letters, digits, '-', '_' and '.'; not digits alone."
        )
    return name


def default_name(script: str, pid: int) -> str:
    """The handle of a script or a module that was given none: its name and its process id."""
    is_file = os.sep in script or os.path.lexists(script)  # else a module
    stem = Path(script).stem if is_file else script.rpartition(".")[2]
    return f"{re.sub(r'[^A-Za-z0-9_-]', '-', stem)[:40].lstrip('-') or 'program'}-{pid}"


def listen(name: str, command: str, parent: str = "", where: str = "") -> tuple[Handle, socket.socket]:
    """Become the program with this handle: its card, and the socket on which debuggers come.

    In the folder ``where`` of whoever debugs, if this process may write there, else in its own user's.
    ``UsageError`` where another program has the name, ``StateError`` where the folder cannot be used.
    """
    folder = Path(where) if where and os.access(where, os.W_OK | os.X_OK) else state_dir("run")
    pid = os.getpid()
    here = str(current_folder() or "")
    handle = Handle(name, pid, start_of(pid), place(), command, here, sys.executable, parent, str(folder))
    before = _read(folder / f"{name}{_CARD}")
    if before is not None and before.alive is not False:
        raise UsageError(f"There is a program {name!r} already: process {before.pid}.", "Choose another --name.")
    handle.remove()
    with state_errors():
        return handle, _bound(handle, folder)


def _bound(handle: Handle, folder: Path) -> socket.socket:
    listener = socket_above_streams(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
    try:
        with _short(folder) as short:
            listener.bind(f"{short}/{handle.name}{_SOCKET}")
        (folder / f"{handle.name}{_SOCKET}").chmod(0o600)  # the folder is private before that
        listener.listen(8)
        write_private(folder / f"{handle.name}{_CARD}", json.dumps(asdict(handle)).encode())
    except OSError:
        listener.close()
        handle.remove()
        raise
    return listener


def live() -> list[Handle]:
    """Every program that listens now, oldest first; what is left of programs that were killed is taken away.

    None where there can be no folder of them.
    """
    try:
        folder = state_dir("run")
    except StateError:
        return []
    found = []
    for path in folder.glob(f"*{_CARD}"):
        handle = _read(path)
        if handle is None:
            continue
        alive = handle.alive
        if alive:
            found.append(handle)
        elif alive is False:
            handle.remove()
    return sorted(found, key=lambda handle: (handle.started, handle.name))


def place() -> str:
    """The boot and the pid namespace of this process."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot} {Path('/proc/self/ns/pid').readlink()}"


def from_json(data: dict[str, Any]) -> Handle:
    """The handle that ``asdict`` made."""
    return Handle(**data)


def _read(card: Path) -> Handle | None:
    """The handle of a card; one that somebody moved or spoiled counts as none."""
    try:
        handle = from_json(parsed(read_own(card, _MOST)))
    except (OSError, ValueError, TypeError):
        return None
    return handle if (handle.folder, handle.name + _CARD) == (str(card.parent), card.name) else None


@contextmanager
def _short(folder: Path) -> Iterator[str]:
    """A short name of ``folder``: a socket's path may have 107 bytes."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
