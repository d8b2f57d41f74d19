"""Unwinds a thread's native stack: from registers, the bytes of the stack, and the call frame information of files.

No debugger is needed for it. What gdb does where there is no such information, for hand-written assembly, is done here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyharness.reading.binaries.dwarf_cfi import CALLEE_SAVED, RBP, RIP, RSP, Caller, call_frames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyharness.reading.binaries.elf import Elf
    from pyharness.reading.process.mapped_files import Library

    ReadMemory = Callable[[int, int], bytes]

_RETURN_FROM_SIGNAL = bytes.fromhex("48c7c00f0000000f05")  # mov $15,%rax; syscall: how gdb knows a signal frame
_PUSH_RBP = (bytes.fromhex("554889e5"), bytes.fromhex("554889ec"), bytes.fromhex("f30f1efa554889e5"))


class NativeCall(NamedTuple):
    """One frame of the C stack."""

    pc: int
    sp: int
    cfa: int | None
    """Stack pointer of the caller; ``None`` where the stack ends."""
    library: Library | None
    own: int
    """The address in its file that lies in the function: of a frame that has called, the last byte of the call."""
    registers: Mapping[int, int]
    """What is known of them, by their numbers in DWARF."""
    of_signal: bool = False
    """Whether the kernel made it: the caller was interrupted by a signal, and called nothing."""


def unwind(
    registers: Mapping[int, int],
    library_at: Callable[[int], Library | None],
    read: ReadMemory,
    is_code: Callable[[int], bool] = lambda _address: True,
) -> Iterator[NativeCall]:
    """The frames of a thread with these registers, innermost first, as far as they can be known.

    ``is_code``: whether an address lies in memory that may be run; a caller that is guessed must.
    """
    known: Mapping[int, int] = registers
    pc, exact = registers[RIP], True
    while pc or exact:  # what was called and interrupted may be a null pointer
        library = library_at(pc)
        own = pc - (library.bias if library else 0) - (not exact)
        caller, signal_frame = _caller(library, own, known, read, is_code, exact=exact)
        own += signal_frame and not exact  # the kernel made it: nothing was called there
        sp = known[RSP]
        grows = caller is not None and caller.cfa > sp
        yield NativeCall(pc, sp, caller.cfa if caller and grows else None, library, own, known, signal_frame)
        if caller is None or caller.pc is None or not (grows or signal_frame):
            return
        pc, known, exact = caller.pc, caller.registers, signal_frame


def _caller(
    library: Library | None,
    own: int,
    registers: Mapping[int, int],
    read: ReadMemory,
    is_code: Callable[[int], bool],
    *,
    exact: bool,
) -> tuple[Caller | None, bool]:
    """The caller, and whether a signal interrupted it: then its program counter is ``exact``, as the innermost one."""
    try:
        if library is None:  # a call of what is no code comes from where the return address says
            return (_returned(registers, read), False) if exact else (None, False)
        frames = call_frames(library.elf)
        entry, caller = frames.entry(own), frames.caller(own, registers, read)
    except (OSError, ValueError, KeyError, IndexError):
        return None, False
    if entry is None or caller is None:
        return _guessed(library.elf, own, registers, read, is_code), False
    return caller, entry.common.is_signal_frame


def _guessed(
    elf: Elf, pc: int, registers: Mapping[int, int], read: ReadMemory, is_code: Callable[[int], bool]
) -> Caller | None:
    try:
        caller = guess(elf, pc, registers, read)[1]
    except KeyError:  # a register that is lost
        return None
    return caller if caller.pc and is_code(caller.pc) else None


def guess(elf: Elf, pc: int, registers: Mapping[int, int], read: ReadMemory) -> tuple[int, Caller]:
    """Start of a function and its caller, without call frame information: by its first instructions, as gdb does."""
    symbol = next((found for table in elf.symbol_tables if (found := table.containing(pc))), None)
    start = symbol.address if symbol else pc
    offset = elf.offset_of(start)
    code = elf.data[offset : offset + 8] if symbol and offset is not None else b""
    if not (code.startswith(_PUSH_RBP) and pc > start + 4):
        return start, _returned(registers, read)
    cfa = registers[RBP] + 16
    return start, Caller(cfa, _word(cfa - 8, read), {**_kept(registers), RBP: _word(cfa - 16, read), RSP: cfa})


def _returned(registers: Mapping[int, int], read: ReadMemory) -> Caller:
    """The caller of a function that has not touched the stack."""
    cfa = registers[RSP] + 8
    return Caller(cfa, _word(cfa - 8, read), {**_kept(registers), RSP: cfa})


def _kept(registers: Mapping[int, int]) -> dict[int, int]:
    return {number: registers[number] for number in CALLEE_SAVED if number in registers}


def returns_from_signal(pc: int, read: ReadMemory) -> bool:
    """Whether the code at ``pc`` is what a signal handler returns to."""
    try:
        return read(pc, len(_RETURN_FROM_SIGNAL)) == _RETURN_FROM_SIGNAL
    except OSError:
        return False


def _word(address: int, read: ReadMemory) -> int:
    try:
        return int.from_bytes(read(address, 8), "little")
    except OSError:
        return 0
