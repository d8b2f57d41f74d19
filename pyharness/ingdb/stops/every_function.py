"""Stops at every function of the user's own, for *into*: planted traps, or gdb's breakpoints."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import console
from pyharness.ingdb.functions import collector
from pyharness.ingdb.functions.kernel_stops import has_kernels, lines_around, stops_in
from pyharness.ingdb.functions.many_functions import Entries, has_many
from pyharness.ingdb.process import libraries
from pyharness.ingdb.process.signal_info import signal_info
from pyharness.ingdb.stack import backtrace
from pyharness.ingdb.stops.interruption import interrupted_by_handler
from pyharness.ingdb.stops.planted import Planted
from pyharness.model.user_code import is_user_python, is_user_source
from pyharness.protocol.mi import Armed, TrapHit, TrapPass

if TYPE_CHECKING:
    from pyharness.model.frames import Frame
    from pyharness.reading.binaries.elf import Elf
    from pyharness.reading.process.mapped_files import Library

_SIGTRAP, _SI_KERNEL = 5, 0x80
_DEEPEST_STEP = 100
"""Frames, at most, between a handler and the function that is stepped."""
_MAX_ARMED = 20_000
"""More functions than this make a step slower than a person waits; the rest is left out and counted."""


class _Arming:
    """What stops *into*: planted traps, or breakpoints, kept between steps because making them is the slow part."""

    def __init__(self) -> None:
        self.planted: Planted | None = None
        self.breakpoints: dict[int, gdb.Breakpoint] = {}
        self.enabled: list[gdb.Breakpoint] = []
        self.skipped = 0
        self.entries = Entries()
        self.standing = 0
        """Where the thread stood that steps; 0 where it was in Python."""
        self.lines: set[int] = set()
        """Stops of the kernels and wrappers that it stood in: one for each line. They do not call themselves."""
        self.stack_pointer = 0
        """Where its stack ended; 0 where it was in Python."""


_arming = _Arming()


def arm(thread: gdb.InferiorThread) -> Armed:
    """Break at all of the user's functions on ``thread``; a later stop elsewhere needs ``disarm``."""
    own = libraries.user_libraries()
    stops = {stop for each in own for stop in _stops_in(each)}
    stops -= _lines_around(own) if thread.is_stopped() else set()
    _arming.skipped = max(0, len(stops) - _MAX_ARMED)
    for stop in sorted(stops)[:_MAX_ARMED]:
        _break_at(stop, thread)
    return Armed(len(_arming.enabled), _arming.skipped, changes())


def _stops_in(library: Library) -> set[int]:
    return stops_in(library.elf, library.bias) - collector.stops_in(library.elf, library.bias)


def _break_at(address: int, thread: gdb.InferiorThread) -> None:
    stop = _arming.breakpoints.get(address)
    if stop is None or not stop.is_valid():
        stop = gdb.Breakpoint(f"*{address:#x}", internal=True)
        _arming.breakpoints[address] = stop
    stop.thread = thread.global_num
    stop.enabled = True
    _arming.enabled.append(stop)


def plant_for(thread: gdb.InferiorThread) -> Armed:
    """``plant`` for a step of the selected thread, which stands, or which debugpy holds."""
    stands = thread.is_stopped()
    _arming.stack_pointer = int(gdb.newest_frame().read_register("sp")) if stands else 0
    _arming.standing = gdb.newest_frame().pc() if stands else 0
    own = libraries.user_libraries()
    _arming.lines = _lines_around(own) if stands else set()
    traps = _traps(own)
    armed = _plant(traps)
    if _arming.standing in traps and _arming.standing not in _arming.lines:
        _break_at(_arming.standing, thread)  # the next call of this function: gdb has the thread pass its own at first
    return armed


def plant() -> Armed:
    """Plant traps for all threads and without gdb's help, in a program that has a trap guard."""
    return _plant(_traps(libraries.user_libraries()))


