"""Text that comes as records of MI: gdb 18 has it so where it is asked for what a command prints."""

from __future__ import annotations

import re

_STREAM = re.compile(r'[~@&]"(.*)"')
_RECORD = re.compile(r'[~@&]".*"|[=*^+].*')
"""One that carries text, or another one."""
_ESCAPED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_LETTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"f": b"\f", b"b": b"\b", b"a": b"\a", b"v": b"\v", b"e": b"\33"}


def plain(printed: str) -> str:
    """The text itself, be it in records or not."""
    lines = printed.split("\n")
    if not lines[-1]:
        lines.pop()
    if not lines or not all(map(_RECORD.fullmatch, lines)):
        return printed
    return "".join(_unescaped(found[1]) for line in lines if (found := _STREAM.fullmatch(line)))


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(_character, text.encode()).decode("utf-8", "replace")


def _character(escaped: re.Match[bytes]) -> bytes:
    code = escaped[1]
    return bytes([int(code, 8) & 255]) if len(code) > 1 else _LETTERS.get(code, code)
