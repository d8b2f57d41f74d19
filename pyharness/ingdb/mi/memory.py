"""MI commands for memory and machine code."""

from __future__ import annotations

import gdb

from pyharness.ingdb.functions.disassembly import disassemble
from pyharness.ingdb.mi.commands import handles
from pyharness.model.errors import HarnessError, UsageError
from pyharness.protocol import mi

_PAGE = 4096
_MAX_BYTES = 1 << 24
_MAX_INSTRUCTIONS = 20_000
_END = 1 << 64


@handles(mi.Disassemble)
def _disassemble(request: mi.Disassemble) -> tuple[mi.Instruction, ...]:
    count, skipped = request.count, request.instruction_offset
    if not 0 <= count <= _MAX_INSTRUCTIONS or abs(skipped) > _MAX_INSTRUCTIONS:
        raise UsageError(f"At most {_MAX_INSTRUCTIONS} instructions at a time.")
    return tuple(disassemble(_address(request), skipped, count))


def _address(request: mi.Disassemble | mi.ReadMemory | mi.WriteMemory) -> int:
    return min(max(request.address + request.offset, 0), _END - 1)


@handles(mi.ReadMemory)
def _read_memory(request: mi.ReadMemory) -> mi.Bytes:
    address, count = _address(request), request.count
    if not 0 <= count <= _MAX_BYTES:
        raise UsageError(f"At most {_MAX_BYTES} bytes at a time, not {count}.")
    data = _readable(address, count)
    return mi.Bytes(address, data, count - len(data))


def _readable(address: int, count: int) -> bytes:
    """The bytes up to the first page that is not there."""
    count = min(count, _END - address)
    try:
        return bytes(gdb.selected_inferior().read_memory(address, count)) if count else b""
    except (gdb.error, OverflowError):
        pass
    found = bytearray()
    while len(found) < count:
        at = address + len(found)
        size = min(_PAGE - at % _PAGE, count - len(found))
        try:
            found += bytes(gdb.selected_inferior().read_memory(at, size))
        except (gdb.error, OverflowError):
            break
    return bytes(found)


@handles(mi.WriteMemory)
def _write_memory(request: mi.WriteMemory) -> int:
    address, data = _address(request), request.data
    if len(_readable(address, len(data))) < len(data):
        raise HarnessError(f"The program has no {len(data)} bytes of memory at {address:#x}: nothing was written.")
    try:
        gdb.selected_inferior().write_memory(address, data)
    except gdb.error as error:
        raise HarnessError(f"Memory at {address:#x} cannot be written: {error}.") from error
    return len(data)
