"""What debugpy does better in a program with the harness beside it, however it came there."""

from __future__ import annotations

import socket
from typing import Any

from pyharness.debuggee import presentation


def tune(debugger: Any) -> None:
    """Have pydevd show torch's objects, answer at once, and not tell of each first step through a library."""
    presentation.register()
    # It sends the header and the body of a message apart: with Nagle's algorithm each costs a delayed ACK of 40 ms.
    debugger.writer.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    debugger.notify_skipped_step_in_because_of_filters = _nothing  # VS Code would open a notification


def _nothing(*_arguments: Any) -> None:
    """Say nothing."""
