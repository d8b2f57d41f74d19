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
from pyharness.model.user_code import is_user_binary
from pyharness.reading.binaries.dwarf_cfi import CALLEE_SAVED, NAMES, RBP, RIP, RSP, Caller, call_frames
from pyharness.reading.binaries.dwarf_expression import ExpressionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.ingdb.process.libraries import Library

_NEEDED = (*CALLEE_SAVED, RSP)
_RETURN_FROM_SIGNAL = bytes.fromhex("48c7c00f0000000f05")  # mov $15,%rax; syscall: how gdb knows a signal frame
_PUSH_RBP = (bytes.fromhex("554889e5"), bytes.fromhex("554889ec"), bytes.fromhex("f30f1efa554889e5"))


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
            if _may_return_from_signal(library) and _read(pc, len(_RETURN_FROM_SIGNAL)) == _RETURN_FROM_SIGNAL:
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
            caller = frames.caller(own, registers, _read_exactly)
        except (ExpressionError, ValueError, KeyError, IndexError, gdb.error):
            return None
        start = entry.start if entry else own
        if caller is None:
            start, caller = _guess(library, own, registers)
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


def _guess(library: Library, pc: int, registers: dict[int, int]) -> tuple[int, Caller]:
    """Hand-written assembly without call frame information: as gdb does, by the function's first instructions."""
    symbol = next((found for table in library.elf.symbol_tables if (found := table.containing(pc))), None)
    start = symbol.address if symbol else pc
    offset = library.elf.offset_of(start)
    code = library.elf.data[offset : offset + 8] if symbol and offset is not None else b""
    kept = {number: registers[number] for number in CALLEE_SAVED if number in registers}
    if code.startswith(_PUSH_RBP) and pc > start + 4:
        cfa = registers[RBP] + 16
        kept[RBP] = _word(cfa - 16)
    else:
        cfa = registers[RSP] + 8
    kept[RSP] = cfa
    return start, Caller(cfa, _word(cfa - 8), kept)


def _read(address: int, size: int) -> bytes:
    try:
        return _read_exactly(address, size)
    except gdb.error:
        return b""


def _read_exactly(address: int, size: int) -> bytes:
    return bytes(gdb.selected_inferior().read_memory(address, size))


def _word(address: int) -> int:
    return int.from_bytes(_read(address, 8), "little")


def register() -> None:
    """Put the unwinder before gdb's own; a second call changes nothing."""
    register_unwinder(None, LibraryUnwinder(), replace=True)
