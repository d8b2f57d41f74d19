"""Has debugpy, which an IDE connected, live beside a gdb that holds the whole process whenever it stops."""

from __future__ import annotations

import socket
import sys
import threading
from typing import Any

_PATIENCE = 1.0
"""Seconds until a program goes on although its debugger's messages are not sent: the debugger may be gone."""


def adapt() -> None:
    """Adapt the debugpy of this process; none is fine."""
    debugger = _debugger()
    if debugger is None:
        return
    from pyharness.debuggee import presentation

    presentation.register()
    # It sends the header and the body of a message apart: with Nagle's algorithm each costs a delayed ACK of 40 ms.
    debugger.writer.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    debugger.do_wait_suspend = _telling(debugger, debugger.do_wait_suspend)
    debugger.notify_skipped_step_in_because_of_filters = _nothing  # a step through torch is no news


def _debugger() -> Any:
    if "pydevd" not in sys.modules:
        return None
    import pydevd

    return pydevd.get_global_debugger()


def _telling(debugger: Any, wait: Any) -> Any:
    """Like pydevd's ``do_wait_suspend``, which holds a thread; it goes on once the IDE is told that it does.

    It may come to a breakpoint of gdb's at once. Then nothing more is sent, and the IDE would show the old stop.
    """

    def do_wait_suspend(*arguments: Any, **options: Any) -> None:
        wait(*arguments, **options)
        mark = _Mark()
        debugger.writer.add_command(mark)
        mark.sent.wait(_PATIENCE)

    return do_wait_suspend


class _Mark:
    """A message that sends nothing: those before it are sent."""

    id = 0
    as_dict = None

    def __init__(self) -> None:
        self.sent = threading.Event()

    def send(self, _sock: socket.socket) -> None:
        """pydevd's writer calls this in its turn."""
        self.sent.set()


def _nothing(*_arguments: Any) -> None:
    """Say nothing."""
