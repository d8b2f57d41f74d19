"""What we send through debugpy, and waiting until it is sent: its writer is a thread, and dies with the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.debuggee.unpatched import threading, time

if TYPE_CHECKING:
    import socket

    from pyharness.protocol.pydevd import Data

_SLICE = 0.1
"""Seconds from one look to the next whether the writer lives."""


def send(debugger: Any, text: str, category: str, data: Data[None] | None) -> None:
    """Have debugpy tell a client an ``output``, whose ``data`` are for our controller."""
    from _pydevd_bundle._debug_adapter.pydevd_schema import OutputEvent, OutputEventBody
    from _pydevd_bundle.pydevd_comm_constants import CMD_WRITE_TO_CONSOLE
    from _pydevd_bundle.pydevd_net_command import NetCommand

    event = OutputEvent(OutputEventBody(text, category, data=data.to_data() if data else None))
    debugger.writer.add_command(NetCommand(CMD_WRITE_TO_CONSOLE, 0, event, is_json=True))


def wait_until_sent(debugger: Any, patience: float = float("inf")) -> None:
    """Wait for all that the writer of pydevd's ``debugger`` has in its queue, as long as it can send."""
    mark, writer = _Mark(), debugger.writer
    writer.add_command(mark)
    ends = time.monotonic() + patience
    while not mark.sent.wait(min(_SLICE, patience)):
        if not writer.is_alive() or debugger.pydb_disposed or time.monotonic() >= ends:
            return


class _Mark:
    """A message that sends nothing: those before it are sent."""

    id = 0
    as_dict = None

    def __init__(self) -> None:
        self.sent = threading.Event()

    def send(self, _sock: socket.socket) -> None:
        """pydevd's writer calls this in its turn."""
        self.sent.set()
