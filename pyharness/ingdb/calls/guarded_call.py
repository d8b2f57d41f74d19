"""Calls into a stopped thread that end well even where gdb is killed meanwhile: see ``csrc/guard/guarded_call.cpp``.

Before such a call the thread's registers are left with the program's guard. A program without a guard is called as gdb
does it: it then depends on gdb's life.
"""

from __future__ import annotations

import struct
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, ClassVar

import gdb

from pyharness.ingdb import console
from pyharness.ingdb.calls import call_traps
from pyharness.ingdb.functions import inlined_here
from pyharness.ingdb.process import libraries
from pyharness.ingdb.settings import temporarily
from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator


class GivenUpError(HarnessError):
    """gdb has given up a call because another thread stopped: the function runs on, and comes to its ``end``."""

    def __init__(self) -> None:
        super().__init__(
            "Another thread stopped during the call, and gdb gives up a call then: the function runs to its end, but"
            " what it returns is lost.",
            "Look at the stop of the other thread, or evaluate it again.",
        )


UNDER_WAY = threading.Event()
"""Set while a thread of the program is called."""
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
_NO_SYSTEM_CALL = -1
"""For the kernel, which would begin a system call again with what gdb has written into the registers by then."""
_MOST_FRAMES = 1000
"""Frames, at most, of a call that came to a breakpoint."""
_MASK = (1 << 64) - 1
_CAME_TO_BREAKPOINT = (
    "What it calls came to a breakpoint, and was ended there: its destructors did not run, its locks stay."
)


def call(function: int) -> int:
    """What ``int function(void)`` returns on the selected thread; ``gdb.error`` where it does not return.

    ``GivenUpError`` where it yet will: ``end`` then has what it returns.
    """
    guard = _find()
    with temporarily("unwindonsignal", "on"), _may_be_given_up(), inlined_here.kept():
        if guard is None:
            _Calls.unguarded[_lwp()] = _place()
            return int(console.c_value(f"((int (*)(void)) {function:#x})()"))
        with _noted(guard) as noted:
            return _through_gate(guard, noted, function)


def is_given_up() -> bool:
    """Whether a call on the selected thread was given up and not ended since."""
    return _lwp() in _Calls.given_up


def is_under_way() -> bool:
    """Whether a call on the selected thread was given up and gdb has not told of its stop yet.

    gdb may hold the thread meanwhile, for another one's step over a breakpoint or until it tells: nobody may move it.
    """
    return is_given_up() and _lwp() not in _Calls.told


def _runs() -> bool:
    """Whether the selected thread runs: to gdb's users, one within a call stands."""
    thread = gdb.selected_thread()
    if thread is None or not thread.is_valid():
        return False
    try:
        gdb.newest_frame()
    except gdb.error:
        return thread.is_valid()
    return False


def end() -> int | None:
    """What the call returned that was given up on the selected thread, which has stopped; it then stands as before it.

    ``None`` where nobody can know: the call was gdb's own, or has stopped on its way. Of one without a guard only its
    end is known, which is 0.
    """
    given_up = _Calls.given_up.pop(_lwp())
    before = _Calls.unguarded.pop(_lwp(), None)
    trap = _Calls.traps.pop(_lwp(), None)
    _step_others()
    try:
        return _end(given_up, before)
    finally:
        call_traps.delete(trap)


def _end(given_up: tuple[_Guard, _Noted] | None, before: tuple[int, int] | None) -> int | None:
    if given_up is None:
        return 0 if before is not None and _stands(*before) else None
    guard, noted = given_up
    if _stands(_gate(guard, noted) + _WAITING, None):
        with _shallow():
            _bring_back(noted)
    if not _stands(noted.registers["rip"], noted.registers["rsp"]):
        return None
    returned = _returned(noted)
    if noted.is_expression:
        _through_gate(guard, noted, guard.expression_ends)
    _forget(noted)
    return None if noted.is_expression else returned


@contextmanager
def expression() -> Iterator[None]:
    """For an expression of gdb's that calls functions on the selected thread."""
    guard = _find()
    if guard is None:
        with inlined_here.kept(), _may_stop():
            yield
        return
    frame = gdb.selected_frame()
    with (
        inlined_here.kept(),
        temporarily("unwindonsignal", "on"),
        _trapped(),
        _may_be_given_up(),
        _noted(guard, is_expression=True) as noted,
    ):
        _through_gate(guard, noted, guard.expression_begins, system_call=_NO_SYSTEM_CALL)
        try:
            frame.select()
            with _may_stop():
                yield
        finally:
            if _stands(noted.registers["rip"], noted.registers["rsp"]):
                _through_gate(guard, noted, guard.expression_ends)
                frame.select()


