"""Calls into a stopped thread that end well even where gdb is killed meanwhile: see ``csrc/guard/guarded_call.cpp``.

Before such a call the thread's registers are left with the program's guard. A program without a guard is called as gdb
does it: it then depends on gdb's life.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, ClassVar

import gdb

from pyharness.ingdb import console
from pyharness.ingdb.calls import call_traps, guard
from pyharness.ingdb.functions import inlined_here
from pyharness.ingdb.settings import temporarily
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.ingdb.calls.guard import Guard, Noted


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
_MOST_FRAMES = 1000
"""Frames, at most, of a call that came to a breakpoint."""
_CAME_TO_BREAKPOINT = (
    "What it calls came to a breakpoint, and was ended there: its destructors did not run, its locks stay."
)


def call(function: int) -> int:
    """What ``int function(void)`` returns on the selected thread; ``gdb.error`` where it does not return.

    ``GivenUpError`` where it yet will: ``end`` then has what it returns.
    """
    found = guard.find()
    with temporarily("unwindonsignal", "on"), _may_be_given_up(), inlined_here.kept():
        if found is None:
            _Calls.unguarded[_lwp()] = guard.place()
            return int(console.c_value(f"((int (*)(void)) {function:#x})()"))
        with _noted(found) as noted:
            return guard.through_gate(found, noted, function)


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


def _end(given_up: tuple[Guard, Noted] | None, before: tuple[int, int] | None) -> int | None:
    if given_up is None:
        return 0 if before is not None and guard.stands(*before) else None
    found, noted = given_up
    guard.leave_gate(found, noted)
    if not guard.is_back(noted):
        return None
    returned = guard.returned(noted)
    if noted.is_expression:
        guard.through_gate(found, noted, found.expression_ends)
    guard.forget(noted)
    return None if noted.is_expression else returned


@contextmanager
def expression() -> Iterator[None]:
    """For an expression of gdb's that calls functions on the selected thread."""
    found = guard.find()
    if found is None:
        with inlined_here.kept(), _may_stop():
            yield
        return
    frame = gdb.selected_frame()
    with (
        inlined_here.kept(),
        temporarily("unwindonsignal", "on"),
        _trapped(),
        _may_be_given_up(),
        _noted(found, is_expression=True) as noted,
    ):
        guard.through_gate(found, noted, found.expression_begins, system_call=guard.NO_SYSTEM_CALL)
        try:
            frame.select()
            with _may_stop():
                yield
        finally:
            if guard.is_back(noted):
                guard.through_gate(found, noted, found.expression_ends)
                frame.select()


class _Calls:
    """What gdb, of which there is one in a process, knows of calls on the program's threads, by their LWP."""

    open: ClassVar[dict[int, tuple[Guard, Noted]]] = {}
    """Calls that the guard knows of."""
    given_up: ClassVar[dict[int, tuple[Guard, Noted] | None]] = {}
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


@contextmanager
def _noted(found: Guard, *, is_expression: bool = False) -> Iterator[Noted]:
    """Leave the selected thread's registers with the guard for the time of a block.

    They stay there for a thread that does not come back: it stopped within the call, and may yet return from it.
    """
    lwp = _lwp()
    noted = guard.note(found, lwp, is_expression=is_expression)
    UNDER_WAY.set()
    _Calls.open[lwp] = found, noted
    try:
        yield noted
    finally:
        UNDER_WAY.clear()
        if guard.is_back(noted):
            guard.forget(noted)


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
