"""How the entries of ``.debug_info`` are encoded: the tables of ``.debug_abbrev``, and the forms of attributes.

Source: DWARF 5, sections 7.5.3 (abbreviations) and 7.5.6 (forms); versions 2 to 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyharness.reading.binaries.byte_reader import Reader

if TYPE_CHECKING:
    from pyharness.reading.binaries.byte_reader import Buffer

ADDRESS, STRING, IMPLICIT, INDIRECT, FLAG_PRESENT, SIGNED = 0x01, 0x08, 0x21, 0x16, 0x19, 0x0D
STRP, LINE_STRP = 0x0E, 0x1F
SIBLING = 0x01
INDEXED_STRINGS = {0x1A, 0x25, 0x26, 0x27, 0x28, 0x1F02}
REFERENCES = {0x11, 0x12, 0x13, 0x14, 0x15}
"""Forms of references within a unit; ``REFERENCE_ADDRESS`` is one into any."""
REFERENCE_ADDRESS = 0x10
_SIZES = {0x0B: 1, 0x0C: 1, 0x11: 1, 0x25: 1, 0x29: 1, 0x05: 2, 0x12: 2, 0x26: 2, 0x2A: 2, 0x27: 3, 0x2B: 3}
_SIZES |= {0x06: 4, 0x13: 4, 0x1C: 4, 0x28: 4, 0x2C: 4, 0x07: 8, 0x14: 8, 0x20: 8, 0x24: 8, 0x1E: 16}
_OFFSETS = {STRP, 0x10, 0x17, 0x1D, LINE_STRP, 0x1F20, 0x1F21}
_NUMBERS = {0x0F, 0x15, 0x1A, 0x1B, 0x22, 0x23, 0x1F01, 0x1F02}
_BLOCK_SIZES = {0x0A: 1, 0x03: 2, 0x04: 4}

Value = int | bytes


class Attribute(NamedTuple):
    """One attribute of an abbreviation."""

    name: int
    form: int
    size: int
    """Bytes that its value takes; -1 where the value says."""
    implicit: int


class Abbreviation(NamedTuple):
    """How one kind of entry is encoded."""

    tag: int
    has_children: bool
    attributes: tuple[Attribute, ...]
    names: frozenset[int]
    size: int
    """Bytes that all values take; -1 where one of them says."""


def read_table(section: Buffer, offset: int, offset_size: int, address_size: int) -> dict[int, Abbreviation]:
    """Every abbreviation of a table."""
    reader, found = Reader(section, offset), {}
    while code := reader.uleb():
        tag, has_children = reader.uleb(), bool(reader.u8())
        attributes = []
        while True:
            name, form = reader.uleb(), reader.uleb()
            implicit = reader.sleb() if form == IMPLICIT else 0
            if not name and not form:
                break
            attributes.append(Attribute(name, form, _size(form, offset_size, address_size), implicit))
        names = frozenset(attribute.name for attribute in attributes)
        sizes = [attribute.size for attribute in attributes]
        found[code] = Abbreviation(tag, has_children, tuple(attributes), names, -1 if -1 in sizes else sum(sizes))
    return found


def _size(form: int, offset_size: int, address_size: int) -> int:
    if form in {IMPLICIT, FLAG_PRESENT}:
        return 0
    if form in _OFFSETS:
        return offset_size
    return address_size if form == ADDRESS else _SIZES.get(form, -1)


def read_value(reader: Reader, form: int, offset_size: int, address_size: int) -> tuple[int, Value]:
    """Form (the real one of an indirect value) and value of an attribute whose value says how long it is."""
    if form == INDIRECT:
        real = reader.uleb()
        size = _size(real, offset_size, address_size)
        return (real, reader.sized(size)) if size > 0 else read_value(reader, real, offset_size, address_size)
    if form == STRING:
        return form, reader.string()
    if form in _NUMBERS:
        return form, reader.uleb()
    if form == SIGNED:
        return form, reader.sleb()
    return form, reader.block(reader.sized(_BLOCK_SIZES[form]) if form in _BLOCK_SIZES else reader.uleb())
