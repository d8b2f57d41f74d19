"""Stops a step where the user's code catches a C++ exception that passes the step by.

gdb itself follows exceptions by a place in libgcc that Debian's build does not have. Each handler begins with a call of
``__cxa_begin_catch``, by the function that catches: the one that steps, or a caller of it.
"""

from __future__ import annotations

from functools import cache

import gdb

from pyharness.ingdb.functions.known_functions import is_own
from pyharness.ingdb.stops import every_function, inlined_way
from pyharness.ingdb.stops.exception_stops import addresses_of, is_near
from pyharness.reading.process.memory import UnreadableError


class _Handler(gdb.Breakpoint):
    """At the beginning of each handler of one thread, in one copy of the C++ runtime."""

    def __init__(self, address: int) -> None:
        super().__init__(f"*{address:#x}", internal=True)
        self.outside_of = 0
        """Where the stack of the stepping function's caller ends while it runs. Callees have less."""

    def stop(self) -> bool:
        """Whether the user's function that catches is the one that steps, or called it."""
        frame = gdb.newest_frame()
        try:
            if not is_near(frame, "catch"):
                return False
            catching = frame.older()
            return catching is not None and is_own(catching) and _end_of(catching) >= self.outside_of
        except (gdb.error, UnreadableError):
            return False


class _Handlers:
    """The breakpoints, kept between steps, by address."""

    def __init__(self) -> None:
        self.known: dict[int, _Handler] = {}
        self.stepping = 0
        """The LWP whose next step is armed where this one ends; 0 for none.

        That is so where an *into* may end at a trap, and on the way out of an inlined function, which may go on.
        """


_handlers = _Handlers()


def arm(thread: gdb.InferiorThread, level: int, *, leaves: bool) -> list[int]:
    """Stop ``thread`` where a handler begins in the function at ``level`` or a caller of it; gdb's numbers of that.

    ``leaves``: only in a caller.
    """
    frame = gdb.newest_frame()
    for _ in range(level):
        frame = frame.older() or frame
    _follow_steps()
    goes_on_elsewhere = leaves and inlined_way.is_leaving()
    _handlers.stepping = 0 if goes_on_elsewhere or every_function.is_under_way() else thread.ptid[1]
    beyond = leaves and frame.type() != gdb.INLINE_FRAME  # what it is inlined into has the same stack
    armed = []
    for address in addresses_of("catch"):
        stop = _handlers.known.get(address)
        if stop is None or not stop.is_valid():
            stop = _handlers.known[address] = _Handler(address)
        stop.outside_of = _end_of(frame) + beyond
        if stop.thread != thread.global_num:  # gdb looks at all of its breakpoints when one is changed
            stop.thread = thread.global_num
        if not stop.enabled:
            stop.enabled = True
        armed.append(stop.number)
    return armed


def disarm() -> None:
    """Let exceptions pass at full speed again."""
    _handlers.stepping = 0
    for stop in _handlers.known.values():
        if stop.is_valid():
            stop.enabled = False


def goes_on(event: gdb.StopEvent) -> bool:
    """Whether a step has ended after which ``arm`` holds for the next one from there, as a front end steps on.

    gdb tells a SIGTRAP alike.
    """
    thread = event.inferior_thread
    return type(event) is gdb.StopEvent and thread is not None and thread.ptid[1] == _handlers.stepping


@cache
def _follow_steps() -> None:
    gdb.events.stop.connect(_on_stop)


def _on_stop(event: gdb.StopEvent) -> None:
    """Arm the next step where one has ended: asking for that would take a fifth of a step."""
    if not goes_on(event):
        if event.inferior_thread is None or event.inferior_thread.ptid[1] == _handlers.stepping:
            _handlers.stepping = 0
        return
    try:
        end = _end_of(gdb.newest_frame())
    except (gdb.error, UnreadableError):  # a stack that cannot be unwound has no handler that is to be seen
        disarm()
        return
    for stop in _handlers.known.values():
        stop.outside_of = end


def _end_of(frame: gdb.Frame | None) -> int:
    """Where the stack of a frame's caller ends: the canonical frame address."""
    caller = frame.older() if frame else None
    while caller and frame and frame.type() == gdb.INLINE_FRAME:  # inlined code has the stack of what it is a part of
        frame, caller = caller, caller.older()
    return int(caller.read_register("sp")) & (1 << 64) - 1 if caller else 0
