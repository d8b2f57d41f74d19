"""One client of the adapter: numbers and sends what it is told, reads what it says on a thread of its own."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from pyharness.dapwire import wire as dap_wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyharness.dap.beginning.path_mappings import PathMappings
    from pyharness.dapwire.wire import Malformed, Message

_CHUNK = 1 << 16


class Connection:
    """A pair of file descriptors (or one, twice) that speaks DAP; every method may be called on any thread.

    One that is not ``forgiving`` hears no more of what does not begin as DAP: a web page can make a browser send any
    bytes to a local port behind a header of HTTP, and a message among them would be found.
    """

    def __init__(self, incoming: int, outgoing: int, close: Callable[[], None], *, forgiving: bool = True) -> None:
        self._incoming, self._outgoing = incoming, outgoing
        self._close = close
        self._trusted = forgiving
        self._lock = threading.Lock()
        self._sequence = 0
        self._open = True
        self.paths: PathMappings | None = None
        """Where the client's folders are other ones than the program's; inside of the adapter all are the program's."""
        self.transcript: deque[str] = deque(maxlen=2000)

    def read(self, take: Callable[[Message | Malformed | None], None]) -> None:
        """Call ``take`` with each message, and with ``None`` at the end; returns at once, a thread reads."""
        threading.Thread(target=self._read, args=(take,), name="pyharness-client", daemon=True).start()

    def respond(self, to: Message, body: Message | None = None) -> None:
        """Answer a request."""
        self._send(lambda seq: dap_wire.response(seq, to, body))

    def refuse(self, to: Message | Malformed, message: str, remedy: str = "") -> None:
        """Answer a request that cannot be done."""
        self._send(lambda seq: dap_wire.error(seq, to, message, remedy))

    def event(self, name: str, body: Message | None = None) -> None:
        """Tell the client what happened."""
        self._send(lambda seq: dap_wire.event(seq, name, body))

    def request(self, command: str, arguments: Message) -> int:
        """Ask the client (a reverse request); the number that its response will carry."""
        return self._send(lambda seq: dap_wire.request(seq, command, arguments))

    def close(self) -> None:
        """Hang up."""
        with self._lock:
            self._open = False
        self._close()

    def _send(self, make: Callable[[int], dict[str, Any]]) -> int:
        with self._lock:
            self._sequence += 1
            message = make(self._sequence)
            data = memoryview(dap_wire.encode(self.paths.outgoing(message) if self.paths else message))
            try:
                while self._open and data:
                    data = data[os.write(self._outgoing, data) :]
            except OSError:  # the client is gone: the reading side says so
                self._open = False
            return self._sequence

    def _read(self, take: Callable[[Message | Malformed | None], None]) -> None:
        decoder = dap_wire.Decoder()
        with contextlib.suppress(OSError):
            while data := os.read(self._incoming, _CHUNK):
                if not self._take(decoder.feed(data), take):
                    break
        take(None)

    def _take(
        self, messages: Iterator[Message | Malformed], take: Callable[[Message | Malformed | None], None]
    ) -> bool:
        """Hand on what came; whether to hear more."""
        for message in messages:
            take(message)
            self._trusted = self._trusted or isinstance(message, dict)
            if not self._trusted:
                return False
        return True
