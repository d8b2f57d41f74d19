"""The control channel: the program asks, the controller answers, and only then the program goes on."""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING, Any

from pyharness.debuggee import quiet_thread
from pyharness.debuggee.contained import CONTAINMENT
from pyharness.model.json_lines import parsed

if TYPE_CHECKING:
    import socket


class Channel:
    """The debuggee's end of the socket pair: one JSON object a line, each ask with its answer."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._stream = self._socket.makefile("rwb")
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._open = True
        self._asked = 0

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send ``message`` and wait for the answer.

        Returns ``{}`` at once in a forked child (the conversation is the parent's) and when the controller is gone: the
        program then simply runs on. An expression does not wait either: what it loads or generates is told beside it.
        """
        if os.getpid() != self._owner:
            return {}
        if CONTAINMENT.prints_here() is not None:  # the controller waits for what this thread evaluates
            quiet_thread.start(self._tell_beside, message)
            return {}
        return self._ask(message)

    def _tell_beside(self, message: dict[str, Any]) -> None:
        self._ask(message)

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            if not self._open:
                return {}
            try:
                return self._exchange(message)
            except (OSError, ValueError):
                self._open = False
                return {}

    def _exchange(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send and read on to its own answer: a signal's handler may have raised while an earlier one was awaited."""
        self._asked += 1
        self._stream.write(json.dumps({**message, "id": self._asked}).encode() + b"\n")
        self._stream.flush()
        while True:
            answer = parsed(self._stream.readline())
            if answer.get("id") == self._asked:
                return answer
