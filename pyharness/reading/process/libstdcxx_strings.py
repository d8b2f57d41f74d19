"""Reads a ``std::string`` of libstdc++ at an address, in either of its ABIs (the old one: torch's wheels up to 2.6)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable

    Read = Callable[[int, int], bytes]

_WORDS = struct.Struct("<QQQ")
_LOCAL = 16
"""Where a short text lies in the string itself."""
_SHORTEST_ELSEWHERE = 16


def text_at(read: Read, address: int, most: int) -> tuple[str, int]:
    """At most ``most`` bytes of the text, and how many it has; ``UnreadableError`` where there is none."""
    data, length, room = _WORDS.unpack(read(address, _WORDS.size))
    if data == address + _LOCAL:
        length &= _LOCAL - 1
    elif not length <= room or room < _SHORTEST_ELSEWHERE or not _ends(read, data, length):
        length, room, _owners = _WORDS.unpack(read(data - _WORDS.size, _WORDS.size))
        if length > room or not _ends(read, data, length):
            raise UnreadableError("it is no std::string")
    return (read(data, min(length, most)) if length else b"").decode("utf-8", "replace"), length


def _ends(read: Read, data: int, length: int) -> bool:
    """Whether a text ends with the zero that both ABIs put behind it."""
    try:
        return read(data + length, 1) == b"\0"
    except (UnreadableError, OSError, OverflowError):
        return False
