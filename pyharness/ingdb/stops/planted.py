"""Traps that we plant ourselves: at each of the user's functions, for the time of one *into*.

Why not gdb's breakpoints: gdb reads the debug information of a whole compilation unit for each address it is given, a
quarter of a second for a unit that includes torch's headers, and every unit of the user's is among them. Writing the
bytes costs microseconds a function, so *into* stays as fast in a large extension as in a small one.

What a leftover trap could do: nothing. The program has a guard (``native.trap_guard``) that heals it when it is hit and
no debugger is there any more; without the guard ``every_function`` uses gdb's breakpoints.

A trap is two bytes where its instruction has as many. For some milliseconds of each hit gdb has the thread stand behind
the first one, as the program would see that, and has taken the signal: whoever kills gdb then has the thread go on from
there, which is the middle of an instruction, and the second byte is what it runs into.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

INT3 = 0xCC
_BOTH = bytes([INT3, INT3])
_LOCK = 0xF0
_SINGLE = frozenset(
    [
        *range(0x50, 0x60),  # push, pop
        *range(0x6C, 0x70),  # ins, outs
        *range(0x90, 0xA0),  # nop, xchg, cwde, cdq, fwait, pushf, popf, sahf, lahf
        *range(0xA4, 0xA8),  # movs, cmps
        *range(0xAA, 0xB0),  # stos, lods, scas
        *[0xC3, 0xC9, 0xCB, 0xCC, 0xCF, 0xD7],  # ret, leave, retf, int3, iret, xlat
        *range(0xEC, 0xF0),  # in, out
        *[0xF1, 0xF4, 0xF5, *range(0xF8, 0xFE)],  # int1, hlt, cmc, clc to std
    ]
)
"""Instructions of one byte in x86-64, all of which have no operand (Intel's manual, volume 2, appendix A)."""
_IS_SINGLE = [opcode in _SINGLE or opcode == _LOCK for opcode in range(256)]
"""Whether an instruction may end behind its first byte, by that; a jump past ``lock`` makes one of what follows."""
_NEAR = 256
"""Bytes between two traps that are written along with them."""
_FARTHEST = 1 << 20


class Planted:
    """The traps in one process, by address."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._memory = os.open(f"/proc/{pid}/mem", os.O_RDWR | os.O_CLOEXEC)
        self._original: dict[int, bytes] = {}
        self._active: set[int] = set()

    @property
    def active(self) -> bool:
        """Whether any trap is in place."""
        return bool(self._active)

    def plant(self, addresses: Iterable[int]) -> int:
        """Put a trap at each address that has none (gdb's own count); how many are in place now."""
        wanted = sorted(set(addresses) - self._active)
        if self._active:
            self._change(sorted({each - 2 for each in wanted} & self._active), self._one_byte)
        self._change(wanted, self._both_bytes)
        return len(self._active)

    def lift(self) -> None:
        """Take all of them away; those in a library that has gone meanwhile went with it."""
        self._lift(sorted(self._active))

    def lift_one(self, address: int) -> None:
        """Take one away, for a thread that has to pass."""
        self.lift_some({address})

    def lift_some(self, addresses: set[int]) -> None:
        """Take away those that are there."""
        self._lift(sorted(addresses & self._active))

    def _lift(self, addresses: list[int]) -> None:
        self._change(addresses, self._none)
        self._active.difference_update(addresses)

    def _change(self, addresses: list[int], change: Callable[[list[int], bytearray], bytes]) -> None:
        """Write what ``change(group, code)`` returns, then what it has made of ``code``.

        A thread that comes by must find the whole instruction, or the trap's first byte: that one is written first, and
        taken away last.
        """
        for group in _groups(addresses):
            if code := self._code(group):
                os.pwrite(self._memory, change(group, code), group[0])
                os.pwrite(self._memory, code, group[0])

    def _both_bytes(self, group: list[int], code: bytearray) -> bytes:
        """Plant traps, of one byte where the second one would be taken for the first of a trap that is right behind."""
        begin, original, active = group[0], self._original, self._active
        longer = []
        for address in group:
            at = address - begin
            first = code[at]
            if first == INT3:
                continue
            if _IS_SINGLE[first]:
                original[address] = bytes((first,))
            else:
                original[address] = bytes(code[at : at + 2])
                longer.append(at + 1)
            code[at] = INT3
            active.add(address)
        half = bytes(code)
        for second in longer:
            if begin + second + 1 not in active and second < len(code):
                code[second] = INT3
        return half

    def _one_byte(self, group: list[int], code: bytearray) -> bytes:
        """Leave the first byte alone; whatever is no trap of ours any more is another library's."""
        begin = group[0]
        for address in group:
            at, original = address - begin, self._original[address]
            if len(original) > 1 and code[at : at + 2] == _BOTH:
                code[at + 1] = original[1]
        return bytes(code)

    def _none(self, group: list[int], code: bytearray) -> bytes:
        begin, half = group[0], self._one_byte(group, code)
        for address in group:
            at = address - begin
            if code[at] == INT3:
                code[at] = self._original[address][0]
        return half

    def address_of(self, pc: int) -> int | None:
        """The trap that stopped a thread at ``pc``, at it or just behind it; also one that is lifted since."""
        return next((address for address in (pc - 1, pc) if address in self._original), None)

    def _code(self, group: list[int]) -> bytearray:
        """What is in memory from the first to the last trap of a group; empty where a library has gone."""
        try:
            code = bytearray(os.pread(self._memory, group[-1] + 2 - group[0], group[0]))
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
