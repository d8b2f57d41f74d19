"""Runs a stopped thread out of a function, for a limited number of instructions: it is seen where it was by nobody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import gdb

from pyharness.ingdb.settings import temporarily

Came = Literal["left", "slow", "stopped"]
"""``slow``: still there after some instructions; ``stopped``: at something else, such as a breakpoint."""
_INSTRUCTIONS = 2000
"""0.2 s of gdb's; the allocator takes some hundred."""
_TO_A_CALL = 300
"""Instructions in which the interpreter calls something, but for loops that neither make nor free an object."""
_LONGEST_CALL = 7
"""Bytes of an instruction that calls."""


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


class _Return(gdb.Breakpoint):
    """Where a function returns to; gdb's own takes no return into an inlined function for one."""

    def __init__(self, pc: int, within: int) -> None:
        """``within``: the stack pointer in that function, or before it in what that calls."""
        super().__init__(f"*{pc:#x}", gdb.BP_BREAKPOINT, internal=True)
        self.silent = True
        self.thread = gdb.selected_thread().num
        self._within = within
        self.is_reached = False

    def stop(self) -> bool:
        self.is_reached = _stack_pointer(gdb.newest_frame()) > self._within  # not a call of it further in
        return self.is_reached


def _stack_pointer(frame: gdb.Frame) -> int:
    return int(frame.read_register("rsp"))


def leave(frame: gdb.Frame) -> Came:
    """Run the thread out of ``frame``, if that takes few instructions."""
    caller = frame.older()
    return "slow" if caller is None else _run_to(caller.pc(), _stack_pointer(frame))


def leave_next_call() -> Came:
    """Run the thread into the next function that it calls, and out of that."""
    for _ in range(_TO_A_CALL):
        frame = gdb.newest_frame()
        pc, before = frame.pc(), _stack_pointer(frame)
        if _step(1):
            return "stopped"
        now = _stack_pointer(gdb.newest_frame())
        if now == before - 8:
            back = int.from_bytes(bytes(gdb.selected_inferior().read_memory(now, 8)), "little")
            if pc < back <= pc + _LONGEST_CALL:
                return _run_to(back, now)
    return "slow"


def _run_to(pc: int, within: int) -> Came:
    end = _Return(pc, within)
    try:
        came_to_another = _step(_INSTRUCTIONS)
    finally:
        end.delete()
    return "left" if end.is_reached else "stopped" if came_to_another else "slow"


def _run(command: str) -> None:
    """Without a word; under MI, whose client hears none: gdb 18 takes ``^running`` for what is printed."""
    gdb.execute(command, to_string=not gdb.parameter("non-stop"))


def _step(instructions: int) -> bool:
    """Whether the thread comes to a stop of another kind on the way."""
    stops: list[gdb.StopEvent] = []
    note = stops.append
    gdb.events.stop.connect(note)
    try:
        with temporarily("suppress-cli-notifications", "on"), temporarily("scheduler-locking", "off"):
            _run(f"stepi {instructions}")
    finally:
        gdb.events.stop.disconnect(note)
    return any(isinstance(stop, (gdb.BreakpointEvent, gdb.SignalEvent)) for stop in stops)
