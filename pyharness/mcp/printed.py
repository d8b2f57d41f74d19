"""What a program prints: into a private file, of which each answer has what is new.

It is no pipe: a program that is let go prints on, and one that prints much neither waits nor fills our memory.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from typing import IO

from pyharness.host.state import working_dir
from pyharness.model.text.visible import visible

_MOST = 1 << 16
"""Bytes that are read at once, the last ones."""


class Printed:
    """The file, which has no name beside the one that the program was given it by: it goes with the last who has it."""

    def __init__(self) -> None:
        self.file: IO[bytes] = tempfile.TemporaryFile(  # noqa: SIM115  (until the session ends)
            dir=working_dir("mcp"), buffering=0, mode="a+b"
        )
        self._read = 0

    def new(self, most: int) -> str:
        """The end of what was printed since the last call, at most so many characters; where some is left out, … ."""
        begin, self._read = self._read, self._size()
        return self._text(max(begin, self._read - _MOST), self._read, most, cut=self._read - begin > _MOST)

    def all(self) -> str:
        """The end of all that was printed."""
        size = self._size()
        return self._text(max(0, size - _MOST), size, _MOST, cut=size > _MOST)

    def close(self) -> None:
        """Nothing more is read; the program may have it open still."""
        self.file.close()

    def _size(self) -> int:
        with suppress(OSError, ValueError):  # it was closed
            return os.fstat(self.file.fileno()).st_size
        return self._read

    def _text(self, begin: int, end: int, most: int, *, cut: bool) -> str:
        if end <= begin or self.file.closed:
            return ""
        text = visible(os.pread(self.file.fileno(), end - begin, begin).decode(errors="replace"))
        return f"… {text[-most:].lstrip()}" if cut or len(text) > most else text
