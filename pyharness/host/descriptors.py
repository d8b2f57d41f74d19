"""Keeps what we open away from descriptors 0, 1 and 2: they are a program's streams, where they are closed, too.

The kernel gives out the lowest number that is free. A program whose standard input is closed would find our socket
there, read from it, and write into it.
"""

from __future__ import annotations

import fcntl
import os
import socket
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIRST = 3
_PIDFD_GETFD = 438


def above_streams(descriptor: int) -> int:
    """The descriptor, or where that is a stream's: its copy above, which no program that is started inherits."""
    if descriptor >= _FIRST:
        return descriptor
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST)
    finally:
        os.close(descriptor)


def taken_from(pid: int, descriptor: int) -> int:
    """A copy of a descriptor that another process has: who may trace that one may have it. From Linux 5.6 on."""
    import ctypes  # few need it

    libc, process = ctypes.CDLL(None, use_errno=True), os.pidfd_open(pid)
    try:
        taken: int = libc.syscall(_PIDFD_GETFD, process, descriptor, 0)
    finally:
        os.close(process)
    if taken < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return above_streams(taken)


def socket_above_streams(opened: socket.socket) -> socket.socket:
    """A socket that has just been opened, above the streams; it does not wait for less long than by default."""
    return opened if opened.fileno() >= _FIRST else socket.socket(fileno=above_streams(opened.detach()))


def hold_streams() -> list[int]:
    """Open what is closed of 0, 1 and 2 on /dev/null, for this process: one that it starts has it closed as before."""
    return [os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC) for stream in range(_FIRST) if not _is_open(stream)]


@contextmanager
def streams_held() -> Iterator[None]:
    """What is opened within lies above the streams, pipes of ``subprocess`` as well."""
    held = hold_streams()
    try:
        yield
    finally:
        for descriptor in held:
            os.close(descriptor)


def inherited() -> list[int]:
    """What this process was given beside its streams and would pass on: ``<(command)`` and ``7<file`` of a shell."""
    found = []
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208  (a glob opens one more)
        with suppress(OSError):  # the folder itself is closed by now
            if int(name) >= _FIRST and os.get_inheritable(int(name)):
                found.append(int(name))
    return found


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
