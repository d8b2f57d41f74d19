"""Breakpoints around a call into a stopped thread: they lead it to the guard where gdb is killed in the midst of it.

gdb writes the registers of a call one by one, before it and after it, and a thread must not go on with some of them.
The two traps are gdb's own breakpoints: it takes other threads over them, which may come by.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.process import libraries
from pyharness.ingdb.settings import temporarily

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOP = b"\x90"


class StandingTrap(gdb.Breakpoint):
    """Where a thread stands for which a person's expression calls: there it is whenever gdb has written a part only."""

    def __init__(self, address: int) -> None:
        super().__init__(f"*{address:#x}", internal=True)
        self.silent = True

    def stop(self) -> bool:
        """Whoever comes here goes on."""
        return False


class ReturnTrap(StandingTrap):
    """Where a call comes back to, in a gate: gdb's breakpoint there goes before gdb writes registers.

    Among them is a stack pointer that leads into the gate, where no signal can be handled. Without the breakpoint the
    thread goes through the gate to its end, which gives it another one.
    """

    def __init__(self, address: int) -> None:
        super().__init__(address)
        self._address = address

    def stop(self) -> bool:
        """gdb's record of its breakpoint stays as it is: it puts the same byte there later."""
        memory = Path(f"/proc/{gdb.selected_inferior().pid}/mem")
        with suppress(OSError), memory.open("r+b", buffering=0) as file:
            file.seek(self._address)
            file.write(_NOP)
        return False


@contextmanager
def standing(address: int) -> Iterator[StandingTrap | None]:
    """A trap whose byte is in the program for the time of a block, also while all stand; whoever asks deletes it.

    ``None`` where no file has the code: the guard would not know what was there.
    """
    if libraries.library_at(address) is None:
        yield None
        return
    with temporarily("breakpoint always-inserted", "on"):
        yield StandingTrap(address)


@contextmanager
def returning(address: int) -> Iterator[None]:
    """For the time of a call."""
    trap = ReturnTrap(address)
    try:
        yield
    finally:
        delete(trap)


def delete(trap: StandingTrap | None) -> None:
    """Take it out of the program."""
    if trap is not None and trap.is_valid():
        trap.delete()
