"""What a command's exit status says: one table for every verb, in docs/cli.md as well."""

from __future__ import annotations

import signal
from enum import IntEnum


class ExitStatus(IntEnum):
    """The statuses that are ours; beside them a verb that runs a program passes the program's own on."""

    OK = 0
    """Done, and nothing was found wrong."""
    FAILED = 1
    """Something was found, expected in vain, or could not be done."""
    USAGE = 2
    """What was typed cannot be meant; nothing was started."""
    INTERRUPTED = 128 + signal.SIGINT
    """Ctrl-C: what was started has ended."""
    UNREAD = 128 + signal.SIGPIPE
    """Whoever read the output left (``| head``), as a program says it that SIGPIPE ends."""
    TERMINATED = 128 + signal.SIGTERM
    """SIGTERM: what was started has ended."""


def of_program(code: int) -> int:
    """What a shell says of a program that ``subprocess`` says ``code`` of: 128 + N for signal N."""
    return 128 - code if code < 0 else code
