"""gdb/MI output, line by line: pure parsing, no I/O.

Grammar: the gdb manual, "GDB/MI Output Syntax". A line that does not follow it (a program's own output on the same
terminal, a warning printed by a library inside gdb) becomes a ``Stream`` of kind ``target`` rather than an error.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TypeAlias

from pyharness.model.frozen import frozen

Value: TypeAlias = "str | list[Value] | dict[str, Value]"

_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v", b"e": b"\x1b"}
_MAX_TOKEN_DIGITS = 18
_MAX_DEPTH = 200
"""gdb nests a few levels; a line that nests deeper is not gdb's and must not exhaust the Python stack."""


@frozen
class Result:
    """``^done``, ``^running``, ``^error``, ...: the answer to the command sent with ``token``."""

    token: int | None
    kind: str
    values: dict[str, Value] = field(default_factory=dict)


@frozen
class Notice:
    """An asynchronous record: ``*stopped`` (exec), ``=thread-created`` (notify), ``+download`` (status)."""

    channel: str
    kind: str
    values: dict[str, Value] = field(default_factory=dict)


@frozen
class Stream:
    """Text: of gdb's console (``~``), the target (``@``) or gdb's log (``&``)."""

    channel: str
    text: str


@frozen
class Prompt:
    """``(gdb)``."""


Record: TypeAlias = Result | Notice | Stream | Prompt


class _SyntaxError(ValueError):
    pass


_STRING = re.compile(r'([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_PLAIN = re.compile(r'([^={},\]]*)="([^"\\]*)"')
"""``name="text"`` without an escape: most of what gdb says."""


def _unescaped(found: re.Match[bytes]) -> bytes:
    what = found[1]
    return bytes([int(what, 8) & 0xFF]) if len(what) == 3 else _ESCAPES.get(what, what)


def _simply_unescaped(text: str) -> str | None:
    """``text`` without its escapes where these are only of quotes and backslashes, as they are of JSON in MI: quick."""
    parts = [part.replace('\\"', '"') for part in text.split("\\\\")]
    return None if any("\\" in part for part in parts) else "\\".join(parts)


class _Cursor:
    """A position in one line of MI."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def expect(self, character: str) -> None:
        if self.peek() != character:
            raise _SyntaxError(f"expected {character!r} at column {self.at}")
        self.at += 1

    def word(self, stop: str) -> str:
        """All up to the next of the characters ``stop``."""
        found = re.compile(f"[^{re.escape(stop)}]*").match(self.text, self.at)
        text = found[0] if found else ""
        self.at += len(text)
        return text

    def string(self) -> str:
        self.expect('"')
        found = _STRING.match(self.text, self.at)
        if found is None:
            raise _SyntaxError("unterminated string")
        self.at = found.end()
        text = found[1]
        if text.isascii() and (simple := _simply_unescaped(text)) is not None:
            return simple
        # The bytes of one character may come one by one, as octal escapes.
        return _ESCAPE.sub(_unescaped, text.encode("utf-8", "surrogateescape")).decode("utf-8", "replace")

    def value(self, depth: int = 0) -> Value:
        if depth > _MAX_DEPTH:
            raise _SyntaxError("nested too deep")
        first = self.peek()
        if first == '"':
            return self.string()
        if first == "{":
            return self._tuple(depth)
        if first == "[":
            return self._list(depth)
        raise _SyntaxError(f"no value at column {self.at}")

    def _tuple(self, depth: int) -> dict[str, Value]:
        self.expect("{")
        if self.peek() == "}":
            self.at += 1
            return {}
        values = self.results(depth + 1)
        self.expect("}")
        return values

    def _list(self, depth: int) -> list[Value]:
        self.expect("[")
        items: list[Value] = []
        while self.peek() != "]":
            if items:
                self.expect(",")
            if self.peek() not in '"{[':
                self.word("=")  # a list of results: the names all say the same ("frame=", "bkpt=")
                self.expect("=")
            items.append(self.value(depth + 1))
        self.at += 1
        return items

    def results(self, depth: int = 0) -> dict[str, Value]:
        values: dict[str, Value] = {}
        while True:
            if (plain := _PLAIN.match(self.text, self.at)) and plain[2].isascii():
                values[plain[1]] = plain[2]
                self.at = plain.end()
            elif self.peek() == "{":  # gdb 13 -break-insert: a location tuple without a name
                self.value(depth + 1)
            else:
                name = self.word("=,}]")
                self.expect("=")
                values[name] = self.value(depth + 1)
            if self.peek() != ",":
                return values
            self.at += 1


def parse(line: str) -> Record:
    """The record that ``line`` (without its newline) is."""
    line = line.rstrip("\r\n")
    if line.rstrip() == "(gdb)":
        return Prompt()
    try:
        return _parse(line)
    except _SyntaxError:
        return Stream("@", line)


def _parse(line: str) -> Record:
    digits = len(line) - len(line.lstrip("0123456789"))
    if digits > _MAX_TOKEN_DIGITS:
        raise _SyntaxError("no token of ours")
    token = int(line[:digits]) if digits else None
    channel = line[digits : digits + 1]
    cursor = _Cursor(line, digits + 1)
    if channel and channel in "~@&":
        return Stream(channel, cursor.string())
    if channel and channel in "^*+=":
        kind = cursor.word(",")
        values: dict[str, Value] = {}
        if cursor.peek() == ",":
            cursor.at += 1
            values = cursor.results()
        return Result(token, kind, values) if channel == "^" else Notice(channel, kind, values)
    raise _SyntaxError("not MI")


def quote(text: str) -> str:
    """``text`` as one C string argument of an MI command."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'
