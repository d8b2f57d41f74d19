"""Call frame information: from the registers of a frame to those of its caller, by ``.eh_frame`` alone.

``.eh_frame_hdr`` is a sorted table, so the entry of an address is found by bisection in the file itself.
Sources: Linux Standard Base Core, "Exception Frames"; DWARF 5, section 6.4; x86-64 psABI, figure 3.36 (registers).
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.reading.binaries.byte_reader import Reader
from pyharness.reading.binaries.cfa_program import run_until
from pyharness.reading.binaries.dwarf_expression import evaluate
from pyharness.reading.binaries.elf import PT_GNU_EH_FRAME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyharness.reading.binaries.cfa_program import Row, Rule
    from pyharness.reading.binaries.dwarf_expression import ReadMemory
    from pyharness.reading.binaries.elf import Elf

RBX, RBP, RSP, RIP = 3, 6, 7, 16
CALLEE_SAVED = (RBX, RBP, 12, 13, 14, 15)
NAMES = {
    0: "rax", 1: "rdx", 2: "rcx", 3: "rbx", 4: "rsi", 5: "rdi", 6: "rbp", 7: "rsp",
    8: "r8", 9: "r9", 10: "r10", 11: "r11", 12: "r12", 13: "r13", 14: "r14", 15: "r15", 16: "rip",
}  # fmt: skip

_TABLE = 0x3B  # DW_EH_PE_datarel | DW_EH_PE_sdata4: the only sorted table that linkers write
_ROW = struct.Struct("<ii")


@frozen
class Common:
    """A CIE: what several functions share."""

    code_factor: int
    data_factor: int
    return_register: int
    pointer_encoding: int
    augmented: bool
    is_signal_frame: bool
    initial: bytes


@frozen
class Entry:
    """An FDE: one function, or one part of one; addresses are the file's own."""

    start: int
    end: int
    common: Common
    program: bytes


@frozen
class Caller:
    """A frame's caller; ``registers`` lacks those that are lost, ``pc`` is None where the stack ends."""

    cfa: int
    pc: int | None
    registers: dict[int, int]


