"""Who called the native code that threads stand in, and what that code has returned to them when a step leaves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from pyharness.gdbmi.records import Notice
    from pyharness.protocol import mi

_NAME = "gdb-result-var"
"""Under which a stop behind the end of a function says what gdb calls its value."""


@frozen
class NativeReturn:
    """A value that a thread has just come out of a function with."""

    function: str
    expression: str
    """What gives the value in gdb, as ``$1``."""


class NativeCallers:
    """Callers of the threads of one program."""

    def __init__(self) -> None:
        self._known: dict[int, mi.Caller | None] = {}
        self._left: dict[int, str] = {}
        """Threads on their way out of a function of the user's, and of no other → its name."""
        self._returned: dict[int, NativeReturn] = {}
        self.may_be_within: set[int] = set()
        """Threads on their way out of inlined code, which may have come to another line of it: gdb is to be asked."""

    def of(self, thread: int) -> mi.Caller | None:
        """Who called what a thread stands in, where that was found since it stands."""
        return self._known.get(thread)

    def keep(self, thread: int, caller: mi.Caller | None) -> None:
        """Remember who called, for as long as the thread stands."""
        self._known[thread] = caller

    def leave(self, thread: int, caller: mi.Caller | None) -> None:
        """A thread goes on to its caller."""
        self._left[thread] = caller.function if caller else ""
        if caller and (caller.language, caller.level, caller.function) == ("native", 1, ""):
            self.may_be_within.add(thread)

    def runs(self, thread: int) -> None:
        """A thread goes on: nothing of this holds any more."""
        self._known.pop(thread, None)
        self._left.pop(thread, None)
        self._returned.pop(thread, None)
        self.may_be_within.discard(thread)

    def came_out(self, thread: int, notice: Notice) -> None:
        """A thread that was on its way out has stopped, most likely behind the end of a function."""
        function, value = self._left.pop(thread, ""), notice.values.get(_NAME)
        if function and value:
            self._returned[thread] = NativeReturn(function, str(value))

    def returned(self, thread: int) -> NativeReturn | None:
        """What a thread has just come out of a function with, if it has."""
        return self._returned.get(thread)
