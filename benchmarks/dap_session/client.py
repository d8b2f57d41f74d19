"""A DAP client that times what it does: one thread, so that a measured step has no hand-over between threads in it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING, Any

from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

Message = dict[str, Any]
PATIENCE_S = 60.0


class DapClient:
    """Starts an adapter that speaks DAP on its standard input and output; use it as a context manager."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.started = time.perf_counter()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the client)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
            bufsize=0,
        )
        self._sequence = 0
        self._buffer = b""
        self._responses: dict[int, Message] = {}
        self._events: list[Message] = []

    def __enter__(self) -> DapClient:  # noqa: PYI034  (Self is not in 3.10's typing)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ask the adapter to end the program and itself; then see to it."""
        with contextlib.suppress(HarnessError, OSError, ValueError, subprocess.TimeoutExpired):
            self.request("disconnect", {"terminateDebuggee": True}, patience=10)
            self._hang_up()
            self._process.wait(timeout=10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._hang_up()
        self._said.close()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _hang_up(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()

    @property
    def pid(self) -> int:
        """Process id of the adapter."""
        return self._process.pid

    @property
    def elapsed(self) -> float:
        """Seconds since the adapter was started."""
        return time.perf_counter() - self.started

    def send(self, command: str, arguments: Message | None = None) -> int:
        """Send a request and do not wait; its number."""
        self._sequence += 1
        self._write({"seq": self._sequence, "type": "request", "command": command, "arguments": arguments or {}})
        return self._sequence

    def response(self, sequence: int, patience: float = PATIENCE_S) -> Message:
        """The body of the response to a request that was sent; an adapter's refusal is raised."""
        deadline = time.perf_counter() + patience
        while sequence not in self._responses:
            self._read(deadline, f"the response to request {sequence}")
        message = self._responses.pop(sequence)
        if not message["success"]:
            raise HarnessError(f"{self.name} refused {message['command']!r}: {message.get('message')}")
        body: Message = message.get("body") or {}
        return body

    def request(self, command: str, arguments: Message | None = None, patience: float = PATIENCE_S) -> Message:
        """Send a request and wait for the response's body."""
        return self.response(self.send(command, arguments), patience)

    def event(self, name: str, accept: Callable[[Message], bool] = lambda _body: True) -> Message:
        """The body of the next event of that name, come already or to come; others of the name are dropped."""
        deadline = time.perf_counter() + PATIENCE_S
        while True:
            while self._events:
                event = self._events.pop(0)
                body: Message = event.get("body") or {}
                if event["event"] == name and accept(body):
                    return body
                if event["event"] == "terminated" != name:
                    raise HarnessError(f"{self.name}: the program ended before {name!r}.\n{self.stderr()}")
            self._read(deadline, f"the event {name!r}")

    def stderr(self) -> str:
        """The end of what the adapter said on its standard error."""
        self._said.seek(0)
        return self._said.read().decode(errors="replace")[-2000:]

    def _write(self, message: Message) -> None:
        data = json.dumps(message).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)

    def _read(self, deadline: float, awaited: str) -> None:
        """Take in one message; answer it where it is a request of the adapter's."""
        message = self._message(deadline, awaited)
        if message["type"] == "response":
            self._responses[message["request_seq"]] = message
        elif message["type"] == "event":
            self._events.append(message)
        else:
            self._sequence += 1
            answer = {"seq": self._sequence, "type": "response", "request_seq": message["seq"]}
            self._write({**answer, "command": message["command"], "success": False, "message": "not supported"})

    def _message(self, deadline: float, awaited: str) -> Message:
        while True:
            head, separator, rest = self._buffer.partition(b"\r\n\r\n")
            if separator:
                length = int(head.lower().split(b"content-length:")[1].split()[0])
                if len(rest) >= length:
                    self._buffer = rest[length:]
                    message: Message = json.loads(rest[:length])
                    return message
            self._fill(deadline, awaited)

    def _fill(self, deadline: float, awaited: str) -> None:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        left = max(deadline - time.perf_counter(), 0)
        if not select.select([descriptor], [], [], left)[0]:
            raise HarnessError(f"{self.name} did not send {awaited} in time.\n{self.stderr()}")
        data = os.read(descriptor, 1 << 16)
        if not data:
            raise HarnessError(f"{self.name} ended while {awaited} was awaited.\n{self.stderr()}")
        self._buffer += data
