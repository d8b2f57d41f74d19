"""Reads numbers and text from a stopped process or core through one callable; nothing here trusts what it reads."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = 4096
MAX_READ = 1 << 20
_POINTER = Struct("<Q")


class UnreadableError(Exception):
    """Memory that is not there, or that cannot be what it should; callers show a placeholder."""


class Memory:
    """Little-endian 64-bit memory, cached by page: make a new one for every stop."""

    def __init__(self, read: Callable[[int, int], bytes]) -> None:
        """``read(address, size)`` gives the bytes or raises ``OSError``."""
        self._read = read
        self._pages: dict[int, bytes | None] = {}

    def read(self, address: int, size: int) -> bytes:
        """``size`` bytes at ``address``; `UnreadableError` where that is impossible."""
        if size < 0 or size > MAX_READ or address <= 0 or address + size > 1 << 64:
            raise UnreadableError(f"{size} bytes at {address:#x}")
        first = address & -PAGE
        if address + size <= first + PAGE:
            page = self._page(first)
            if page is not None:
                return page[address - first : address - first + size]
        return self._exactly(address, size)

    def _page(self, start: int) -> bytes | None:
        if start not in self._pages:
            try:
                self._pages[start] = self._exactly(start, PAGE)
            except UnreadableError:
                self._pages[start] = None
        return self._pages[start]

    def _exactly(self, address: int, size: int) -> bytes:
        try:
            data = bytes(self._read(address, size))
        except (OSError, ValueError, OverflowError) as error:
            raise UnreadableError(f"{size} bytes at {address:#x}") from error
        if len(data) != size:
            raise UnreadableError(f"{size} bytes at {address:#x}")
        return data

    def unsigned(self, address: int, size: int = 8) -> int:
        """An unsigned number of ``size`` bytes."""
        return int.from_bytes(self.read(address, size), "little")

    def signed(self, address: int, size: int = 8) -> int:
        """A signed number of ``size`` bytes."""
        return int.from_bytes(self.read(address, size), "little", signed=True)

    def pointer(self, address: int) -> int:
        """A pointer; the null pointer is 0."""
        offset = address & PAGE - 1
        page = self._pages.get(address - offset)
        if page is None or offset > PAGE - _POINTER.size:
            return self.unsigned(address)
        found: int = _POINTER.unpack_from(page, offset)[0]  # most of what is read
        return found

    def text(self, address: int, limit: int = 256) -> str:
        """A C string, cut at ``limit`` bytes."""
        found = b""
        while len(found) < limit:
            here = address + len(found)
            piece = self.read(here, min(limit - len(found), PAGE - here % PAGE))
            end = piece.find(b"\0")
            if end >= 0:
                return (found + piece[:end]).decode("utf-8", "replace")
            found += piece
        return found.decode("utf-8", "replace")