@frozen
class _Guard:
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
class _Noted:
    """A call that the guard knows of, and what a thread's registers were before it."""

    number: int
    address: int
    registers: dict[str, int]
    system_call: int
    is_expression: bool


class _Calls:
    """What gdb, of which there is one in a process, knows of calls on the program's threads, by their LWP."""

    open: ClassVar[dict[int, tuple[_Guard, _Noted]]] = {}
    """Calls that the guard knows of."""
    given_up: ClassVar[dict[int, tuple[_Guard, _Noted] | None]] = {}
    """Calls that run on without gdb; ``None`` for one without a guard."""
    unguarded: ClassVar[dict[int, tuple[int, int]]] = {}
    """Where threads stood, by pc and stack pointer, that were called without a guard."""
    traps: ClassVar[dict[int, call_traps.StandingTrap]] = {}
    """Where threads stood whose expression was given up."""
    told: ClassVar[set[int]] = set()
    """Threads of whose stop gdb has told since a call on them was given up."""
    signalled: ClassVar[set[int]] = set()
    """Threads that last stopped for a signal within a call."""


def _on_stop(event: gdb.StopEvent) -> None:
    """In non-stop mode, the only one in which calls are given up, gdb says whose stop it is."""
    if event.inferior_thread is not None:
        _Calls.told.add(event.inferior_thread.ptid[1])
    if isinstance(event, gdb.SignalEvent) and _function_called() is not None:
        _Calls.signalled.add(_lwp())


def _on_cont(event: gdb.ContinueEvent) -> None:
    """In non-stop mode one thread goes on, in all-stop mode all do."""
    one = event.inferior_thread
    _Calls.signalled.difference_update({one.ptid[1]} if one else set(_Calls.signalled))


gdb.events.stop.connect(_on_stop)
gdb.events.cont.connect(_on_cont)


def was_signalled() -> bool:
    """Whether the signal that the selected thread last stopped for came within a call: it stands as before, or will."""
    return _lwp() in _Calls.signalled


def _find() -> _Guard | None:
    """The program's guard; ``None`` where it has none."""
    library = libraries.find_library(_LIBRARY)
    if library is None:
        return None
    for table in library.elf.symbol_tables:
        if symbol := table.named(_SYMBOL):
            raw = bytes(gdb.selected_inferior().read_memory(symbol.address + library.bias, _HEAD.size))
            guard = _Guard(*_HEAD.unpack(raw))
            return guard if guard.is_allowed else None
    return None


@contextmanager
def _noted(guard: _Guard, *, is_expression: bool = False) -> Iterator[_Noted]:
    """Leave the selected thread's registers with the guard for the time of a block.

    They stay there for a thread that does not come back: it stopped within the call, and may yet return from it.
    """
    lwp = _lwp()
    number = _free(guard)
    address = guard.calls + number * guard.call_size
    frame = gdb.newest_frame()
    registers = {name: int(frame.read_register(name)) & _MASK for name in _REGISTERS}
    system_call = _signed(int(frame.read_register("orig_rax")) & _MASK)
    memory = gdb.selected_inferior()
    raw = _CALL.pack(0, 0, 0, is_expression, system_call, *registers.values(), 0, 0)
    memory.write_memory(address, raw)
    memory.write_memory(address + _THREAD, struct.pack("<Q", lwp))
    UNDER_WAY.set()
    noted = _Noted(number, address, registers, system_call, is_expression)
    _Calls.open[lwp] = guard, noted
    try:
        yield noted
    finally:
        UNDER_WAY.clear()
        if _stands(registers["rip"], registers["rsp"]):
            _forget(noted)


def _forget(noted: _Noted) -> None:
    gdb.selected_inferior().write_memory(noted.address + _THREAD, struct.pack("<Q", 0))


@contextmanager
def _trapped() -> Iterator[None]:
    """Have the selected thread come to the guard, wherever gdb is killed while it writes registers for a call."""
    lwp = _lwp()
    with call_traps.standing(gdb.newest_frame().pc()) as trap:
        try:
            yield
        finally:
            if trap is not None and lwp in _Calls.given_up:
                _Calls.traps[lwp] = trap
            else:
                call_traps.delete(trap)


