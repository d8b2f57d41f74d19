"""A stop where the dynamic linker has mapped a library that matters, before anything of it runs.

Those are the user's, and those of others that have a function for which a place waits. Python tells of what it loads
itself; what native code loads, only the linker knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import gdb

from pyharness.ingdb import terminal
from pyharness.ingdb.calls import guarded_call
from pyharness.ingdb.functions import native_names
from pyharness.ingdb.process import libraries
from pyharness.ingdb.stops import handlers
from pyharness.protocol.mi import READ_MORE

if TYPE_CHECKING:
    from pyharness.reading.process.mapped_files import Library

_LINKER, _FUNCTION = "ld-linux", b"_dl_debug_state"
"""What the linker calls for debuggers, whenever its list of libraries has changed."""


class _Load(gdb.Breakpoint):
    """At that function; stops for each library once, and for no thread that steps: it would not step on."""

    stepping: ClassVar[set[int]] = set()
    passed: ClassVar[bool] = False
    """Whether a thread that steps has passed it."""
    waiting: ClassVar[dict[int, str]] = {}
    """Number of a place → its function, which a library of others may have, too."""

    def __init__(self, address: int) -> None:
        super().__init__(f"*{address:#x}", internal=True)
        self._told: set[Library] = set()
        self._searched: set[Library] = set()

    def stop(self) -> bool:
        """Whether there is a library that gdb has not read, or one with a function that is waited for."""
        thread = gdb.selected_thread()
        if guarded_call.UNDER_WAY.is_set() or thread is None:
            return False
        if thread.ptid[1] in self.stepping:
            _Load.passed = True
            return False
        unread = set(libraries.unread_libraries())
        new, self._told = unread - self._told, unread
        return bool(new) or bool(self.waiting and self._has_function())

    def _has_function(self) -> bool:
        """Whether a library that has come since has a function that is waited for."""
        mapped = set(libraries.libraries())
        new, self._searched = mapped - self._searched, mapped
        return any(native_names.has_in_full(library, name) for library in new for name in self.waiting.values())


def watch() -> int:
    """gdb's number of that breakpoint; 0 where the linker has no such function."""
    linker = libraries.find_library(_LINKER)
    symbols = (table.named(_FUNCTION) for table in linker.elf.symbol_tables) if linker else iter(())
    symbol = next(filter(None, symbols), None)
    if linker is None or symbol is None:
        return 0
    gdb.events.stop.connect(_on_stop)
    return int(_Load(symbol.address + linker.bias).number)


def wait(number: int, function: str) -> None:
    """Stop for a library of others that has the function for which the place of this number waits; "" ends that."""
    _Load.waiting.pop(number, None)
    if function:
        _Load.waiting[number] = function


def steps(thread: gdb.InferiorThread) -> None:
    """Let a thread's step, which begins now, pass: what it loads is read when it ends."""
    _Load.stepping.add(thread.ptid[1])


def runs() -> None:
    """No step begins where the last one ended: what threads load is read at once."""
    _Load.stepping.clear()


def _on_stop(event: gdb.StopEvent) -> None:
    """In non-stop mode, gdb says whose stop it is."""
    if event.inferior_thread is None or event.inferior_thread.ptid[1] not in _Load.stepping:
        return
    if not handlers.goes_on(event):
        _Load.stepping.discard(event.inferior_thread.ptid[1])
    if _Load.passed:
        _Load.passed = False
        read = [libraries.load_symbols(library) for library in libraries.unread_libraries()]
        if any(read) or _Load.waiting:
            terminal.write(READ_MORE)
