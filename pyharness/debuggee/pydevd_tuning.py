"""What debugpy does better in a program with the harness beside it, however it came there."""

from __future__ import annotations

import socket
from typing import Any

from pyharness.debuggee import presentation, unwound_steps


def tune(debugger: Any) -> None:
    """Have pydevd show torch's objects, answer at once, step as told, and not tell of first steps through a library."""
    presentation.register()
    unwound_steps.watch()
    # It sends the header and the body of a message apart: with Nagle's algorithm each costs a delayed ACK of 40 ms.
    debugger.writer.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    debugger.notify_skipped_step_in_because_of_filters = _nothing  # VS Code would open a notification


def _nothing(*_arguments: Any) -> None:
    """Say nothing."""
