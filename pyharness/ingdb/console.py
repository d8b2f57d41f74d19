"""Commands of gdb's own, and what they print."""

from __future__ import annotations

import re

import gdb

_STREAM = re.compile(r'[~@&]"(.*)"')
"""A record of MI that carries text."""
_RECORDS = re.compile(r'(?:(?:[~@&]".*"|[=*^+].*)\n?)+')
_ESCAPED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_LETTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"f": b"\f", b"b": b"\b", b"a": b"\a", b"v": b"\v", b"e": b"\33"}


def run(command: str) -> str:
    """What a command prints; ``gdb.error`` where it fails."""
    return plain(gdb.execute(command, to_string=True))


def plain(printed: str) -> str:
    """The text itself: gdb 18 returns it as records of MI where that is the interpreter."""
    if not printed.startswith(("~", "@", "&", "=")) or not _RECORDS.fullmatch(printed):
        return printed
    return "".join(_unescaped(found[1]) for line in printed.splitlines() if (found := _STREAM.fullmatch(line)))


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(_character, text.encode()).decode("utf-8", "replace")


def _character(escaped: re.Match[bytes]) -> bytes:
    code = escaped[1]
    return bytes([int(code, 8)]) if len(code) > 1 else _LETTERS.get(code, code)