class CallFrames:
    """The call frame information of one ELF file."""

    def __init__(self, elf: Elf) -> None:
        self.elf, self._data = elf, elf.data
        self._header = next((part for part in elf.segments if part.type == PT_GNU_EH_FRAME), None)
        self.entry = lru_cache(maxsize=4096)(self._entry)
        self.row = lru_cache(maxsize=4096)(self._row)

    @cached_property
    def _table(self) -> tuple[int, int]:
        """Offset and number of rows of the sorted table; (0, 0) where there is none."""
        if self._header is None or self._data[self._header.offset] != 1:
            return 0, 0
        reader = Reader(self._data, self._header.offset + 1)
        frames, count, table = reader.u8(), reader.u8(), reader.u8()
        if table != _TABLE:
            return 0, 0
        shift = self._header.address - self._header.offset
        reader.pointer(frames, shift)
        rows = reader.pointer(count, shift)
        return reader.offset, min(rows, (len(self._data) - reader.offset) // _ROW.size)

    def _entry(self, pc: int) -> Entry | None:
        """The entry that covers ``pc``, or ``None``."""
        table, count = self._table
        if not count or self._header is None:
            return self._listed(pc)
        wanted, low, high = pc - self._header.address, 0, count
        while low < high:
            middle = (low + high) // 2
            if _ROW.unpack_from(self._data, table + middle * _ROW.size)[0] <= wanted:
                low = middle + 1
            else:
                high = middle
        if not low:
            return None
        (_, distance) = _ROW.unpack_from(self._data, table + (low - 1) * _ROW.size)
        found = self._read(self._header.address + distance)
        return found if found and found.start <= pc < found.end else None

    def _listed(self, pc: int) -> Entry | None:
        """The entry that covers ``pc`` in a file without the sorted table, as static programs are."""
        entries = self._entries
        index = bisect_right(entries, pc, key=attrgetter("start")) - 1
        return entries[index] if index >= 0 and pc < entries[index].end else None

    @cached_property
    def _entries(self) -> list[Entry]:
        """Every entry of ``.eh_frame``, in order of address."""
        section = self.elf.sections.get(".eh_frame")
        if section is None:
            return []
        reader, found = Reader(self._data, section.offset), []
        while reader.offset < section.offset + section.size:
            start = reader.offset
            length, _ = reader.unit_length()
            reader.offset += length
            if length and (entry := self._read(start - section.offset + section.address)):
                found.append(entry)
        return sorted(found, key=attrgetter("start"))

    def _read(self, address: int) -> Entry | None:
        offset = self.elf.offset_of(address)
        if offset is None:
            return None
        reader = Reader(self._data, offset)
        length, _ = reader.unit_length()
        start = reader.offset
        distance = reader.u32()
        if not distance or not length:
            return None
        common = self._common(start - distance)
        shift = address - offset
        begin = reader.pointer(common.pointer_encoding, shift)
        size = reader.pointer(common.pointer_encoding & 0x0F, shift)
        if common.augmented:
            skipped = reader.uleb()
            reader.offset += skipped
        return Entry(begin, begin + size, common, reader.block(start + length - reader.offset))

    @cached_property
    def _commons(self) -> dict[int, Common]:
        return {}

    def _common(self, offset: int) -> Common:
        if offset not in self._commons:
            self._commons[offset] = _read_common(Reader(self._data, offset))
        return self._commons[offset]

    def _row(self, pc: int) -> Row | None:
        entry = self.entry(pc)
        return run_until(entry, pc) if entry else None

    def caller(self, pc: int, registers: Mapping[int, int], read_memory: ReadMemory) -> Caller | None:
        """The caller of the frame with these registers that executes ``pc``; ``None`` where nothing covers it.

        ``pc`` of a frame that has called is its return address minus one: the call may be its function's last byte.
        """
        entry, row = self.entry(pc), self.row(pc)
        if entry is None or row is None:
            return None
        if isinstance(row.cfa, bytes):
            cfa = evaluate(row.cfa, registers, read_memory)
        else:
            cfa = registers[row.cfa[0]] + row.cfa[1]
        found = {number: registers[number] for number in CALLEE_SAVED if number in registers}
        found[RSP] = cfa
        for number, rule in row.rules.items():
            value = _apply(rule, cfa, registers, read_memory)
            if value is None:
                found.pop(number, None)
            else:
                found[number] = value
        return Caller(cfa, found.pop(entry.common.return_register, None), found)


@lru_cache(maxsize=512)
def call_frames(elf: Elf) -> CallFrames:
    """The call frame information of ``elf``, kept."""
    return CallFrames(elf)


def _apply(rule: Rule, cfa: int, registers: Mapping[int, int], read_memory: ReadMemory) -> int | None:
    """Value of a register in the caller, ``None`` where it is lost."""
    kind, argument = rule
    if isinstance(argument, bytes):
        value = evaluate(argument, registers, read_memory, cfa)
        return value if kind == "value" else int.from_bytes(read_memory(value, 8), "little")
    if kind == "saved":
        return int.from_bytes(read_memory(cfa + argument, 8), "little")
    if kind == "value":
        return cfa + argument
    return registers.get(argument) if kind == "register" else None


def _read_common(reader: Reader) -> Common:
    length, _ = reader.unit_length()
    end = reader.offset + length
    reader.offset += 4
    version, augmentation = reader.u8(), reader.string()
    if augmentation == b"eh":
        reader.offset += 8
    code, data = reader.uleb(), reader.sleb()
    returns = reader.u8() if version == 1 else reader.uleb()
    encoding = 0
    augmented = augmentation.startswith(b"z")
    if augmented:
        size = reader.uleb()
        encoding = _pointer_encoding(augmentation, Reader(reader.block(size)))
    return Common(code, data, returns, encoding, augmented, b"S" in augmentation, reader.block(end - reader.offset))


def _pointer_encoding(augmentation: bytes, data: Reader) -> int:
    encoding = 0
    for letter in augmentation[1:].decode("ascii", "replace"):
        if letter == "R":
            encoding = data.u8()
        elif letter == "L":
            data.offset += 1
        elif letter == "P":
            data.pointer(data.u8() & 0x7F, 0)
        elif letter not in "SB":
            break
    return encoding
