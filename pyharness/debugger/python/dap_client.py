"""debugpy in the user's program, spoken to over DAP on a socket that only the two processes have."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections import deque
from typing import TYPE_CHECKING

from pyharness.dapwire.message import Malformed, Message, request
from pyharness.dapwire.wire import Decoder, encode
from pyharness.host.forks import blind, own
from pyharness.host.process_state import is_stopped
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK = 65536
_PATIENCE = 3.0
"""Seconds that the reading thread may take to end."""
_SLICE = 1.0
"""Seconds between two looks whether the program can answer at all."""


class LinkClosedError(HarnessError):
    """debugpy hung up; whether its program has ended, or lives on without it, shows in the program."""

    def __init__(self) -> None:
        super().__init__("debugpy, in the program, ended the connection.", "Is the program ending?")


class RequestError(HarnessError):
    """debugpy refused a request; the message is its own."""


class Pending:
    """A request that waits for its response."""

    def __init__(self) -> None:
        self.answered = threading.Event()
        self.response: Message | None = None
        self.crash = ""
        """What a signal did to the user's code that it runs: nobody will answer."""


class DapClient:
    """Speaks DAP on a connected socket, and reads it on a thread of its own.

    ``on_event`` is called on that thread with each DAP event and, with ``None``, once when the other side hangs up.
    ``pid`` is the process at the other end.
    """

    def __init__(self, connection: socket.socket, on_event: Callable[[Message | None], None], pid: int) -> None:
        self._pid = pid
        self._socket = connection
        self._on_event = on_event
        self._lock = threading.Lock()
        self._sequence = 0
        self._pending: dict[int, Pending] = {}
        self._ended = threading.Event()
        self.transcript: deque[str] = deque(maxlen=2000)
        own(self)
        self._reader = threading.Thread(target=self._read, name="pyharness-debugpy", daemon=True)
        self._reader.start()

    @property
    def alive(self) -> bool:
        """Whether debugpy still answers."""
        return not self._ended.is_set()

    def post(self, command: str, arguments: Message | None = None, pending: Pending | None = None) -> Pending:
        """Send a request and do not wait: what resumes a thread is answered only when the GIL can be had.

        A caller that needs to know its ``pending`` as soon as the program may act on the request brings it along.
        """
        pending = pending or Pending()
        with self._lock:
            self._sequence += 1
            message = request(self._sequence, command, arguments)
            self._pending[self._sequence] = pending
            self._write(message, pending)
        return pending

    def request(self, command: str, arguments: Message | None = None, timeout: float = 30.0) -> Message:
        """Send a request and wait for the response's body."""
        return self.wait(self.post(command, arguments), command, timeout)

    def wait(self, pending: Pending, command: str, timeout: float = 30.0) -> Message:
        """The body of the response to a request that was posted."""
        if not self.is_answered(pending, timeout):
            raise RequestError(
                f"debugpy did not answer {command!r} within {timeout:.0f} s.",
                "A thread that holds the GIL keeps it from answering: continue or step out of the native code first.",
            )
        response = pending.response
        if response is None:
            raise LinkClosedError
        if not response.get("success"):
            raise RequestError(str(response.get("message") or f"debugpy refused {command!r}"))
        body: Message = response.get("body") or {}
        return body

    def is_answered(self, pending: Pending, seconds: float) -> bool:
        """Wait for it; ``HarnessError`` as soon as it shows that a signal has stopped the program."""
        end = time.monotonic() + seconds
        while not pending.answered.wait(max(0.0, min(_SLICE, end - time.monotonic()))):
            if is_stopped(self._pid):
                raise HarnessError(
                    f"Process {self._pid} is stopped by a signal, as by Ctrl-Z: it cannot answer.",
                    f"`kill -CONT {self._pid}` has it go on.",
                )
            if time.monotonic() >= end:
                return False
        return True

    def end(self) -> None:
        """Say that no request will come any more: debugpy, when it leaves, waits half a second for that."""
        self._hang_up(socket.SHUT_WR)

    def close(self) -> None:
        """Hang up: debugpy ends its part in the program."""
        self._hang_up()
        self._reader.join(_PATIENCE)
        self._socket.close()

    def disown(self) -> None:
        """Forget it, in a forked child: the connection is its parent's."""
        blind([self._socket.fileno()])

    def _hang_up(self, how: int = socket.SHUT_RDWR) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(how)

    def _write(self, message: Message, pending: Pending) -> None:
        self.transcript.append(f"-> {json.dumps(message)}")
        if self.alive:
            with contextlib.suppress(OSError):
                self._socket.sendall(encode(message))
                return
        pending.answered.set()

    def _read(self) -> None:
        decoder = Decoder()
        with contextlib.suppress(OSError):
            while data := self._socket.recv(_CHUNK):
                for message in decoder.feed(data):
                    self._take(message)
        self._hang_up()  # a program that ends waits for that
        self._ended.set()
        with self._lock:
            waiting = list(self._pending.values())
            self._pending.clear()
        for pending in waiting:
            pending.answered.set()
        self._on_event(None)

    def _take(self, message: Message | Malformed) -> None:
        if isinstance(message, Malformed):
            self.transcript.append(f"<- {message}")
            return
        self.transcript.append(f"<- {json.dumps(message)}")
        if message["type"] == "event":
            self._on_event(message)
            if message["event"] == "terminated":
                self.end()
        elif message["type"] == "response":
            pending = self._pending.pop(message["request_seq"], None)
            if pending:
                pending.response = message
                pending.answered.set()
