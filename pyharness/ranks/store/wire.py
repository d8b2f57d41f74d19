"""A client of torch's ``TCPStore``, without torch: the one place that knows what goes over its connection.

The messages are those of ``torch/csrc/distributed/c10d/TCPStoreBackend.hpp``: one byte says what is asked, lengths have
eight bytes, numbers are little-endian. Both of torch's servers (libuv, and the one before) are to speak so; the tests
ask the first.
"""

from __future__ import annotations

import os
import select
import socket
import struct
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

_VALIDATE, _SET, _GET, _ADD, _CHECK, _WAIT, _DELETE, _APPEND = 0, 1, 3, 4, 5, 6, 8, 9
_CANCEL_WAIT, _PING, _LIST_KEYS = 12, 13, 17
"""``QueryType`` of torch."""
_MAGIC = 0x3C85F7CE
_READY = b"\0"
"""The answer that all keys are there."""
_SET_NOW = b"\0"
"""The answer that what is waited for is there."""
_IDLE, _BETWEEN, _PROBES = 60, 20, 3
"""Seconds after which the kernel asks whether a silent store is still there, and how often."""
MAX_VALUE = 4 << 20
"""Bytes of a value that are taken."""
_MOST_KEYS = 100_000
PATIENCE = 12.0
"""Seconds for an answer. A store looks up the name of who connects, and answers nobody meanwhile: that may take ten."""


class NoStoreError(OSError):
    """What answers is no ``TCPStore``, or says something else than one would."""


class TcpStore:
    """A connection to a store; every method raises ``OSError`` where the store has gone, or is silent for too long."""

    def __init__(self, host: str, port: int, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._socket = socket.create_connection((host, port), patience)
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            _keep_alive(self._socket)
            self._greet()
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave; the store forgets what was waited for."""
        self._socket.close()

    def fileno(self) -> int:
        """The connection, which can be read once what is waited for is there, or the store has gone."""
        return self._socket.fileno()

    def _greet(self) -> None:
        mine = os.urandom(4)
        self._send(struct.pack("<BI", _VALIDATE, _MAGIC) + bytes([_PING]) + mine)
        if self._read(4) != mine:
            raise NoStoreError("it answers otherwise")

    def set(self, key: str, value: bytes) -> None:
        """Have the key mean that value."""
        self._send(bytes([_SET]) + _text(key) + _sized(value))

    def append(self, key: str, value: bytes) -> None:
        """Put the value behind what the key means, or nothing."""
        self._send(bytes([_APPEND]) + _text(key) + _sized(value))

    def add(self, key: str, amount: int) -> int:
        """Add to the number that the key means, 0 at first; the sum."""
        self._send(bytes([_ADD]) + _text(key) + struct.pack("<q", amount))
        return int(struct.unpack("<q", self._read(8))[0])

    def has(self, key: str) -> bool:
        """Whether the key means anything."""
        self._send(bytes([_CHECK]) + struct.pack("<Q", 1) + _text(key))
        return self._read(1) == _READY

    def get(self, key: str) -> bytes:
        """What a key means that the store has."""
        self._send(bytes([_GET]) + _text(key))
        return self._value()

    def delete(self, key: str) -> None:
        """Have the key mean nothing."""
        self._send(bytes([_DELETE]) + _text(key))
        self._read(8)

    def keys(self) -> list[str]:
        """All keys of the store; an old torch has no such question, and closes the connection."""
        self._send(bytes([_LIST_KEYS]))
        (count,) = struct.unpack("<Q", self._read(8))
        if count > _MOST_KEYS:
            raise NoStoreError(f"it has {count} keys")
        return [self._value().decode("utf-8", "replace") for _ in range(count)]

    def begin_wait(self, key: str) -> None:
        """Be told when the key is set; nothing else may be asked until ``end_wait``."""
        self._send(bytes([_WAIT]) + struct.pack("<Q", 1) + _text(key))

    def end_wait(self) -> None:
        """Hear that the key is set: the connection can be read."""
        self._read(1)

    def wait(self, key: str, seconds: float) -> bool:
        """Whether the key is set within that time."""
        self.begin_wait(key)
        if select.select([self], [], [], max(seconds, 0.0))[0]:
            self.end_wait()
            return True
        return self.stop_wait()

    def stop_wait(self) -> bool:
        """Wait no more; whether the key was set at this moment."""
        self._send(bytes([_CANCEL_WAIT]))
        if self._read(1) == _SET_NOW:  # that the wait is over is told, too
            self._read(1)
            return True
        return False

    def _send(self, message: bytes) -> None:
        self._socket.settimeout(self._patience)
        self._socket.sendall(message)

    def _value(self) -> bytes:
        (size,) = struct.unpack("<Q", self._read(8))
        if size > MAX_VALUE:
            raise NoStoreError(f"a value has {size} bytes")
        return self._read(size)

    def _read(self, size: int) -> bytes:
        """The next ``size`` bytes, within the patience for all of them."""
        until, parts, left = time.monotonic() + self._patience, [], size
        while left:
            self._socket.settimeout(max(until - time.monotonic(), 0.001))
            part = self._socket.recv(min(left, 1 << 16))
            if not part:
                raise ConnectionResetError("it has closed the connection")
            parts.append(part)
            left -= len(part)
        return b"".join(parts)


def _text(key: str) -> bytes:
    return _sized(key.encode())


def _sized(value: bytes) -> bytes:
    return struct.pack("<Q", len(value)) + value


def _keep_alive(connection: socket.socket) -> None:
    """Have the kernel find out that the other host has gone, and what lies between remember us."""
    options = ("TCP_KEEPIDLE", _IDLE), ("TCP_KEEPINTVL", _BETWEEN), ("TCP_KEEPCNT", _PROBES)
    with suppress(OSError):  # a kernel without these
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in options:
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
