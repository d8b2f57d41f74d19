"""Traps that we plant ourselves: one byte at each of the user's functions, for the time of one *into*.

Why not gdb's breakpoints: gdb reads the debug information of a whole compilation unit for each address it is given, a
quarter of a second for a unit that includes torch's headers, and every unit of the user's is among them. Writing the
bytes costs microseconds a function, so *into* stays as fast in a large extension as in a small one.

What a leftover byte could do: nothing. The program has a guard (``native.trap_guard``) that heals such a byte when it
is hit and no debugger is there any more; without the guard ``every_function`` uses gdb's breakpoints.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

INT3 = 0xCC
_NEAR = 256
"""Bytes between two traps that are written along with them."""
_FARTHEST = 1 << 20


class Planted:
    """The traps in one process, by address."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._memory = os.open(f"/proc/{pid}/mem", os.O_RDWR | os.O_CLOEXEC)
        self._original: dict[int, int] = {}
        self._active: set[int] = set()

    @property
    def active(self) -> bool:
        """Whether any trap is in place."""
        return bool(self._active)

    def plant(self, addresses: Iterable[int]) -> int:
        """Put a trap at each address that has none (gdb's own count); how many are in place now."""
        for group in _groups(sorted(set(addresses) - self._active)):
            if not (code := self._code(group)):
                continue
            for address in group:
                original = code[address - group[0]] if address - group[0] < len(code) else INT3
                if original != INT3:
                    self._original[address] = original
                    code[address - group[0]] = INT3
                    self._active.add(address)
            os.pwrite(self._memory, code, group[0])
        return len(self._active)

    def lift(self) -> None:
        """Take all of them away; those in a library that has gone meanwhile went with it."""
        for group in _groups(sorted(self._active)):
            if not (code := self._code(group)):
                continue
            for address in group:
                at = address - group[0]
                code[at] = self._original[address] if code[at] == INT3 else code[at]  # else it is another library's
            os.pwrite(self._memory, code, group[0])
        self._active.clear()

    def lift_one(self, address: int) -> None:
        """Take one away, for a thread that has to pass."""
        if address in self._active:
            os.pwrite(self._memory, bytes([self._original[address]]), address)
            self._active.discard(address)

    def address_of(self, pc: int) -> int | None:
        """The trap that stopped a thread at ``pc``, at it or just behind it; also one that is lifted since."""
        return next((address for address in (pc - 1, pc) if address in self._original), None)

    def _code(self, group: list[int]) -> bytearray:
        """What is in memory from the first to the last address of a group; empty where a library has gone."""
        try:
            code = bytearray(os.pread(self._memory, group[-1] + 1 - group[0], group[0]))
        except OSError:
            return bytearray()
        return code if len(code) > group[-1] - group[0] else bytearray()


def _groups(addresses: list[int]) -> Iterator[list[int]]:
    """Addresses that one read and one write reach: a call of the system for each would take a second for 100,000."""
    group: list[int] = []
    for address in addresses:
        if group and (address - group[-1] > _NEAR or address - group[0] > _FARTHEST):
            yield group
            group = []
        group.append(address)
    if group:
        yield group