def _plant(traps: set[int]) -> Armed:
    """Plant all but those where the stepping thread stands, and at other lines of what it stands in.

    A trap there would stop it before it has moved, or gdb, which steps through its line, would take it for an
    instruction of one byte, and have the program run the rest of another one.
    """
    planted, near = _planted(), _arming.lines | {_arming.standing}
    planted.lift_some(near)
    return Armed(planted.plant(traps - near), lost=changes())


def _lines_around(own: list[Library]) -> set[int]:
    """The lines of kernels and wrappers that the selected thread stands in, up to the first frame of somebody else."""
    found: set[int] = set()
    if not any(has_kernels(each.elf) for each in own):
        return found
    starts = {each.start for each in own}
    frame: gdb.Frame | None = gdb.newest_frame()
    for _ in range(_DEEPEST_STEP):
        library = libraries.library_at(frame.pc()) if frame else None
        if frame is None or library is None or library.start not in starts:
            break
        found |= lines_around(library.elf, library.bias, frame.pc())
        frame = frame.older()
    return found


def _traps(own: list[Library]) -> set[int]:
    """Where to stop; in a library of very many functions, where those begin to which no thread has come yet."""
    found: set[int] = set()
    for library in own:
        if _begins_only(library.elf):
            found |= _arming.entries.traps(library.elf, library.bias)
        else:
            found |= _stops_in(library)
    return found


def _begins_only(elf: Elf) -> bool:
    """A step from a native line is one of gdb's, which must not be interrupted by what is not the user's."""
    return has_many(elf) and not _arming.standing and not _arming.entries.is_tired


def plant_at(address: int) -> None:
    """Plant a trap at one place: where a call returns to."""
    _planted().plant([address])


def _planted() -> Planted:
    """What is planted in the selected program."""
    pid = gdb.selected_inferior().pid
    if _arming.planted is None:
        gdb.events.stop.connect(_put_right)
    if _arming.planted is None or _arming.planted.pid != pid:
        _arming.planted, _arming.entries = Planted(pid), Entries()
    return _arming.planted


class _Return(gdb.Breakpoint):
    """Where one call returns to: in that frame, not in another run of the same code."""

    def __init__(self, frame: gdb.Frame, thread: gdb.InferiorThread) -> None:
        super().__init__(f"*{frame.pc():#x}", internal=True)
        self.thread = thread.global_num
        self._sp = int(frame.read_register("sp"))

    def stop(self) -> bool:
        return int(gdb.newest_frame().read_register("sp")) == self._sp


def arm_return(thread: gdb.InferiorThread, stdlib: str) -> bool:
    """Break where native code of the user's goes on, if that called the innermost Python function of theirs."""
    own = (frame for frame in backtrace.merged_stack(thread) if _is_own(frame, stdlib))
    callers = itertools.islice(itertools.dropwhile(lambda frame: frame.language == "native", own), 1, 2)
    caller = next(callers, None)
    frame: gdb.Frame | None = gdb.newest_frame()
    while caller and caller.language == "native" and frame:
        if frame.pc() == caller.address:
            _arming.enabled.append(_Return(frame, thread))
            return True
        frame = frame.older()
    return False


def _is_own(frame: Frame, stdlib: str) -> bool:
    if frame.language == "native":
        return is_user_source(frame.file) and not frame.plumbing
    return not frame.plumbing and is_user_python(frame.file, stdlib)


def _put_right(event: gdb.ThreadEvent) -> None:
    """Put the pc of a thread that hit a trap right at once: whoever lets it go next must find it so, the kernel too.

    gdb has no event of its own for SIGTRAP: a step that ends behind a trap is told apart by the signal's code.
    """
    if isinstance(event, gdb.BreakpointEvent) or not _arming.planted:
        return
    selected = gdb.selected_thread()
    if event.inferior_thread:
        event.inferior_thread.switch()
    address = _arming.planted.address_of(gdb.newest_frame().pc())
    if address is not None and _is_int3():
        console.run(f"set $pc = {address:#x}")
    if selected and selected.is_valid():
        selected.switch()


