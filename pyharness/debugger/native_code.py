"""Machine code, memory and modules of the native half."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyharness.debugger.native_side import NativeSide


@dataclass(frozen=True)
class Instruction:
    """One machine instruction; empty and 0 where nothing is known."""

    address: int
    bytes: str
    """In hex, separated by blanks."""
    text: str
    symbol: str
    """``name+offset``."""
    file: str
    line: int
    valid: bool
    """``False`` for a filler where there is no instruction."""


@dataclass(frozen=True)
class Bytes:
    """Memory, as far as it could be read."""

    address: int
    data: bytes
    unreadable: int
    """How many bytes of those asked for come after ``data`` and were not there."""


@dataclass(frozen=True)
class Module:
    """One mapped ELF file."""

    id: str
    name: str
    path: str
    symbols: str
    """Whether they are read, for a person."""
    symbol_file: str
    """The file with the line tables, empty where there is none."""
    start: int
    end: int
    user_code: bool
    version: str
    build_id: str


class NativeCode:
    """Looks at memory as bytes and as instructions; any stop will do, and the thread does not matter."""

    def __init__(self, native: NativeSide) -> None:
        self._native = native

    def disassemble(
        self, address: int, count: int, *, offset: int = 0, instruction_offset: int = 0
    ) -> list[Instruction]:
        """Exactly ``count`` instructions from ``address`` + ``offset``, shifted by whole instructions.

        Where there are not as many, invalid ones stand in for them.
        """
        request = {"address": address, "offset": offset, "instruction_offset": instruction_offset, "count": count}
        return [Instruction(**entry) for entry in self._native.ask("ph-disassemble", request)]

    def read(self, address: int, count: int, offset: int = 0) -> Bytes:
        """At most ``count`` bytes."""
        found = self._native.ask("ph-read-memory", {"address": address, "offset": offset, "count": count})
        return Bytes(found["address"], base64.b64decode(found["data"]), found["unreadable"])

    def write(self, address: int, data: bytes, offset: int = 0) -> None:
        """Write all of ``data``; ``GdbError`` where that cannot be."""
        text = base64.b64encode(data).decode("ascii")
        self._native.ask("ph-write-memory", {"address": address, "offset": offset, "data": text})

    def modules(self) -> list[Module]:
        """Every native library and the program itself, in order of address."""
        return [Module(**entry) for entry in self._native.ask("ph-modules", {})]
