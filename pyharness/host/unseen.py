"""What a process of ours does that lives beside the program: nobody waits for it."""

from __future__ import annotations

import os
from contextlib import suppress

_ERRORS = 2
"""The descriptor that reports are announced on."""


def leave_streams(*, errors: bool = False) -> None:
    """Nobody shall wait for the end of the program's output because of this process; ``errors``: nor of stderr."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, _ERRORS) if errors else (0, 1):
        os.dup2(nothing, stream)
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208  (a number each; the limit may be a billion)
        if int(name) > _ERRORS:
            with suppress(OSError):  # the folder itself is closed by now
                os.close(int(name))
