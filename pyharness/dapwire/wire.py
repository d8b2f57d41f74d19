"""The wire of the Debug Adapter Protocol: bytes in, messages out; pure, and nothing that arrives makes it raise.

Framing as in the protocol's overview ("Base Protocol"): header lines, an empty line, ``Content-Length`` bytes of JSON.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.dapwire.message import Malformed, Message, encode, error, event, parse, request, response, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Decoder", "Malformed", "Message", "encode", "error", "event", "request", "response"]

MAX_MESSAGE = 64 << 20
"""Bytes of one message."""
MAX_HEADER = 16 << 10
"""Bytes of one message's header lines together."""
_MAX_REREAD = 64 << 10
"""A body that is no JSON is searched for the next message up to this size: its length was wrong, and not by much."""

_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:[ \t]*(.*)")
_START = re.compile(rb"content-length[ \t]*:[ \t]*[0-9]{1,18}[ \t]*\r?\n", re.IGNORECASE)
_START_SIZE = 64
"""No ``Content-Length`` line that we look for is longer."""


class Decoder:
    """Cuts a stream of bytes into messages, wherever the pieces of the stream end."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._header = 0
        """Bytes of this message's header lines so far."""
        self._length: int | None = None
        """What its ``Content-Length`` says."""
        self._in_body = False
        self._lost = False
        """After something malformed: all is skipped, unreported, up to the next ``Content-Length`` line."""

    def feed(self, data: bytes) -> Iterator[Message | Malformed]:
        """What is complete with ``data``; it is kept whether or not the answer is used up."""
        self._buffer += data
        return self._complete()

    def _complete(self) -> Iterator[Message | Malformed]:
        while True:
            if self._lost and not self._found():
                return
            if self._in_body:
                if self._length is None or len(self._buffer) < self._length:
                    return
                yield self._message(self._length)
                continue
            end = self._buffer.find(b"\n")
            if self._header + (len(self._buffer) if end < 0 else end) > MAX_HEADER:
                yield self._give_up(f"A header of more than {MAX_HEADER} bytes.")
            elif end < 0:
                return
            else:
                wrong = self._line(end)
                if wrong:
                    yield wrong

    def _found(self) -> bool:
        """Skip what lies before the next message; whether there is one."""
        start = _START.search(self._buffer)
        if start is None:
            del self._buffer[:-_START_SIZE]
            return False
        del self._buffer[: start.start()]
        self._lost = False
        return True

    def _line(self, end: int) -> Malformed | None:
        """Take one header line."""
        line = bytes(self._buffer[:end]).rstrip(b"\r")
        if not line:
            return self._header_end(end)
        field = _FIELD.fullmatch(line)
        if field is None:
            return self._give_up(f"No header line: {shown(line)}.")
        if field[1].lower() == b"content-length":
            if not re.fullmatch(rb"[0-9]{1,18}[ \t]*", field[2]) or int(field[2]) > MAX_MESSAGE:
                del self._buffer[: end + 1]
                return self._give_up(f"A Content-Length of 0 to {MAX_MESSAGE} is needed, not {shown(field[2])}.")
            self._length = int(field[2])
        self._header += end + 1
        del self._buffer[: end + 1]
        return None

    def _header_end(self, end: int) -> Malformed | None:
        del self._buffer[: end + 1]
        if self._length is not None:
            self._in_body = True
        elif self._header:
            return self._give_up("A header without Content-Length.")
        return None  # an empty line between messages harms nobody

    def _message(self, length: int) -> Message | Malformed:
        """Take the body."""
        body = bytes(self._buffer[:length])
        del self._buffer[:length]
        self._in_body, self._length, self._header = False, None, 0
        message = parse(body)
        if isinstance(message, Malformed) and not message.is_json:
            self._lost = True
            start = _START.search(body) if length <= _MAX_REREAD else None
            if start:  # JSON has no raw newline in a string: the length was too large and took the next message in
                self._buffer[:0] = body[start.start() :]
        return message

    def _give_up(self, reason: str) -> Malformed:
        self._in_body, self._length, self._header, self._lost = False, None, 0, True
        return Malformed(reason)
