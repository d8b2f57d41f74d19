"""MI commands for memory and machine code."""

from __future__ import annotations

import base64
import binascii
from dataclasses import asdict
from typing import Any

import gdb

from pyharness.ingdb.disassembly import disassemble
from pyharness.ingdb.mi.commands import mi_command
from pyharness.model.errors import HarnessError, UsageError

_PAGE = 4096
_MAX_BYTES = 1 << 24
_MAX_INSTRUCTIONS = 20_000
_END = 1 << 64


@mi_command("ph-disassemble")
def _disassemble(request: dict[str, Any]) -> Any:
    """``count`` instructions from ``address`` + ``offset`` bytes + ``instruction_offset`` instructions."""
    count, skipped = int(request["count"]), int(request.get("instruction_offset") or 0)
    if not 0 <= count <= _MAX_INSTRUCTIONS or abs(skipped) > _MAX_INSTRUCTIONS:
        raise UsageError(f"At most {_MAX_INSTRUCTIONS} instructions at a time.")
    return [asdict(entry) for entry in disassemble(_address(request), skipped, count)]


def _address(request: dict[str, Any]) -> int:
    return min(max(int(request["address"]) + int(request.get("offset") or 0), 0), _END - 1)


@mi_command("ph-read-memory")
def _read_memory(request: dict[str, Any]) -> Any:
    """``count`` bytes as far as they can be read: ``{"address", "data": base64, "unreadable": N}``."""
    address, count = _address(request), int(request["count"])
    if not 0 <= count <= _MAX_BYTES:
        raise UsageError(f"At most {_MAX_BYTES} bytes at a time, not {count}.")
    data = _readable(address, count)
    return {
        "address": address,
        "data": base64.b64encode(data).decode("ascii"),
        "unreadable": count - len(data),
    }


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


@mi_command("ph-write-memory")
def _write_memory(request: dict[str, Any]) -> Any:
    """Write base64 ``data``: all of it, or nothing."""
    address = _address(request)
    try:
        data = base64.b64decode(request["data"], validate=True)
    except binascii.Error as error:
        raise UsageError(f"The data to write is not base64: {error}.") from error
    if len(_readable(address, len(data))) < len(data):
        raise HarnessError(f"The program has no {len(data)} bytes of memory at {address:#x}: nothing was written.")
    try:
        gdb.selected_inferior().write_memory(address, data)
    except gdb.error as error:
        raise HarnessError(f"Memory at {address:#x} cannot be written: {error}.") from error
    return {"written": len(data)}
