"""Data breakpoints of the native half: set on a name or an address, and what a stop at one means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.debugger.native.stop_reasons import number_of
from pyharness.protocol import mi

if TYPE_CHECKING:
    from pyharness.debugger.native.side import NativeSide
    from pyharness.gdbmi.records import Notice


class NativeWatch:
    """Sets, removes and explains data breakpoints."""

    def __init__(self, native: NativeSide) -> None:
        self._native = native
        self.targets: dict[int, mi.WatchTarget] = {}
        """The targets of watchpoints that are set, by gdb's number."""

    def target(self, thread: int, expression: str, level: int = 0, python_object: int = 0) -> mi.WatchTarget:
        """What could be watched under a name in a frame of the merged stack; ``GdbError`` says why nothing could.

        ``python_object`` is the address of a Python tensor; then only the indices of the expression count.
        """
        return self._native.ask_about(thread, mi.DescribeWatch(thread, expression, level, python_object))

    def watch(
        self,
        thread: int,
        target: str | mi.WatchTarget,
        *,
        level: int = 0,
        access: mi.Access = "write",
        condition: str = "",
    ) -> mi.WatchTarget:
        """Stop at every access by any thread, until it is removed; ``thread`` is any that can be asked.

        The condition is a gdb expression in which ``$value`` and ``$old`` are the new and the old number.
        """
        command = (
            mi.Watch(thread, level, access, condition, expression=target)
            if isinstance(target, str)
            else mi.Watch(thread, level, access, condition, address=target.address, length=target.length)
        )
        found = self._native.ask_about(thread, command)
        self.targets[found.number] = found
        self._native.stops.of_number[found.number] = "data breakpoint"
        return found

    def unwatch(self, number: int) -> None:
        """Remove one."""
        self.targets.pop(number, None)
        self._native.ask(mi.Unwatch((number,)))

    def over(self, thread: int) -> tuple[int, ...]:
        """The numbers of those on a local whose frame has returned; ``thread`` is any that can be asked."""
        return self._native.ask_about(thread, mi.WatchesOver(thread)) if self.targets else ()

    def hits(self, thread: int) -> tuple[mi.WatchHit, ...]:
        """What a stop with the reason ``data breakpoint`` means; one instruction may access several places."""
        return self._native.ask(mi.WatchHits(thread))

    def hit(self, notice: Notice, thread: int) -> mi.WatchHit:
        """The hit of a thread that gdb's record names."""
        hits = self.hits(thread)
        return next((hit for hit in hits if hit.number == number_of(notice)), hits[0])
