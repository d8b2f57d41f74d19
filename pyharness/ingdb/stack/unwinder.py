"""Unwinds through every library whose symbols gdb has not read, by the call frame information in its file.

gdb reads ``.eh_frame`` together with the symbols: without them its stack breaks off at the first frame of torch.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

import gdb
from gdb.unwinder import Unwinder, register_unwinder

from pyharness.ingdb.process import libraries
from pyharness.ingdb.process.inferior_memory import read
from pyharness.model.user_code import is_user_binary
from pyharness.reading.binaries.dwarf_cfi import CALLEE_SAVED, NAMES, RIP, RSP, Caller, call_frames
from pyharness.reading.binaries.dwarf_expression import ExpressionError
from pyharness.reading.stack.unwinding import guess, returns_from_signal

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.reading.process.mapped_files import Library

_NEEDED = (*CALLEE_SAVED, RSP)


class _FrameId:
    """What makes a frame the same frame at the next stop: its CFA and its function, as gdb's own unwinder has it."""

    def __init__(self, sp: gdb.Value, pc: gdb.Value) -> None:
        self.sp = sp
        self.pc = pc


class LibraryUnwinder(Unwinder):
    """Takes the frames in unread libraries; everything else is gdb's."""

    def __init__(self) -> None:
        super().__init__("pyharness")
        self._signal_levels: set[int] = set()

    def __call__(self, pending_frame: gdb.PendingFrame) -> gdb.UnwindInfo | None:
        """gdb asks for each frame; ``None`` leaves it to gdb."""
        try:
            pc = int(pending_frame.read_register("rip")) & (1 << 64) - 1
        except (ValueError, gdb.error):  # another architecture, or a register that is lost
            return None
        if not self._signal_levels and libraries.is_read_user_code(pc):
            return None
        level = pending_frame.level()
        if level == 0:
            self._signal_levels.clear()
        library = libraries.library_at(pc)
        if library is None or libraries.is_loaded(library):
            # A signal's frame: the frame that it interrupted has not called, so its pc is exact.
            if _may_return_from_signal(library) and returns_from_signal(pc, read):
                self._signal_levels.add(level)
            return None
        return self._unwind(pending_frame, library, pc)

    def _unwind(self, pending: gdb.PendingFrame, library: Library, pc: int) -> gdb.UnwindInfo | None:
        level = pending.level()
        exact = level == 0 or level - 1 in self._signal_levels
        own = pc - library.bias - (0 if exact else 1)
        frames = call_frames(library.elf)
        try:
            entry = frames.entry(own)
            if entry is not None and entry.common.is_signal_frame:
                return None
            registers = _registers(pending)
            caller = frames.caller(own, registers, read)
        except (ExpressionError, ValueError, KeyError, IndexError, OSError, gdb.error):
            return None
        start = entry.start if entry else own
        if caller is None:
            start, caller = guess(library.elf, own, registers, read)
        return _answer(pending, caller, start + library.bias)


@lru_cache(maxsize=64)
def _may_return_from_signal(library: Library | None) -> bool:
    """Whether code to return from a signal may be there: the libc has it, or the kernel maps it."""
    return library is None or not is_user_binary(library.path)


def _registers(pending: gdb.PendingFrame) -> dict[int, int]:
    found = {}
    for number in _NEEDED:
        with suppress(gdb.error):  # not saved by the frame it called
            found[number] = int(pending.read_register(NAMES[number])) & (1 << 64) - 1
    return found


def _answer(pending: gdb.PendingFrame, caller: Caller, start: int) -> gdb.UnwindInfo:
    word = pending.architecture().integer_type(64, False)  # noqa: FBT003  (gdb takes it by position)
    value: Callable[[int], gdb.Value] = lambda number: gdb.Value(number).cast(word)  # noqa: E731
    info = pending.create_unwind_info(_FrameId(value(caller.cfa), value(start)))
    for number, content in caller.registers.items():
        info.add_saved_register(NAMES[number], value(content))
    # Where the stack ends gdb has to see a caller; a pc of zero ends it one frame later. (Only clone and _start end so,
    # in libc and in the program's own file, and gdb has read both.)
    info.add_saved_register(NAMES[RIP], value(caller.pc or 0))
    return info


def register() -> None:
    """Put the unwinder before gdb's own; a second call changes nothing."""
    register_unwinder(None, LibraryUnwinder(), replace=True)
