"""Runs a stopped thread out of a function, for a limited number of instructions: it is seen where it was by nobody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import gdb

from pyharness.ingdb.settings import temporarily

Came = Literal["left", "slow", "stopped"]
"""``slow``: still there after some instructions, or about to wait; ``stopped``: at something else: a breakpoint."""
_INSTRUCTIONS = 500
"""A quarter of a second of gdb's; the allocator takes some hundred."""
_TO_A_CALL = 300
"""Instructions in which the interpreter calls something, but for loops that neither make nor free an object."""
_LONGEST_CALL = 7
"""Bytes of an instruction that calls."""
_SYSTEM_CALL = b"\x0f\x05"
_FOR_MEMORY = {9, 11, 12, 25, 28}
"""System calls that do not wait: mmap, munmap, brk, mremap, madvise."""


@dataclass(frozen=True)
class Place:
    """Where a thread stands, which it may come to again."""

    thread: int
    pc: int
    stack: int
    """The stack pointer."""

    @classmethod
    def here(cls) -> Place:
        """The place of the selected thread."""
        frame = gdb.newest_frame()
        return cls(gdb.selected_thread().num, frame.pc(), _stack_pointer(frame))


def waits() -> bool:
    """Whether the selected thread is in a system call that may wait for ever; on other processors it is not looked."""
    try:
        number = int(gdb.newest_frame().read_register("orig_rax"))
    except ValueError:
        return True  # there threads stay where they are
    return number >= 0 and number not in _FOR_MEMORY


def leave(frame: gdb.Frame) -> Came:
    """Run the thread out of ``frame``, if that takes few instructions."""
    caller = frame.older()
    return "slow" if caller is None else _run_to(caller.pc(), _stack_pointer(frame))


def leave_next_call() -> Came:
    """Run the thread into the next function that it calls, and out of that."""
    for _ in range(_TO_A_CALL):
        before = Place.here()
        if came := _step():
            return came
        now = Place.here()
        if now.stack == before.stack - 8 and before.pc < (back := _word(now.stack)) <= before.pc + _LONGEST_CALL:
            return _run_to(back, now.stack)
    return "slow"


def _run_to(pc: int, within: int) -> Came:
    """Run on to an address outside of a function, which may call it again further in.

    ``within``: the stack pointer in that function, or as it begins. A breakpoint at the address would do; but on the
    way there nothing may be entered that waits.
    """
    for _ in range(_INSTRUCTIONS):
        if came := _step():
            return came
        here = Place.here()
        if here.pc == pc and here.stack > within:
            return "left"
    return "slow"


def _step() -> Literal["slow", "stopped"] | None:
    """Run one instruction. ``slow`` where that may wait, and is not run; ``stopped`` where something else came."""
    frame = gdb.newest_frame()
    if _memory(frame.pc(), 2) == _SYSTEM_CALL and int(frame.read_register("rax")) not in _FOR_MEMORY:
        return "slow"
    stops: list[gdb.StopEvent] = []
    note = stops.append
    gdb.events.stop.connect(note)
    try:
        with temporarily("suppress-cli-notifications", "on"), temporarily("scheduler-locking", "off"):
            # Under MI nobody hears what is printed, and gdb 18 would take ``^running`` for a part of it.
            gdb.execute("stepi", to_string=not gdb.parameter("non-stop"))
    finally:
        gdb.events.stop.disconnect(note)
    other = any(isinstance(stop, (gdb.BreakpointEvent, gdb.SignalEvent)) for stop in stops)
    return "stopped" if other else None


def _stack_pointer(frame: gdb.Frame) -> int:
    return int(frame.read_register("rsp"))


def _word(address: int) -> int:
    return int.from_bytes(_memory(address, 8), "little")


def _memory(address: int, size: int) -> bytes:
    return bytes(gdb.selected_inferior().read_memory(address, size))
