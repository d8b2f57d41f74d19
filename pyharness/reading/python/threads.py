"""One CPython in a stopped process or core: its interpreters, their threads, and the local variables of frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.reading.process.memory import Memory, UnreadableError
from pyharness.reading.python.attributes import string_items
from pyharness.reading.python.frames import Frames, Loop, PythonFrame
from pyharness.reading.python.values import Values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyharness.reading.python.layout import Layout

MAX_THREADS = 10_000
MAX_GLOBALS, MAX_MODULES = 10_000, 100_000
_TID = 0x2D0
"""Where glibc's ``struct pthread`` (``nptl/descr.h``), at ``pthread_self()``, has the kernel's id on x86-64."""


@frozen
class PythonThread:
    """A thread as one interpreter knows it; ``loops`` innermost first."""

    address: int
    interpreter: int
    """Number of the interpreter; 0 is the main one."""
    pthread: int
    """``pthread_self()`` of the thread: on x86-64 its ``fs_base``."""
    native_id: int | None
    """Kernel thread id in the process's own namespace; ``None`` where that is not known."""
    holds_gil: bool
    loops: tuple[Loop, ...]


class Python:
    """Memory is cached: make a new one for every stop."""

    def __init__(self, memory: Memory, layout: Layout, runtime: int) -> None:
        self.memory = memory
        self.layout = layout
        self.runtime = runtime
        self.values = Values(memory, layout)
        self.frames = Frames(self.values)

    def threads(self, wanted: Callable[[int | None, int, int], bool] = lambda *_: True) -> list[PythonThread]:
        """Every thread for which ``wanted(native_id, pthread, interpreter)`` holds; what cannot be read is left out."""
        found = []
        for interpreter in self._chain(self.runtime + self.layout["runtime.interpreters_head"], "interpreter.next"):
            holder = self._gil_holder(interpreter)
            for thread in self._chain(interpreter + self.layout["interpreter.threads_head"], "thread.next"):
                made = self._thread(thread, interpreter, holder, wanted)
                if made:
                    found.append(made)
        return found

    def _thread(
        self, thread: int, interpreter: int, holder: int, wanted: Callable[[int | None, int, int], bool]
    ) -> PythonThread | None:
        try:
            pthread, native = self._pointer(thread, "thread.thread_id"), self._kernel_id(thread)
            number = self._pointer(interpreter, "interpreter.id")
            if self._pointer(thread, "thread.interp") != interpreter or not wanted(native, pthread, number):
                return None
        except UnreadableError:
            return None
        return PythonThread(thread, number, pthread, native, thread == holder, tuple(self.frames.loops(thread)))

    def gil_holders(self) -> set[int]:
        """Kernel ids of the threads that hold a GIL."""
        interpreters = self._chain(self.runtime + self.layout["runtime.interpreters_head"], "interpreter.next")
        holders = [holder for interpreter in interpreters if (holder := self._gil_holder(interpreter))]
        return {number for holder in holders if (number := self._kernel_id(holder))}

    def _kernel_id(self, thread: int) -> int | None:
        """CPython keeps it from 3.11 on; before, the C library does. ``None`` where neither tells."""
        if "thread.native_thread_id" in self.layout:
            return self._pointer(thread, "thread.native_thread_id")
        try:
            return self.memory.signed(self._pointer(thread, "thread.thread_id") + _TID, 4)
        except UnreadableError:
            return None

    def module_globals(self, name: str) -> dict[str, int]:
        """The global variables of a module of the main interpreter, by name; empty where it is not imported."""
        for interpreter in self._chain(self.runtime + self.layout["runtime.interpreters_head"], "interpreter.next"):
            if self._pointer(interpreter, "interpreter.id"):
                continue
            module = _named(self.values, self._pointer(interpreter, "interpreter.modules"), name)
            held = self.memory.pointer(module + self.layout["tuple.ob_size"]) if module else 0  # behind the head
            return dict(string_items(self.values, held, MAX_GLOBALS)) if held else {}
        return {}

    def looks_right(self) -> bool:
        """Whether memory is as the layout says: an interpreter whose first thread points back to it."""
        try:
            interpreter = self._pointer(self.runtime, "runtime.interpreters_head")
            thread = self._pointer(interpreter, "interpreter.threads_head")
            return interpreter != 0 and self._pointer(thread, "thread.interp") == interpreter
        except UnreadableError:
            return False

    def local_addresses(self, frame: PythonFrame) -> Iterator[tuple[str, int]]:
        """Names of a frame's local variables with the addresses of their values, in order; unset ones left out."""
        if not frame.address:
            return
        slots = frame.address + self.layout["frame.localsplus"]
        for index, (name, in_cell) in enumerate(self.frames.codes.slots(frame.code)):
            value = self.frames.reference(slots + 8 * index)
            if value and in_cell and self.values.type_of(value)[1][0] == "cell":
                value = self.memory.pointer(value + self.layout["cell.ob_ref"])
            if value and not name.startswith((".", "@")):  # an iterator of Python's; what pytest adds to an assert
                yield name, value

    def locals(self, frame: PythonFrame) -> list[tuple[str, str]]:
        """Local variables as short text; those before the first that cannot be read."""
        found: list[tuple[str, str]] = []
        try:
            found.extend((name, self.values.describe(value)) for name, value in self.local_addresses(frame))
        except UnreadableError:
            found.append(("…", "<unreadable>"))
        return found

    def has_subinterpreters(self) -> bool:
        """Whether there is more than the main interpreter."""
        return len(list(self._chain(self.runtime + self.layout["runtime.interpreters_head"], "interpreter.next"))) > 1

    def _chain(self, head: int, link: str) -> Iterator[int]:
        """Follow a linked list from the pointer at ``head``; ends at a cycle, at its limit and at bad memory."""
        seen: set[int] = set()
        try:
            node = self.memory.pointer(head)
            while node and node not in seen and len(seen) < MAX_THREADS:
                seen.add(node)
                yield node
                node = self._pointer(node, link)
        except UnreadableError:
            return

    def _gil_holder(self, interpreter: int) -> int:
        """The thread that holds the GIL of an interpreter, 0 when none does."""
        try:
            if "interpreter.ceval_gil" in self.layout:
                gil = self._pointer(interpreter, "interpreter.ceval_gil")
                holder, locked = gil + self.layout["gil.last_holder"], gil + self.layout["gil.locked"]
            else:
                holder = self.runtime + self.layout["runtime.gil_last_holder"]
                locked = self.runtime + self.layout["runtime.gil_locked"]
            return self.memory.pointer(holder) if self.memory.signed(locked, 4) == 1 else 0
        except UnreadableError:
            return 0

    def _pointer(self, address: int, field: str) -> int:
        return self.memory.pointer(address + self.layout[field])


def _named(values: Values, items: int, wanted: str) -> int:
    """The value of a dict at ``items`` whose key is the text ``wanted``; 0 for none."""
    _, entries = values.dict_items(items, MAX_MODULES)
    return next((value for key, value in entries if values.string(key, len(wanted) + 1) == wanted), 0)
