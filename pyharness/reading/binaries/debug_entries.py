"""Entries of ``.debug_info``: a unit, its entries, their children, what they refer to. Only what is asked for is read.

Source: DWARF 5, sections 7.5.1 (unit headers), 2.3 (the tree of entries) and 2.17 (addresses); versions 2 to 5.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pyharness.reading.binaries.abbreviations import (
    ADDRESS,
    INDEXED_STRINGS,
    LINE_STRP,
    REFERENCE_ADDRESS,
    REFERENCES,
    SIBLING,
    STRP,
    Abbreviation,
    Value,
    read_table,
    read_value,
)
from pyharness.reading.binaries.address_ranges import read_ranges
from pyharness.reading.binaries.byte_reader import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.reading.binaries.elf import Elf

LOW_PC, HIGH_PC, RANGES, NAME, FOLDER, LINES, PRODUCER = 0x11, 0x12, 0x55, 0x03, 0x1B, 0x10, 0x25
_STRINGS_BASE, _ADDRESSES_BASE, _RANGES_BASE = 0x72, 0x73, 0x74
_TYPE_UNITS, _WITH_ID = {2, 6}, {4, 5}
_INDEXED_ADDRESSES = {0x1B, 0x29, 0x2A, 0x2B, 0x2C, 0x1F01}


_END = Abbreviation(0, False, (), frozenset(), 0)  # noqa: FBT003  (a field)


class Entry(NamedTuple):
    """One entry: its offset in ``.debug_info``, and what it says."""

    offset: int
    abbreviation: Abbreviation
    values: dict[int, tuple[int, Value]]
    """Attribute → form and value."""
    end: int
    """Where its children begin, or the entry after it."""

    @property
    def tag(self) -> int:
        """``DW_TAG_*``."""
        return self.abbreviation.tag

    def number(self, attribute: int, default: int = 0) -> int:
        """The value of an attribute that is a number."""
        value = self.values.get(attribute, (0, default))[1]
        return value if isinstance(value, int) else default


class Unit:
    """One unit of ``.debug_info`` at an offset."""

    def __init__(self, source: Elf, offset: int) -> None:
        self.source, self.offset = source, offset
        self._data = section(source, ".debug_info")
        reader = Reader(self._data, offset)
        length, self.size = reader.unit_length()
        self.end = reader.offset + length
        self.version, kind = reader.u16(), 1
        if self.version >= 5:
            kind, self.address_size = reader.u8(), reader.u8()
            table = reader.sized(self.size)
        else:
            table, self.address_size = reader.sized(self.size), reader.u8()
        reader.offset += 8 if kind in _WITH_ID else 8 + self.size if kind in _TYPE_UNITS else 0
        self._first = reader.offset
        self._table = _table(source, table, self.size, self.address_size)

    @cached_property
    def root(self) -> Entry:
        """The entry of the unit itself."""
        return self.entry(self._first)

    def entry(self, offset: int) -> Entry:
        """The entry at an offset; ``ValueError`` where none is."""
        reader = Reader(self._data, offset)
        abbreviation = self._table.get(reader.uleb())
        if abbreviation is None:
            raise ValueError(f"no entry at {offset:#x}")
        data, at = self._data, reader.offset
        values: dict[int, tuple[int, Value]] = {}
        for name, form, size, implicit in abbreviation.attributes:
            if size > 0:
                values[name] = form, int.from_bytes(data[at : at + size], "little")
                at += size
            elif size == 0:
                values[name] = form, implicit
            else:
                reader.offset = at
                values[name] = read_value(reader, form, self.size, self.address_size)
                at = reader.offset
        return Entry(offset, abbreviation, values, at)

    def children(self, parent: Entry) -> Iterator[Entry]:
        """The entries below one, in order."""
        offset = parent.end
        while parent.abbreviation.has_children and offset < self.end and self._data[offset]:
            child = self.entry(offset)
            yield child
            offset = self.after(child)

    def coded(self, tag: int) -> Iterator[Entry]:
        """All entries of a kind that have code, at any depth, in order."""
        reader = Reader(self._data, self.root.end)
        while reader.offset < self.end:
            offset = reader.offset
            code = reader.uleb()
            abbreviation = self._table.get(code) if code else _END
            if abbreviation is None:
                return
            if abbreviation.tag == tag and abbreviation.names & {LOW_PC, RANGES}:
                found = self.entry(offset)
                reader.offset = found.end
                yield found
            elif abbreviation.size >= 0:
                reader.offset += abbreviation.size
            else:
                self._pass(reader, abbreviation)

    def _pass(self, reader: Reader, abbreviation: Abbreviation) -> None:
        for _, form, size, _ in abbreviation.attributes:
            if size >= 0:
                reader.offset += size
            else:
                read_value(reader, form, self.size, self.address_size)

    def after(self, entry: Entry) -> int:
        """Where the next entry on the same level, or the end of the level, is."""
        if not entry.abbreviation.has_children:
            return entry.end
        if SIBLING in entry.values:
            return self.offset + entry.number(SIBLING)
        offset = entry.end
        while self._data[offset]:
            offset = self.after(self.entry(offset))
        return offset + 1

    def text(self, entry: Entry, attribute: int) -> str:
        """The string that an attribute is; empty where it has none."""
        form, value = entry.values.get(attribute, (0, b""))
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        if form in INDEXED_STRINGS:
            base = self.root.number(_STRINGS_BASE, 2 * self.size)
            offsets = section(self.source, ".debug_str_offsets")
            form, value = STRP, Reader(offsets, base + self.size * value).sized(self.size)
        strings = {STRP: ".debug_str", LINE_STRP: ".debug_line_str"}.get(form)
        return Reader(section(self.source, strings), value).string().decode("utf-8", "replace") if strings else ""

    def reference(self, entry: Entry, attribute: int) -> int | None:
        """The offset of the entry that an attribute refers to; ``None`` where it refers to none of this file's."""
        form, value = entry.values.get(attribute, (0, 0))
        if not isinstance(value, int) or form not in REFERENCES | {REFERENCE_ADDRESS}:
            return None
        return value if form == REFERENCE_ADDRESS else self.offset + value

    def ranges(self, entry: Entry) -> list[tuple[int, int]]:
        """The addresses that an entry covers, each range without its end."""
        if RANGES in entry.values:
            form, value = entry.values[RANGES]
            return read_ranges(self, form, value) if isinstance(value, int) else []
        if LOW_PC not in entry.values or HIGH_PC not in entry.values:
            return []
        low = self.address(*entry.values[LOW_PC])
        form, high = entry.values[HIGH_PC]
        if not isinstance(high, int):
            return []
        return [(low, self.address(form, high) if form == ADDRESS or form in _INDEXED_ADDRESSES else low + high)]

    def address(self, form: int, value: Value) -> int:
        """The address that an attribute's value means."""
        if isinstance(value, bytes):
            raise ValueError("no address")  # noqa: TRY004  (what is damaged, not who calls)
        if form == ADDRESS:
            return value
        return self.address_of(value)

    def address_of(self, index: int) -> int:
        """An address of the unit's table of them."""
        base = self.root.number(_ADDRESSES_BASE, 8)
        return Reader(section(self.source, ".debug_addr"), base + self.address_size * index).sized(self.address_size)

    def contents(self, name: str) -> bytes | memoryview:
        """A section of the unit's file."""
        return section(self.source, name)

    @property
    def ranges_base(self) -> int:
        """Where the unit's table of range lists begins."""
        return self.root.number(_RANGES_BASE, 12 if self.size == 4 else 20)

    @cached_property
    def low(self) -> int:
        """The address that its ranges are relative to."""
        root = self.root
        return self.address(*root.values[LOW_PC]) if LOW_PC in root.values else 0


