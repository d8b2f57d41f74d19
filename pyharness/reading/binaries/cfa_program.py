"""The little machine of call frame information: runs a function's program up to one address.

Source: DWARF 5, section 6.4.2; DW_CFA_GNU_* from the Linux Standard Base.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyharness.reading.binaries.byte_reader import Reader

if TYPE_CHECKING:
    from pyharness.reading.binaries.dwarf_cfi import Entry

Rule = tuple[str, "int | bytes"]
"""How a register of the caller is found: ("saved", offset from the CFA), ("value", offset), ("register", number),
("same", number), ("lost", 0); with bytes, "saved" and "value" are expressions."""

_ADVANCE, _OFFSET, _RESTORE = 0x40, 0x80, 0xC0


@dataclass
class Row:
    """What is known at one address: the CFA, and a rule for each register that is not simply the same."""

    cfa: tuple[int, int] | bytes = (7, 8)
    """(register, offset), or an expression."""
    rules: dict[int, Rule] = field(default_factory=dict)

    def copy(self) -> Row:
        """A row of its own."""
        return Row(self.cfa, dict(self.rules))


class _Machine:
    def __init__(self, entry: Entry) -> None:
        self.common, self.location = entry.common, entry.start
        self.row = Row()
        self.initial = Row()
        self.remembered: list[Row] = []

    def run(self, program: bytes, until: int) -> None:
        reader = Reader(program)
        while reader.offset < len(program) and self.location <= until:
            before = self.row.copy() if program[reader.offset] else None
            self._step(reader)
            if self.location > until and before:
                self.row = before

    def _step(self, reader: Reader) -> None:
        code = reader.u8()
        primary, low = code & 0xC0, code & 0x3F
        if primary == _ADVANCE:
            self.location += low * self.common.code_factor
        elif primary == _OFFSET:
            self.row.rules[low] = ("saved", reader.uleb() * self.common.data_factor)
        elif primary == _RESTORE:
            self._restore(low)
        elif 0x01 <= code <= 0x04:
            self._advance(code, reader)
        elif code in {0x0A, 0x0B}:
            self._remember(code)
        elif code in {0x0C, 0x0D, 0x0E, 0x0F, 0x12, 0x13}:
            self._define_cfa(code, reader)
        elif code:
            self._define_register(code, reader)

    def _advance(self, code: int, reader: Reader) -> None:
        if code == 0x01:
            raise ValueError("DW_CFA_set_loc does not occur on x86-64")
        distance = reader.u8() if code == 0x02 else reader.u16() if code == 0x03 else reader.u32()
        self.location += distance * self.common.code_factor

    def _remember(self, code: int) -> None:
        if code == 0x0A:
            self.remembered.append(self.row.copy())
        elif self.remembered:
            self.row = self.remembered.pop()

    def _define_cfa(self, code: int, reader: Reader) -> None:
        register, offset = self.row.cfa if isinstance(self.row.cfa, tuple) else (7, 0)
        if code == 0x0C:
            self.row.cfa = (reader.uleb(), reader.uleb())
        elif code == 0x12:
            self.row.cfa = (reader.uleb(), reader.sleb() * self.common.data_factor)
        elif code == 0x0D:
            self.row.cfa = (reader.uleb(), offset)
        elif code == 0x0E:
            self.row.cfa = (register, reader.uleb())
        elif code == 0x13:
            self.row.cfa = (register, reader.sleb() * self.common.data_factor)
        else:
            self.row.cfa = reader.block(reader.uleb())

    def _restore(self, register: int) -> None:
        if register in self.initial.rules:
            self.row.rules[register] = self.initial.rules[register]
        else:
            self.row.rules.pop(register, None)

    def _define_register(self, code: int, reader: Reader) -> None:
        factor, rules = self.common.data_factor, self.row.rules
        if code == 0x2E:  # DW_CFA_GNU_args_size: how much the callee pops, of no use here
            reader.uleb()
            return
        register = reader.uleb()
        if code == 0x05:
            rules[register] = ("saved", reader.uleb() * factor)
        elif code == 0x06:
            self._restore(register)
        elif code in {0x07, 0x08}:
            rules[register] = ("lost", 0) if code == 0x07 else ("register", register)
        elif code == 0x09:
            rules[register] = ("register", reader.uleb())
        elif code in {0x10, 0x16}:
            rules[register] = ("saved" if code == 0x10 else "value", reader.block(reader.uleb()))
        elif code == 0x11:
            rules[register] = ("saved", reader.sleb() * factor)
        elif code in {0x14, 0x15}:
            rules[register] = ("value", (reader.uleb() if code == 0x14 else reader.sleb()) * factor)
        elif code == 0x2F:
            rules[register] = ("saved", -reader.uleb() * factor)
        else:
            raise ValueError(f"unknown call frame instruction {code:#x}")


def run_until(entry: Entry, pc: int) -> Row:
    """The row that holds at ``pc``; ``ValueError`` for a program that is not understood."""
    machine = _Machine(entry)
    machine.run(entry.common.initial, entry.end)
    machine.initial = machine.row.copy()
    machine.run(entry.program, pc)
    return machine.row
