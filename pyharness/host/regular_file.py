"""Reads files that are files: a pipe would keep its reader waiting for ever, a device may have no end.

All errors are ``OSError``, as of a file that cannot be read.
"""

from __future__ import annotations

import codecs
import errno
import os
import re
import stat

MAX_SOURCE = 64 << 20
"""Bytes of the largest source that is read; those that compilers generate have a few MiB."""

_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)  # as PEP 263 has it
_KERNELS = re.compile(r"/(?:proc|sys)/")
"""What lies there only says that it is a regular file: reading ``/proc/kmsg`` takes the kernel's messages away."""
_EMPTY = re.compile(rb"[ \t\f]*(?:[#\r]|$)")


def read_regular(path: str | os.PathLike[str], most: int = MAX_SOURCE) -> bytes:
    """The content of a regular file, or of a link to one, of at most ``most`` bytes."""
    if _KERNELS.match(os.path.realpath(path)):
        raise OSError(errno.EINVAL, "no regular file", os.fspath(path))
    _check(path, os.stat(path))  # noqa: PTH116  (a device must not even be opened: some act on that)
    return _read(path, os.O_RDONLY, most)


def read_own(path: str | os.PathLike[str], most: int = MAX_SOURCE) -> bytes:
    """The content of a regular file of this user's that lies at ``path`` itself, as pyharness writes them."""
    status = os.lstat(path)
    _check(path, status)
    if status.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "the file belongs to another user", os.fspath(path))
    return _read(path, os.O_RDONLY | os.O_NOFOLLOW, most)


def read_text(path: str | os.PathLike[str], most: int = MAX_SOURCE) -> str:
    """The text of a regular file as Python reads a source: in the encoding that it names at its start, else in UTF-8.

    A mark of its byte order is no part of it, line ends are made one, bytes that are no text are replaced.
    """
    data = read_regular(path, most)
    text = data.decode(_encoding(data), errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _encoding(data: bytes) -> str:
    """The encoding that the first two lines name as Python has it: in a comment of their own; UTF-8 where none does."""
    for line in () if data.startswith(codecs.BOM_UTF8) else data.split(b"\n", 2)[:2]:
        if found := _COOKIE.match(line):
            name = found[1].decode("ascii")
            return name if _is_text(name) else "utf-8"
        if not _EMPTY.match(line):
            break
    return "utf-8-sig"


def _is_text(encoding: str) -> bool:
    """Whether there is such an encoding of text, with ASCII as it is: ``hex`` and UTF-16 are none."""
    try:
        return b"a".decode(encoding) == "a"
    except (LookupError, ValueError):
        return False


def _check(path: str | os.PathLike[str], status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "no regular file", os.fspath(path))


def _read(path: str | os.PathLike[str], flags: int, most: int) -> bytes:
    # The file may be another one by now: a pipe without a writer does not hold up one that does not block.
    with open(os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:  # noqa: PTH123  (a descriptor)
        _check(path, os.fstat(stream.fileno()))
        data: bytes | None = stream.read(most + 1)
    if data is None:  # there may be some later, as of a device
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN), os.fspath(path))
    if len(data) > most:
        raise OSError(errno.EFBIG, f"more than {most >> 20} MiB", os.fspath(path))
    return data