def is_sent_trap() -> bool:
    """Whether the selected thread was stopped by a SIGTRAP of ``kill``, ``raise`` or the like."""
    signal, code = _signal()
    return signal == _SIGTRAP and code <= 0


def _is_int3() -> bool:
    """Whether the selected thread was stopped by an ``int3``."""
    return _signal() == (_SIGTRAP, _SI_KERNEL)


def _signal() -> tuple[int, int]:
    """What stopped the selected thread, and why that came: ``si_signo`` and ``si_code``."""
    try:
        info = signal_info()
        number, code = (int(info[name]) for name in ("si_signo", "si_code"))
    except gdb.error:  # a core file, or a thread that is gone
        return 0, 0
    return number, code


def at_trap(how: TrapPass) -> TrapHit:
    """What the selected thread stands at; at a planted trap its pc is put on the instruction that is there."""
    planted = _arming.planted
    address = planted.address_of(gdb.newest_frame().pc()) if planted else None
    if planted is None or address is None:
        return "none"
    console.run(f"set $pc = {address:#x}")
    if how == "lift":
        planted.lift_one(address)
    if how != "own":
        return "trap"
    if _enters(planted, address):
        return "beginning"
    return "handler" if _interrupts(planted, address) else "trap"


def _interrupts(planted: Planted, address: int) -> bool:
    """Whether a signal's handler begins here that is no part of what is stepped; its trap is then away.

    A step of gdb's own is over by that. It goes on where the function goes on that it began in: the handler may have
    interrupted something that the line calls.
    """
    if (interrupted := interrupted_by_handler(_arming.stack_pointer)) is None:
        return False
    planted.lift_one(address)
    thread = gdb.selected_thread()
    if _arming.stack_pointer and not any(isinstance(stop, _Return) and stop.is_valid() for stop in _arming.enabled):
        _arming.enabled.append(_Return(_stepped(interrupted), thread))
    return True


def _stepped(frame: gdb.Frame) -> gdb.Frame:
    """The frame of the function that is stepped, among the callers of ``frame``; else that one."""
    caller: gdb.Frame | None = frame
    for _ in range(_DEEPEST_STEP):
        if caller is None or int(caller.read_register("sp")) >= _arming.stack_pointer:
            break
        caller = caller.older()
    return caller or frame


def _enters(planted: Planted, address: int) -> bool:
    """Whether a function begins here that is not to be stopped at here: the trap goes to where it is, if anywhere."""
    library = libraries.library_at(address)
    if library is None or not has_many(library.elf) or not _begins_only(library.elf):
        return False
    if not _arming.entries.is_entry(library.elf, library.bias, address):
        return False
    stop = _arming.entries.enter(library.elf, library.bias, address)
    if stop == address:
        return False
    planted.lift_one(address)
    if _arming.entries.is_tired:
        planted.plant(_traps(libraries.user_libraries()))
    elif stop is not None:
        planted.plant([stop])
    return True


def disarm() -> None:
    """Take what stops *into* out of the program again."""
    if _arming.planted:
        _arming.planted.lift()
    for stop in filter(gdb.Breakpoint.is_valid, _arming.enabled):
        if isinstance(stop, _Return):
            stop.delete()
        else:
            stop.enabled = False
    _arming.enabled.clear()


def is_under_way() -> bool:
    """Whether an *into* has armed anything that is still there."""
    return bool(_arming.enabled) or bool(_arming.planted and _arming.planted.active)


def is_armed(number: int) -> bool:
    """Whether ``number`` is a breakpoint of *into*."""
    return any(stop.is_valid() and stop.number == number for stop in _arming.enabled)


def changes() -> str:
    """What became of the user's libraries that were replaced or removed since they were loaded; empty for none."""
    return "; ".join(f"{path} {became}" for path, became in libraries.lost().items())
