"""What a test has printed so far: pytest takes its output into files without a name, which end with its process."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_STREAMS = (1, 2)
_MOST = 64 << 10
"""Bytes of each that are kept: the last ones."""


def captured(process: int) -> str:
    """The text in the files that are the standard streams of a process; none where they are a terminal or a pipe."""
    return "".join(map(_tail, (f"/proc/{process}/fd/{stream}" for stream in _STREAMS)))


def _tail(path: str) -> str:
    try:
        status = os.stat(path)  # noqa: PTH116  (of what the link leads to)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink:  # a file with a name is whole without us
            return ""
        with Path(path).open("rb") as file:
            file.seek(max(0, status.st_size - _MOST))
            return file.read(_MOST).decode("utf-8", "replace")
    except OSError:
        return ""
