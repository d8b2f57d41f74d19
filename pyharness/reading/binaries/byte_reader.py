"""A cursor over bytes that speaks DWARF: fixed integers, LEB128, strings and encoded pointers."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mmap import mmap

    Buffer = bytes | memoryview | mmap

_U16, _U32, _U64 = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<Q")
_S16, _S32, _S64 = struct.Struct("<h"), struct.Struct("<i"), struct.Struct("<q")

MASK64 = (1 << 64) - 1

# DW_EH_PE_*: the low four bits say the format, the next three what the value is relative to.
OMIT = 0xFF
_PC_RELATIVE, _DATA_RELATIVE, _FUNCTION_RELATIVE = 0x10, 0x30, 0x40
_FIXED = {0x00: _U64, 0x02: _U16, 0x03: _U32, 0x04: _U64, 0x0A: _S16, 0x0B: _S32, 0x0C: _S64}


class Reader:
    """Reads little-endian values one after another; ``offset`` is where the next one starts."""

    def __init__(self, data: Buffer, offset: int = 0) -> None:
        self.data = data
        self.offset = offset

    def _fixed(self, layout: struct.Struct) -> int:
        (value,) = layout.unpack_from(self.data, self.offset)
        self.offset += layout.size
        return int(value)

    def u8(self) -> int:
        """One unsigned byte."""
        value = self.data[self.offset]
        self.offset += 1
        return int(value)

    def s8(self) -> int:
        """One signed byte."""
        value = self.u8()
        return value - 256 if value > 127 else value

    def u16(self) -> int:
        """Two bytes."""
        return self._fixed(_U16)

    def u32(self) -> int:
        """Four bytes."""
        return self._fixed(_U32)

    def u64(self) -> int:
        """Eight bytes."""
        return self._fixed(_U64)

    def s16(self) -> int:
        """Two bytes, signed."""
        return self._fixed(_S16)

    def s32(self) -> int:
        """Four bytes, signed."""
        return self._fixed(_S32)

    def s64(self) -> int:
        """Eight bytes, signed."""
        return self._fixed(_S64)

    def uleb(self) -> int:
        """An unsigned LEB128 number."""
        value = shift = 0
        while True:
            byte = self.u8()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def sleb(self) -> int:
        """A signed LEB128 number."""
        value = shift = 0
        while True:
            byte = self.u8()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value - (1 << shift) if byte & 0x40 else value

    def block(self, size: int) -> bytes:
        """The next ``size`` bytes."""
        start = self.offset
        self.offset += size
        return bytes(self.data[start : self.offset])

    def string(self) -> bytes:
        """A string up to its terminating zero, which is passed over."""
        start = self.offset
        end = start
        while self.data[end]:
            end += 1
        self.offset = end + 1
        return bytes(self.data[start:end])

    def unit_length(self) -> tuple[int, int]:
        """A DWARF initial length: (length, size of an offset in this unit: 4 or 8)."""
        length = self.u32()
        return (self.u64(), 8) if length == 0xFFFFFFFF else (length, 4)

    def sized(self, size: int) -> int:
        """An unsigned number of 1, 2, 4 or 8 bytes."""
        return {1: self.u8, 2: self.u16, 4: self.u32, 8: self.u64}[size]()

    def pointer(self, encoding: int, shift: int, data_base: int = 0, function: int = 0) -> int:
        """A pointer encoded as ``DW_EH_PE_*`` says; ``shift`` is address minus offset of these bytes.

        ``DW_EH_PE_indirect`` is not followed: only personality routines use it, and nobody calls them here.
        """
        if encoding == OMIT:
            return 0
        base = {_PC_RELATIVE: self.offset + shift, _DATA_RELATIVE: data_base, _FUNCTION_RELATIVE: function}
        relative_to = base.get(encoding & 0x70, 0)
        form = encoding & 0x0F
        if form in _FIXED:
            value = self._fixed(_FIXED[form])
        elif form in {0x01, 0x09}:
            value = self.uleb() if form == 0x01 else self.sleb()
        else:
            raise ValueError(f"unknown pointer encoding {encoding:#x}")
        return (value + relative_to) & MASK64
