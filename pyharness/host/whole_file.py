"""Writes files whole or not at all: beside the file first, then in its place.

All errors are ``OSError``, and what was begun is removed.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

_MOST_OF_NAME = 100
"""Characters of a file's name in that of the file beside it: names may have 255 bytes."""


def write_whole(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Replace what ``path`` itself is, or make it: with ``mode`` less the umask, or the mode that it has."""
    beside = path.with_name(f".{path.name[:_MOST_OF_NAME]}.{os.urandom(8).hex()}")
    kept = _mode_of(path)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            if kept is not None:
                os.fchmod(stream.fileno(), kept)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _mode_of(path: Path) -> int | None:
    """Permissions of a file that is there."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    return stat.S_IMODE(status.st_mode) if stat.S_ISREG(status.st_mode) else None


def write_output(path: Path, data: bytes) -> None:
    """Write what a person has named, be it a link or a device: a file whole, wherever its folder takes one more."""
    if path.exists() and not path.is_file():  # /dev/stdout may be a pipe, which has no name to resolve to
        path.write_bytes(data)
        return
    whole = Path(os.path.realpath(path))
    if not os.access(whole.parent, os.W_OK):
        whole.write_bytes(data)
    else:
        write_whole(whole, data)
