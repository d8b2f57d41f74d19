"""Machine code, memory and modules of the native half, and what gdb itself says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.protocol import mi

if TYPE_CHECKING:
    from pyharness.debugger.native.side import NativeSide


class NativeCode:
    """Looks at memory as bytes and as instructions; any stop will do, and the thread does not matter."""

    def __init__(self, native: NativeSide) -> None:
        self._native = native

    def disassemble(
        self, address: int, count: int, *, offset: int = 0, instruction_offset: int = 0
    ) -> tuple[mi.Instruction, ...]:
        """Exactly ``count`` instructions from ``address`` + ``offset``, shifted by whole instructions.

        Where there are not as many, invalid ones stand in for them.
        """
        return self._native.ask(mi.Disassemble(address, count, offset, instruction_offset))

    def command(self, thread: int, text: str) -> str:
        """What gdb prints for a command of its own, where ``thread`` stands."""
        return self._native.ask_about(thread, mi.GdbCommand(thread, text))

    def read(self, address: int, count: int, offset: int = 0) -> mi.Bytes:
        """At most ``count`` bytes."""
        return self._native.ask(mi.ReadMemory(address, count, offset))

    def write(self, address: int, data: bytes, offset: int = 0) -> None:
        """Write all of ``data``; ``GdbError`` where that cannot be."""
        self._native.ask(mi.WriteMemory(address, data, offset))

    def modules(self) -> tuple[mi.Module, ...]:
        """Every native library and the program itself, in order of address."""
        return self._native.ask(mi.Modules())
