"""Data breakpoints: gdb's hardware watchpoints by address, so that they outlive the frame in which they were set."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import call_operators
from pyharness.ingdb.passing import passes
from pyharness.ingdb.settings import temporarily
from pyharness.ingdb.stops import debug_registers
from pyharness.ingdb.stops.watched_frame import owner_of
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.ingdb.stops.watch_target import Target
    from pyharness.protocol.mi import Access

ACCESS: dict[Access, int] = {"write": gdb.WP_WRITE, "read": gdb.WP_READ, "readWrite": gdb.WP_ACCESS}
_HARDWARE = {gdb.BP_HARDWARE_WATCHPOINT, gdb.BP_READ_WATCHPOINT, gdb.BP_ACCESS_WATCHPOINT}
_AT_ONCE = 64
"""Bytes that one instruction may write."""
_NO_SOFTWARE = "Watching in software would run every thread one instruction at a time, so it is not done."


@frozen
class Hit:
    """What a watched place held before and after the access."""

    watchpoint: Watchpoint
    old: bytes
    new: bytes
    error: str = ""
    """Why the condition could not be tested, or that there is nothing to watch any more."""


class Watchpoint(gdb.Breakpoint):
    """One data breakpoint; the condition is a gdb expression that may use ``$old`` and ``$value``."""

    def __init__(self, target: Target, access: Access, condition: str) -> None:
        self.target = target
        self.access = access
        self._condition = condition
        self._owner = owner_of(target.address)
        self.last = _read(target)
        self._before: bytes | None = None
        """What it was when a change was seen at the stop of another one: its own may follow, of another thread."""
        # Not a type of the program's: the frame's language may be one that has none.
        place = f"*(unsigned char (*)[{target.length}]) {target.address:#x}"
        with temporarily("language", "c++"), temporarily("can-use-hw-watchpoints", "1"):
            super().__init__(place, gdb.BP_WATCHPOINT, ACCESS[access])

    def stop(self) -> bool:
        """Whether this access is one to stop at; gdb has tested that a write changed the value.

        gdb asks of one address alone, and one instruction may have written what others watch.
        """
        if _is_told(self):
            return True
        new = _read(self.target)
        old = self._before if new == self.last and self._before is not None else self.last
        self._before = None
        stops = [self._look(old, new)]
        for other in active():
            if other is not self and abs(other.target.address - self.target.address) < _AT_ONCE:
                with suppress(HarnessError):  # its memory is gone
                    stops.append(other.look_beside())
        return any(stops)

    def look_beside(self) -> bool:
        """Whether what is watched here was changed by the access to another one; another thread may have done it."""
        old, new = self.last, _read(self.target)
        if self.access == "read" or old == new:
            return False
        self._before = old
        return self._look(old, new)

    def _look(self, old: bytes, new: bytes) -> bool:
        """Whether there is an access to stop at, which is kept then."""
        self.last = new
        if passes():
            return False
        error = ""
        if self._owner and self.has_lost_frame():
            error = f"its frame, {self._owner.function}, has returned: the data breakpoint is over"
            gdb.post_event(self.end)  # not while gdb looks at it
        elif self._condition:
            try:
                if not _holds(self.target, self._condition, old, new):
                    return False
            except gdb.error as reason:
                error = f"the condition cannot be tested: {reason}"
        _remember(Hit(self, old, new, error))
        return True

    def has_lost_frame(self) -> bool:
        """Whether the frame that the place belongs to has returned, as far as the selected thread can tell."""
        return self._owner is not None and not self._owner.is_there()

    def end(self) -> None:
        """Give its debug registers back; what it was is told until it is removed."""
        if self.is_valid():
            self.enabled = False


def _holds(target: Target, condition: str, old: bytes, new: bytes) -> bool:
    for name, raw in (("old", old), ("value", new)):
        numbers = target.values(raw)
        if len(numbers) == 1 and not isinstance(numbers[0], complex):
            gdb.set_convenience_variable(name, numbers[0])
    return bool(call_operators.parsed(condition))


_watches: dict[int, Watchpoint] = {}
_hits: dict[int, tuple[tuple[int, int], list[Hit]]] = {}
"""Where each thread (by LWP) stopped, and what it had accessed there, which may be several."""
_gone_on: set[int] = set()
"""Threads that have run since: in a loop they come to the same place with the next access."""


def _remember(hit: Hit) -> None:
    place, lwp = _here()
    _hits[lwp] = place, [*_told_here(), hit]
    _gone_on.discard(lwp)


def _told_here() -> list[Hit]:
    """What is known of the stop that gdb tells now."""
    place, lwp = _here()
    before = _hits.get(lwp)
    return before[1] if before and before[0] == place and lwp not in _gone_on else []


def _is_told(watchpoint: Watchpoint) -> bool:
    return any(hit.watchpoint is watchpoint for hit in _told_here())


def _here() -> tuple[tuple[int, int], int]:
    """Pc, stack pointer and LWP of the thread that has stopped."""
    frame = gdb.newest_frame()
    return (frame.pc(), int(frame.read_register("rsp"))), gdb.selected_thread().ptid[1]


def _on_cont(event: gdb.ContinueEvent) -> None:
    """In non-stop mode one thread goes on, in all-stop mode all do."""
    one = event.inferior_thread
    _gone_on.update([one.ptid[1]] if one else _hits)


gdb.events.cont.connect(_on_cont)


def _read(target: Target) -> bytes:
    try:
        return bytes(gdb.selected_inferior().read_memory(target.address, target.length))
    except gdb.MemoryError as error:
        message = f"The program has no {target.length} bytes of memory at {target.address:#x}."
        raise HarnessError(message, "Give the address of something that it has.") from error


def watch(target: Target, access: Access, condition: str, lwp: int) -> Watchpoint:
    """Stop whenever ``target`` is accessed, by any thread that is there or comes; ``lwp`` is one that stands."""
    if access not in ACCESS:
        raise UsageError(f"{access!r} is not a kind of access.", f"One of {', '.join(ACCESS)}.")
    _check_registers(target)
    reason = debug_registers.refusal(lwp, target.address)
    if reason:
        raise HarnessError(f"This machine gives no hardware watchpoints to debuggers: {reason}.", _NO_SOFTWARE)
    _check_condition(target, condition)
    found = Watchpoint(target, access, condition)
    if found.type not in _HARDWARE:
        found.delete()
        raise HarnessError(f"gdb has no hardware watchpoint for {target.name}.", _NO_SOFTWARE)
    _watches[found.number] = found
    return found


def _check_condition(target: Target, condition: str) -> None:
    """A typo is found now; names need only exist where the place is accessed."""
    if not condition:
        return
    now = _read(target)
    try:
        _holds(target, condition, now, now)
    except gdb.error as error:
        if "syntax error" in str(error):
            remedy = "Give a gdb expression; $value and $old are the new and the old number."
            raise UsageError(f"The condition {condition!r} does not parse: {error}", remedy) from error


def _check_registers(target: Target) -> None:
    needed = len(debug_registers.pieces(target.address, min(target.length, 64)))
    used = sum(len(debug_registers.pieces(one.target.address, one.target.length)) for one in active())
    free = debug_registers.REGISTERS - used
    if needed <= free:
        return
    what = f"{target.name} is {target.length} bytes long"
    have = f"the processor has {debug_registers.REGISTERS} debug registers of up to 8 aligned bytes"
    if needed > debug_registers.REGISTERS:
        raise HarnessError(f"{what}; {have}.", "Watch one element, such as x[0, 0], or one member.")
    names = ", ".join(one.target.name for one in active())
    raise HarnessError(f"{what} and needs {needed}; {have}, {free} of them free.", f"Remove one of: {names}.")


def active() -> list[Watchpoint]:
    """The data breakpoints that are set."""
    return [one for one in _watches.values() if one.is_valid() and one.enabled]


def over() -> list[int]:
    """End those whose frame has returned, as far as the selected thread can tell; the numbers of all that are over."""
    for one in active():
        if one.has_lost_frame():
            one.end()
    running = active()
    return [number for number, one in _watches.items() if one not in running]


def unwatch(numbers: Iterable[int]) -> None:
    """Remove data breakpoints; one that is gone is fine."""
    for number in numbers:
        found = _watches.pop(number, None)
        if found and found.is_valid():
            found.delete()


def hits_of(lwp: int) -> list[Hit]:
    """What a thread has accessed where it stands."""
    if lwp not in _hits:
        raise HarnessError(f"Thread {lwp} has not come to a data breakpoint.")
    return _hits[lwp][1]
