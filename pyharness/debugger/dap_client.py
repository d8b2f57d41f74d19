"""The debugpy adapter, spoken to over DAP on its standard input and output."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from typing import TYPE_CHECKING

from pyharness.model.dap_message import Malformed, Message, request
from pyharness.model.dap_wire import Decoder, encode
from pyharness.model.errors import DebuggerLostError, HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK = 65536
ADAPTER = "The debugpy adapter"


class AdapterLostError(DebuggerLostError):
    """The debugpy adapter is gone."""


class RequestError(HarnessError):
    """debugpy refused a request; the message is its own."""


class _Pending:
    def __init__(self) -> None:
        self.answered = threading.Event()
        self.response: Message | None = None


class DapClient:
    """Starts ``python -m debugpy.adapter`` and reads it on a thread of its own.

    ``on_event`` is called on that thread with each DAP event and, with ``None``, once when the adapter ends.
    """

    def __init__(self, on_event: Callable[[Message | None], None]) -> None:
        self._on_event = on_event
        self._lock = threading.Lock()
        self._sequence = 0
        self._pending: dict[int, _Pending] = {}
        self._ended = threading.Event()
        self.transcript: deque[str] = deque(maxlen=2000)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "debugpy.adapter"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C in the terminal is for the controller
        )
        self._reader = threading.Thread(target=self._read, name="pyharness-debugpy", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Process id of the adapter."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the adapter still answers."""
        return not self._ended.is_set()

    def post(self, command: str, arguments: Message | None = None) -> _Pending:
        """Send a request and do not wait: what resumes a thread is answered only when the GIL can be had."""
        pending = _Pending()
        with self._lock:
            self._sequence += 1
            message = request(self._sequence, command, arguments)
            self._pending[self._sequence] = pending
            self._write(message, pending)
        return pending

    def request(self, command: str, arguments: Message | None = None, timeout: float = 30.0) -> Message:
        """Send a request and wait for the response's body."""
        return self.wait(self.post(command, arguments), command, timeout)

    def wait(self, pending: _Pending, command: str, timeout: float = 30.0) -> Message:
        """The body of the response to a request that was posted."""
        if not pending.answered.wait(timeout):
            raise RequestError(
                f"debugpy did not answer {command!r} within {timeout:.0f} s.",
                "A thread that holds the GIL keeps it from answering: continue or step out of the native code first.",
            )
        response = pending.response
        if response is None:
            raise AdapterLostError(ADAPTER)
        if not response.get("success"):
            raise RequestError(str(response.get("message") or f"debugpy refused {command!r}"))
        body: Message = response.get("body") or {}
        return body

    def close(self) -> None:
        """End the adapter and wait for it."""
        stdin = self._process.stdin
        if stdin:
            with contextlib.suppress(OSError):
                stdin.close()
        try:
            self._process.wait(timeout=3)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._reader.join(timeout=3)
        if self._process.stdout:
            self._process.stdout.close()

    def _write(self, message: Message, pending: _Pending) -> None:
        self.transcript.append(f"-> {json.dumps(message)}")
        try:
            stdin = self._process.stdin
            if stdin is not None and self.alive:
                stdin.write(encode(message))
                stdin.flush()
                return
        except (OSError, ValueError):
            pass
        pending.answered.set()

    def _read(self) -> None:
        stdout = self._process.stdout
        decoder = Decoder()
        while stdout is not None and (data := os.read(stdout.fileno(), _CHUNK)):
            for message in decoder.feed(data):
                self._take(message)
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
        elif message["type"] == "response":
            pending = self._pending.pop(message["request_seq"], None)
            if pending:
                pending.response = message
                pending.answered.set()
