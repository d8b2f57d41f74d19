"""Line tables of CPython code objects, decoded: byte offset of an instruction to source line."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_NO_COLUMNS = 13
_LONG = 14
_NONE = 15


@lru_cache(maxsize=4096)
def line_at(version: tuple[int, int], table: bytes, first_line: int, offset: int) -> int | None:
    """The line of the instruction at byte ``offset``; ``None`` where the table has no line for it."""
    if offset < 0:
        return first_line
    decode = _locations if version >= (3, 11) else _deltas if version == (3, 10) else _increments
    entries = decode(table, first_line)
    for end, line in entries:
        if offset < end:
            return line
    return None


def _increments(table: bytes, line: int) -> Iterator[tuple[int, int | None]]:
    """CPython 3.9 (Objects/lnotab_notes.txt): pairs of an address step and a signed line step, which comes after it."""
    end = 0
    for index in range(0, len(table) - 1, 2):
        end += table[index]
        yield end, line
        line += table[index + 1] - (256 if table[index + 1] > 127 else 0)
    yield sys.maxsize, line


def _deltas(table: bytes, line: int) -> Iterator[tuple[int, int | None]]:
    """CPython 3.10 (PEP 626): pairs of an address step and a signed line step, -128 for no line."""
    end = 0
    for index in range(0, len(table) - 1, 2):
        end += table[index]
        step = table[index + 1] - (256 if table[index + 1] > 127 else 0)
        if step == -128:
            yield end, None
        else:
            line += step
            yield end, line


def _locations(table: bytes, line: int) -> Iterator[tuple[int, int | None]]:
    """CPython 3.11 and later (Objects/locations.md): entries that begin with a byte whose top bit is set."""
    end = index = 0
    while index < len(table):
        code, units = table[index] >> 3 & 15, (table[index] & 7) + 1
        end += 2 * units
        if code in {_NO_COLUMNS, _LONG}:
            line += _signed_varint(table, index + 1)
        elif 10 <= code <= 12:
            line += code - 10
        yield end, None if code == _NONE else line
        index += 1
        while index < len(table) and not table[index] & 0x80:
            index += 1


def _signed_varint(table: bytes, index: int) -> int:
    """Six bits a byte, lowest first, bit 6 says that more follow; the lowest bit of all is the sign."""
    value = shift = 0
    while index < len(table):
        value |= (table[index] & 63) << shift
        shift += 6
        if not table[index] & 64:
            break
        index += 1
    return -(value >> 1) if value & 1 else value >> 1
