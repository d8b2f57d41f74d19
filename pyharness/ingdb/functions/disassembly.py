"""Machine code as a list of instructions around an address, also backwards, which x86 code cannot be read by itself.

Instructions before an address are found from the start of the function that they are in, as unwind tables say it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import gdb

from pyharness.ingdb.process import libraries
from pyharness.ingdb.settings import temporarily
from pyharness.protocol.mi import Instruction
from pyharness.reading.binaries.dwarf_cfi import call_frames
from pyharness.reading.functions.symbol_names import function_at

if TYPE_CHECKING:
    from collections.abc import Iterator

_FARTHEST_FUNCTION = 1 << 20
_FARTHEST_PADDING = 4096
_TARGET = re.compile(r"^(?:call|j\w+)\s.*?\b0x([0-9a-f]+)$")
_INVALID = "(bad)"


def disassemble(address: int, instruction_offset: int, count: int) -> list[Instruction]:
    """``count`` instructions from the one that lies ``instruction_offset`` instructions after ``address``."""
    with temporarily("print asm-demangle", "on"):
        return _window(address, instruction_offset, count)


def _window(address: int, instruction_offset: int, count: int) -> list[Instruction]:
    if instruction_offset >= 0:
        return _from(address, instruction_offset + count)[instruction_offset:]
    before = _before(address, -instruction_offset)
    first = before[0].address if before else address
    missing = [_invalid(first - back) for back in range(-instruction_offset - len(before), 0, -1)]
    return [*missing, *before, *_from(address, count + instruction_offset)][:count]


def _invalid(address: int) -> Instruction:
    return Instruction(max(address, 0), "", _INVALID, valid=False)


def _from(start: int, count: int) -> list[Instruction]:
    """``count`` instructions, those without memory as invalid bytes."""
    rows = _rows(start, count)
    end = int(rows[-1]["addr"]) + int(rows[-1]["length"]) if rows else start
    return [*map(_described, rows), *(_invalid(end + index) for index in range(count - len(rows)))]


def _rows(start: int, count: int) -> list[dict[str, Any]]:
    architecture = gdb.selected_inferior().architecture()
    try:
        return _listed(architecture.disassemble(start, count=count)) if count > 0 else []
    except gdb.MemoryError:
        return list(_one_by_one(architecture, start, count))


def _listed(rows: Any) -> list[dict[str, Any]]:
    return list(rows)


def _one_by_one(architecture: gdb.Architecture, start: int, count: int) -> Iterator[dict[str, Any]]:
    for _ in range(count):
        try:
            row = _listed(architecture.disassemble(start, count=1))[0]
        except gdb.MemoryError:
            return
        yield row
        start += int(row["length"])


def _before(address: int, count: int) -> list[Instruction]:
    """At most ``count`` instructions that end at ``address``."""
    found: list[dict[str, Any]] = []
    end = address
    while len(found) < count:
        start = _start_before(end)
        if start is None:
            break
        found = [*_between(start, end), *found]
        end = start
    return [_described(row) for row in found[-count:]]


def _start_before(address: int) -> int | None:
    """Where the function begins that the byte before ``address`` lies in.

    Of code without unwind information, where the function before it ends.
    """
    library = libraries.library_at(address - 1)
    if library is None:
        return None
    own = address - library.bias
    frames = call_frames(library.elf)
    entry = frames.entry(own - 1)
    if entry and 0 < own - entry.start <= _FARTHEST_FUNCTION:
        return entry.start + library.bias
    return next((address - back for back in range(1, _FARTHEST_PADDING) if frames.entry(own - back - 1)), None)


def _between(start: int, end: int) -> list[dict[str, Any]]:
    architecture = gdb.selected_inferior().architecture()
    try:
        rows = _listed(architecture.disassemble(start, end - 1))
    except gdb.MemoryError:
        return []
    return [row for row in rows if int(row["addr"]) + int(row["length"]) <= end]


def _described(row: dict[str, Any]) -> Instruction:
    address, length = int(row["addr"]), int(row["length"])
    raw = bytes(gdb.selected_inferior().read_memory(address, length))
    place = gdb.find_pc_line(address)
    file = place.symtab.fullname() if place.symtab else ""
    return Instruction(
        address,
        raw.hex(" "),
        _with_target(str(row["asm"]).strip()),
        symbol_at(address),
        file,
        place.line if file else 0,
    )


def _with_target(text: str) -> str:
    """A call or a jump with the name of where it goes, which gdb only knows in libraries that it has read."""
    found = _TARGET.match(text.split("  #", maxsplit=1)[0].strip())
    name = symbol_at(int(found[1], 16)) if found else ""
    return f"{text} <{name}>" if name else text


def symbol_at(address: int) -> str:
    """``name+offset`` of an address, empty where no table names it."""
    library = libraries.library_at(address)
    if library is None:
        return ""
    own = address - library.bias
    entry, name = call_frames(library.elf).entry(own), function_at(library.elf, own)
    offset = own - entry.start if entry else 0
    return f"{name}+{offset}" if name and offset else name
