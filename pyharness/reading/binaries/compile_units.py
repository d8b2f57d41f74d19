"""What was compiled into a library, from which file and how: the first entry of each unit of ``.debug_info``.

Source: DWARF 5, sections 7.5.1 (unit headers), 7.5.3 (abbreviations) and 7.5.6 (forms); versions 2 to 5.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.reading.binaries.byte_reader import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.reading.binaries.elf import Elf

_COMPILE_UNIT, _SKELETON_UNIT = 0x11, 0x4A
_NAME, _FOLDER, _PRODUCER, _STRINGS_BASE = 0x03, 0x1B, 0x25, 0x72
_LOCATION_LISTS = 0x8C  # DW_AT_loclists_base
_SPLIT_NAMES = {0x76, 0x2130}  # DW_AT_dwo_name, DW_AT_GNU_dwo_name
_IMPLICIT, _INDIRECT = 0x21, 0x16
_IDENTIFIED, _TYPES = {4, 5}, {2, 6}  # DW_UT_*: with a dwo_id; with a signature and a type's offset
_MOST_UNITS = 20_000
_SIZES = {0x0B: 1, 0x0C: 1, 0x11: 1, 0x25: 1, 0x29: 1, 0x05: 2, 0x12: 2, 0x26: 2, 0x2A: 2, 0x27: 3, 0x2B: 3}
_SIZES |= {0x06: 4, 0x13: 4, 0x1C: 4, 0x28: 4, 0x2C: 4, 0x07: 8, 0x14: 8, 0x20: 8, 0x24: 8, 0x1E: 16, 0x19: 0}
_OFFSETS = {0x0E, 0x10, 0x17, 0x1D, 0x1F, 0x1F20, 0x1F21}
_NUMBERS = {0x0F, 0x15, 0x1A, 0x1B, 0x22, 0x23, 0x1F01, 0x1F02}
_INDEXED = {0x1A, 0x25, 0x26, 0x27, 0x28, 0x1F02}
_BLOCK_SIZES = {0x0A: 1, 0x03: 2, 0x04: 4}
_STRING, _SIGNED, _ADDRESS = 0x08, 0x0D, 0x01
_STRP, _LINE_STRP = 0x0E, 0x1F

Value = int | bytes


@frozen
class CompileUnit:
    """One translation unit."""

    file: str
    """The source file, joined with the folder that the compiler ran in."""
    producer: str
    """The compiler; GCC adds its options."""
    version: int
    """The version of DWARF."""
    location_lists: bool
    """Whether it says that it has variables that move: Clang does from DWARF 5 on, GCC never does."""
    dwo: str
    """The file beside the object file that has its debug information (``-gsplit-dwarf``); empty where none has."""


class _Units:
    """The sections that a unit's strings and abbreviations lie in."""

    def __init__(self, elf: Elf) -> None:
        self.info = elf.section_data(".debug_info")
        self.abbreviations = elf.section_data(".debug_abbrev")
        self.strings = elf.section_data(".debug_str")
        self.line_strings = elf.section_data(".debug_line_str")
        self.offsets = elf.section_data(".debug_str_offsets")
        self._known: dict[tuple[int, int], tuple[int, list[tuple[int, int, int]]]] = {}

    def abbreviation(self, table: int, code: int) -> tuple[int, list[tuple[int, int, int]]]:
        """Tag and (attribute, form, implicit value) of an entry."""
        if (table, code) not in self._known:
            self._known[table, code] = self._find(Reader(self.abbreviations, table), code)
        return self._known[table, code]

    @staticmethod
    def _find(reader: Reader, wanted: int) -> tuple[int, list[tuple[int, int, int]]]:
        while code := reader.uleb():
            tag = reader.uleb()
            reader.u8()
            attributes = []
            while True:
                name, form = reader.uleb(), reader.uleb()
                implicit = reader.sleb() if form == _IMPLICIT else 0
                if not name and not form:
                    break
                attributes.append((name, form, implicit))
            if code == wanted:
                return tag, attributes
        raise ValueError(f"no abbreviation {wanted}")

    def text(self, form: int, value: Value, size: int, base: int) -> str:
        """The string that an attribute's value means."""
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        section = self.line_strings if form == _LINE_STRP else self.strings
        if form in _INDEXED:
            value = Reader(self.offsets, base + size * value).sized(size)
        elif form not in {_STRP, _LINE_STRP}:
            return ""
        return Reader(section, value).string().decode("utf-8", "replace")


def compile_units(elf: Elf) -> Iterator[CompileUnit]:
    """Every unit of a file or of its separate debug file; a damaged one ends it."""
    source = elf.with_section(".debug_info")
    if source is None:
        return
    units, offset = _Units(source), 0
    for _ in range(_MOST_UNITS):
        if offset + 12 > len(units.info):
            return
        reader = Reader(units.info, offset)
        length, size = reader.unit_length()
        offset = reader.offset + length
        try:
            unit = _unit(units, reader, size)
        except (IndexError, ValueError, KeyError):
            return
        if unit:
            yield unit


def _unit(units: _Units, reader: Reader, size: int) -> CompileUnit | None:
    version, kind = reader.u16(), 1
    if version >= 5:
        kind, address = reader.u8(), reader.u8()
        table = reader.sized(size)
    else:
        table, address = reader.sized(size), reader.u8()
    reader.offset += 8 if kind in _IDENTIFIED else 8 + size if kind in _TYPES else 0
    tag, attributes = units.abbreviation(table, reader.uleb())
    if tag not in {_COMPILE_UNIT, _SKELETON_UNIT}:
        return None
    found = {name: _value(reader, form, implicit, size, address) for name, form, implicit in attributes}
    at = found.get(_STRINGS_BASE, (0, 8))[1]
    base = at if isinstance(at, int) else 8
    name, folder, producer = (
        units.text(*found[wanted], size, base) if wanted in found else "" for wanted in (_NAME, _FOLDER, _PRODUCER)
    )
    names = [units.text(*found[wanted], size, base) for wanted in _SPLIT_NAMES & found.keys()]
    split = names[0] if names else ""
    return CompileUnit(
        file=posixpath.normpath(posixpath.join(folder, name)),
        producer=producer,
        version=version,
        location_lists=_LOCATION_LISTS in found,
        dwo=posixpath.join(folder, split) if split else "",
    )


def _value(reader: Reader, form: int, implicit: int, size: int, address: int) -> tuple[int, Value]:
    """Form (the real one of an indirect value) and value; strings in place are bytes, blocks are passed over."""
    value: Value = 0
    if form == _INDIRECT:
        return _value(reader, reader.uleb(), 0, size, address)
    if form == _IMPLICIT:
        value = implicit
    elif form == _STRING:
        value = reader.string()
    elif form in _NUMBERS:
        value = reader.uleb()
    elif form == _SIGNED:
        value = reader.sleb()
    elif form in _OFFSETS:
        value = reader.sized(size)
    elif form in _SIZES or form == _ADDRESS:
        value = int.from_bytes(reader.block(_SIZES.get(form, address)), "little")
    else:
        length = reader.sized(_BLOCK_SIZES[form]) if form in _BLOCK_SIZES else reader.uleb()
        reader.offset += length
    return form, value