@lru_cache(maxsize=128)
def section(source: Elf, name: str) -> bytes | memoryview:
    """Contents of a section, kept: it may be compressed."""
    return source.section_data(name)


@lru_cache(maxsize=256)
def _table(source: Elf, offset: int, size: int, address_size: int) -> dict[int, Abbreviation]:
    return read_table(section(source, ".debug_abbrev"), offset, size, address_size)


def units(source: Elf) -> Iterator[Unit]:
    """Every unit of a file, in order."""
    yield from (Unit(source, offset) for offset in _unit_offsets(source))


def _unit_offsets(source: Elf) -> Iterator[int]:
    data, offset = section(source, ".debug_info"), 0
    while offset + 12 <= len(data):
        yield offset
        reader = Reader(data, offset)
        length, _ = reader.unit_length()
        offset = reader.offset + length


@lru_cache(maxsize=64)
def _unit_starts(source: Elf) -> list[tuple[int, int, int]]:
    """Ranges of addresses with the offset of their unit, in order, from ``.debug_aranges``; a unit may be missing."""
    data, offset, found = section(source, ".debug_aranges"), 0, []
    while offset + 12 <= len(data):
        reader = Reader(data, offset)
        length, size = reader.unit_length()
        end = reader.offset + length
        reader.u16()
        unit, address, _segment = reader.sized(size), reader.u8(), reader.u8()
        start = offset + -(-(reader.offset - offset) // (2 * address)) * 2 * address
        if address == 8:
            pairs = struct.iter_unpack("<QQ", data[start : start + (end - start) // 16 * 16])
            found += [(low, low + span, unit) for low, span in pairs if span]
        offset = end
    return sorted(found)


def code_ranges(source: Elf) -> list[tuple[int, int]]:
    """The addresses of all code that a unit tells of, as ranges without their ends, in order and apart."""
    starts = _unit_starts(source)
    listed = {unit for _, _, unit in starts}
    found = [(low, high) for low, high, _ in starts]
    for unit in (Unit(source, offset) for offset in _unit_offsets(source) if offset not in listed):
        found += [(low, high) for low, high in unit.ranges(unit.root) if low]
    joined: list[tuple[int, int]] = []
    for low, high in sorted(found):
        if joined and low <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(high, joined[-1][1])
        else:
            joined.append((low, high))
    return joined


def unit_at(source: Elf, address: int) -> Unit | None:
    """The unit whose code an address is in; ``None`` where no unit says so."""
    starts = _unit_starts(source)
    index = bisect_right(starts, (address, 1 << 64, 0)) - 1
    if index >= 0 and starts[index][0] <= address < starts[index][1]:
        return Unit(source, starts[index][2])
    listed = {unit for _, _, unit in starts}
    for unit in (Unit(source, offset) for offset in _unit_offsets(source) if offset not in listed):
        if any(low <= address < high for low, high in unit.ranges(unit.root)):
            return unit
    return None