@contextmanager
def _may_be_given_up() -> Iterator[None]:
    """In non-stop mode gdb ends a call at the next stop, whichever thread that is of; the called thread runs on."""
    lwp = _lwp()
    _Calls.open.pop(lwp, None)
    _Calls.unguarded.pop(lwp, None)
    try:
        yield
    except gdb.error as error:
        if not _runs():
            raise
        _Calls.told.discard(lwp)
        _Calls.given_up[lwp] = _Calls.open.get(lwp)
        _step_others()
        raise GivenUpError from error


def _step_others() -> None:
    """Have gdb step others over breakpoints without a stop of all: it would not let a thread in such a call go on."""
    gdb.execute(f"set displaced-stepping {'on' if _Calls.given_up else 'off'}")


@contextmanager
def _may_stop() -> Iterator[None]:
    """Have a thread that came to a breakpoint in a call stand where it stood before; its stop is told all the same."""
    try:
        yield
    except gdb.error as error:
        if not _leave_call():
            raise
        raise gdb.GdbError(_CAME_TO_BREAKPOINT) from error


def _leave_call() -> bool:
    """Take the selected thread out of a call in which it stands; whether it did."""
    called = _function_called()
    if called is None:
        return False
    called.select()
    console.run("return")
    return True


def _function_called() -> gdb.Frame | None:
    """The frame of the function that gdb called on the selected thread, which stands in it."""
    called: gdb.Frame | None = None
    with suppress(gdb.error):  # it runs
        frame: gdb.Frame | None = gdb.newest_frame()
        for _ in range(_MOST_FRAMES):
            if frame is None:
                break
            if frame.type() == gdb.DUMMY_FRAME and called is not None:
                return called
            called, frame = frame, frame.older()
    return None


def _lwp() -> int:
    """The kernel's id of the selected thread."""
    thread = gdb.selected_thread()
    return thread.ptid[1] if thread is not None else 0


@contextmanager
def _shallow() -> Iterator[None]:
    """gdb looks for the selected frame whenever a register was set: in the whole stack, where it has moved away."""
    before = gdb.parameter("backtrace limit")
    console.run("set backtrace limit 1")
    try:
        yield
    finally:
        console.run(f"set backtrace limit {before or 'unlimited'}")


def _free(guard: _Guard) -> int:
    """The number of a call that is not under way; where all are, the threads of the older ones are gone."""
    memory = gdb.selected_inferior()
    for number in range(guard.call_count):
        raw = bytes(memory.read_memory(guard.calls + number * guard.call_size + _THREAD, 8))
        if not any(raw):
            return number
    return 0


def _through_gate(guard: _Guard, noted: _Noted, function: int, *, system_call: int | None = None) -> int:
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
            return _returned(noted)
        finally:
            if _stands(gate + _WAITING, None):
                _bring_back(noted, system_call)


def _gate(guard: _Guard, noted: _Noted) -> int:
    return guard.gates + noted.number * guard.gate_stride


def _returned(noted: _Noted) -> int:
    return int(_CALL.unpack(_read(noted.address, _CALL.size))[1])


def _bring_back(noted: _Noted, system_call: int | None = None) -> None:
    """From its gate to where the thread stood; what takes it out of the gate comes last."""
    _set("rsp", noted.registers["rsp"])
    _set("orig_rax", noted.system_call if system_call is None else system_call)
    _set("rip", noted.registers["rip"])


def _place() -> tuple[int, int]:
    """The pc and the stack pointer of the selected thread."""
    frame = gdb.newest_frame()
    return frame.pc(), int(frame.read_register("rsp")) & _MASK


def _stands(pc: int, stack_pointer: int | None) -> bool:
    """Whether the selected thread stands there: gdb has brought it back from a call."""
    try:
        here = _place()
        return here[0] == pc and stack_pointer in {None, here[1]}
    except gdb.error:  # it runs, or is gone
        return False


def _read(address: int, size: int) -> bytes:
    return bytes(gdb.selected_inferior().read_memory(address, size))


def _set(register: str, value: int) -> None:
    gdb.newest_frame().select()
    console.c_value(f"${register} = {value}")


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
