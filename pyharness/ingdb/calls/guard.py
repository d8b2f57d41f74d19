"""The program's guard as gdb sees it (``csrc/guard/guarded_call.cpp``): calls that are noted in it, and their gates.

A thread that is called stands in a gate of its own meanwhile: wherever gdb is killed, it comes to the guard from there.
"""

from __future__ import annotations

import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import console
from pyharness.ingdb.calls import call_traps
from pyharness.ingdb.process import libraries
from pyharness.ingdb.settings import temporarily
from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIBRARY = "_guard."
"""How the file name of the library with the guard begins."""
_SYMBOL = b"pyharness_guarded_calls_2"
"""The number tells the layout: a program with another pyharness may have another one."""
_HEAD = struct.Struct("<10Q")
_CALL = struct.Struct("<QqQQq18QQQ")
"""What of ``GuardedCall`` is written here."""
_THREAD = 16
"""Where in it the thread is, which is written last and taken away first."""
_REGISTERS = (
    *("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp"),
    *(f"r{number}" for number in range(8, 16)),
    *("rip", "eflags"),
)
_WAITING = 160
"""Where in its gate a thread waits: above what gdb writes into it."""
_RETURNS = 129
"""Below the stack pointer that gdb calls at: the 128 bytes that a function may use there, and gdb's breakpoint."""
NO_SYSTEM_CALL = -1
"""For the kernel, which would begin a system call again with what gdb has written into the registers by then."""
_MASK = (1 << 64) - 1


@frozen
class Guard:
    """``GuardedCalls`` of the program."""

    is_allowed: int
    calls: int
    call_count: int
    call_size: int
    gates: int
    gate_size: int
    gate_stride: int
    call: int
    expression_begins: int
    expression_ends: int


@frozen
class Noted:
    """A call that the guard knows of, and what a thread's registers were before it."""

    number: int
    address: int
    registers: dict[str, int]
    system_call: int
    is_expression: bool


def find() -> Guard | None:
    """The program's guard; ``None`` where it has none."""
    library = libraries.find_library(_LIBRARY)
    if library is None:
        return None
    for table in library.elf.symbol_tables:
        if symbol := table.named(_SYMBOL):
            raw = bytes(gdb.selected_inferior().read_memory(symbol.address + library.bias, _HEAD.size))
            guard = Guard(*_HEAD.unpack(raw))
            return guard if guard.is_allowed else None
    return None


def note(guard: Guard, lwp: int, *, is_expression: bool) -> Noted:
    """Leave the registers of the selected thread with the guard."""
    number = _free(guard)
    address = guard.calls + number * guard.call_size
    frame = gdb.newest_frame()
    registers = {name: int(frame.read_register(name)) & _MASK for name in _REGISTERS}
    system_call = _signed(int(frame.read_register("orig_rax")) & _MASK)
    memory = gdb.selected_inferior()
    raw = _CALL.pack(0, 0, 0, is_expression, system_call, *registers.values(), 0, 0)
    memory.write_memory(address, raw)
    memory.write_memory(address + _THREAD, struct.pack("<Q", lwp))
    return Noted(number, address, registers, system_call, is_expression)


def forget(noted: Noted) -> None:
    """Take the call away: its thread stands where it stood."""
    gdb.selected_inferior().write_memory(noted.address + _THREAD, struct.pack("<Q", 0))


def is_back(noted: Noted) -> bool:
    """Whether the selected thread stands where it stood before the call."""
    return stands(noted.registers["rip"], noted.registers["rsp"])


def leave_gate(guard: Guard, noted: Noted) -> None:
    """Bring the selected thread back, where it waits in its gate."""
    if stands(_gate(guard, noted) + _WAITING, None):
        with _shallow():
            _bring_back(noted)


def through_gate(guard: Guard, noted: Noted, function: int, *, system_call: int | None = None) -> int:
    """Run a function in a call that is noted; wherever gdb is killed, the thread comes to the guard.

    Then the thread is held in ``system_call``, where that is not the one that it was held in before.
    """
    gate = _gate(guard, noted)
    gdb.selected_inferior().write_memory(noted.address, struct.pack("<Q", function))
    with _shallow(), call_traps.returning(gate + guard.gate_size - _RETURNS):
        _set("rip", gate + _WAITING)
        try:
            _set("rsp", gate + guard.gate_size)
            console.c_value(f"((void (*)(long)) {guard.call:#x})({noted.address})")
            return returned(noted)
        finally:
            if stands(gate + _WAITING, None):
                _bring_back(noted, system_call)


def returned(noted: Noted) -> int:
    """What the function has returned, as the guard has it."""
    return int(_CALL.unpack(_read(noted.address, _CALL.size))[1])


def place() -> tuple[int, int]:
    """The pc and the stack pointer of the selected thread."""
    frame = gdb.newest_frame()
    return frame.pc(), int(frame.read_register("rsp")) & _MASK


def stands(pc: int, stack_pointer: int | None) -> bool:
    """Whether the selected thread stands there: gdb has brought it back from a call."""
    try:
        here = place()
        return here[0] == pc and stack_pointer in {None, here[1]}
    except gdb.error:  # it runs, or is gone
        return False


def _free(guard: Guard) -> int:
    """The number of a call that is not under way; where all are, the threads of the older ones are gone."""
    memory = gdb.selected_inferior()
    for number in range(guard.call_count):
        raw = bytes(memory.read_memory(guard.calls + number * guard.call_size + _THREAD, 8))
        if not any(raw):
            return number
    return 0


def _gate(guard: Guard, noted: Noted) -> int:
    return guard.gates + noted.number * guard.gate_stride


def _bring_back(noted: Noted, system_call: int | None = None) -> None:
    """From its gate to where the thread stood; what takes it out of the gate comes last."""
    _set("rsp", noted.registers["rsp"])
    _set("orig_rax", noted.system_call if system_call is None else system_call)
    _set("rip", noted.registers["rip"])


def _read(address: int, size: int) -> bytes:
    return bytes(gdb.selected_inferior().read_memory(address, size))


def _set(register: str, value: int) -> None:
    gdb.newest_frame().select()
    console.c_value(f"${register} = {value}")


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


@contextmanager
def _shallow() -> Iterator[None]:
    """gdb looks for the selected frame whenever a register was set: in the whole stack, where it has moved away.

    Expressions of ours follow each other here, and the language is set once for all.
    """
    before = gdb.parameter("backtrace limit")
    console.run("set backtrace limit 1")
    try:
        with temporarily("language", "c"):
            yield
    finally:
        console.run(f"set backtrace limit {before or 'unlimited'}")
