"""Python frames from memory, one loop after another: which frames each run of the interpreter loop executes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.reading.process.memory import UnreadableError
from pyharness.reading.python.code import Codes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.reading.python.values import Values

MAX_FRAMES = 20_000
_SHIM = "<shim>"
"""The file of the code that 3.12 and newer run where C calls Python."""
_OWNED_BY_GENERATOR, _OWNED_BY_INTERPRETER = 1, 3


@frozen
class PythonFrame:
    """One Python function that runs; ``line`` is ``None`` where the code has none."""

    function: str
    file: str | None
    line: int | None
    first_line: int | None = None
    """``None`` for a placeholder, and for a frame that is half-made or the interpreter's own."""
    address: int = 0
    """The address of the interpreter's frame; 0 for a placeholder."""
    code: int = 0


@frozen
class Loop:
    """One run of the interpreter loop, its frames innermost first.

    ``marker`` is an address inside the C stack frame of that run; ``None`` where there is none to find.
    """

    marker: int | None
    frames: tuple[PythonFrame, ...]
    is_unmarked: bool = False
    """Whether runs of the interpreter leave no mark: each has one frame, and native frames are counted."""


class Frames:
    """Walks the frames of one thread state after another."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.memory = values.memory
        self.layout = values.layout
        self.codes = Codes(values)

    def loops(self, thread: int) -> Iterator[Loop]:
        """The loops of the thread state at ``thread``, innermost first; a placeholder stands for what is corrupt."""
        try:
            if self.layout.version == (3, 9):
                frames = self._walk(self._pointer(thread, "thread.frame"))
                yield from (Loop(None, (frame,), is_unmarked=True) for frame, _entry in frames)
            elif self.layout.version == (3, 10):
                yield from self._one_frame_a_loop(thread)
            elif self.layout.version == (3, 11):
                yield from self._loops_of_cframes(thread)
            else:
                yield from self._loops_by_entry_frames(thread)
        except UnreadableError as error:
            yield Loop(None, (PythonFrame(f"<unreadable Python stack: {error}>", None, None),))

    def _one_frame_a_loop(self, thread: int) -> Iterator[Loop]:
        """3.10: every call of a Python function is a loop of its own, with a ``CFrame`` on the C stack.

        Paired from the oldest on: a loop that has just begun has its ``CFrame`` and not yet its frame.
        """
        frames = [frame for frame, _entry in self._walk(self._pointer(thread, "thread.frame"))]
        markers: list[int | None] = list[int | None](self._cframes(thread))
        markers = markers[max(0, len(markers) - len(frames)) :]
        padding: list[int | None] = [None] * (len(frames) - len(markers))
        for marker, frame in zip(padding + markers, frames, strict=True):
            yield Loop(marker, (frame,))

    def _cframes(self, thread: int) -> Iterator[int]:
        node = self._pointer(thread, "thread.cframe")
        # 3.10 leaves the link of the last one, in the thread state, uninitialized
        seen = {thread + self.layout["thread.root_cframe"]} if "thread.root_cframe" in self.layout else set()
        while node and node not in seen and len(seen) < MAX_FRAMES:
            seen.add(node)
            yield node
            node = self._pointer(node, "cframe.previous")

    def _loops_of_cframes(self, thread: int) -> Iterator[Loop]:
        """3.11: a ``_PyCFrame`` on the C stack for every loop, its frames up to the one marked as the entry."""
        for marker in self._cframes(thread):
            frames = []
            for frame, is_entry in self._walk(self._pointer(marker, "cframe.current_frame")):
                frames.append(frame)
                if is_entry:
                    break
            yield from _loop(marker, frames)

    def _loops_by_entry_frames(self, thread: int) -> Iterator[Loop]:
        """3.12 on: one chain of frames, in which an entry frame that lies on the C stack ends each loop."""
        frames: list[PythonFrame] = []
        for frame, is_entry in self._walk(self._newest(thread)):
            if is_entry:
                yield from _loop(frame.address, frames)
                frames = []
            else:
                frames.append(frame)
        yield from _loop(None, frames)

    def _newest(self, thread: int) -> int:
        if "thread.current_frame" in self.layout:
            return self._pointer(thread, "thread.current_frame")
        return self._pointer(self._pointer(thread, "thread.cframe"), "cframe.current_frame")

    def _walk(self, node: int) -> Iterator[tuple[PythonFrame, bool]]:
        """Frames from ``node`` outwards, each with whether it is an entry frame; a placeholder ends a bad chain."""
        seen: set[int] = set()
        while node:
            if node in seen or len(seen) >= MAX_FRAMES:
                why = "a cycle" if node in seen else f"more than {MAX_FRAMES}"
                yield PythonFrame(f"<Python frames end here: {why}>", None, None), False
                return
            seen.add(node)
            try:
                found = self._frame(node)
                node = self._pointer(node, "frame.previous")
            except UnreadableError:
                found = PythonFrame(f"<unreadable Python frame at {node:#x}>", None, None), False
                node = 0
            yield found

    def _frame(self, node: int) -> tuple[PythonFrame, bool]:
        """The frame at ``node`` and whether it is the entry of its loop."""
        if self.layout.version <= (3, 10):
            return self._frame_object(node), True
        owner = self._byte(node, "frame.owner")
        if self.layout.version >= (3, 12) and owner >= _OWNED_BY_INTERPRETER:
            return PythonFrame("", None, None, None, node), True
        entry = self.layout.version == (3, 11) and bool(self._byte(node, "frame.is_entry"))
        address = self.reference(node + self.layout["frame.code"])
        code = self.codes.at(address)
        offset = self._pointer(node, "frame.instruction") - (address + self.layout["code.code"])
        half_made = owner != _OWNED_BY_GENERATOR and offset < 2 * code.first_traceable
        if half_made or not code.table:  # the interpreter's shims have no line table
            return PythonFrame(code.name, code.file, None, None, node, address), entry
        line = self.codes.line(address, offset)
        return PythonFrame(code.name, code.file, line, code.first_line, node, address), entry

    def at_instruction(self, address: int, instruction: int) -> PythonFrame | None:
        """A frame that was noted, by its code object; ``None`` for the interpreter's own, and for what has gone."""
        try:
            if self.values.type_of(address)[1][0] != "code":
                return None
            code = self.codes.at(address)
            if code.file == _SHIM or (not code.table and self.layout.version > (3, 10)):
                return None
            line = self.codes.line(address, self._offset(address, instruction))
        except UnreadableError:
            return None
        return PythonFrame(code.name, code.file, line, code.first_line, 0, address)

    def _offset(self, code: int, instruction: int) -> int:
        """A place in a code object in bytes: 3.9 counts these, 3.10 instructions; since then it is an address."""
        if self.layout.version <= (3, 10):
            return instruction * (2 if self.layout.version == (3, 10) else 1)
        return instruction - (code + self.layout["code.code"])

    def _frame_object(self, node: int) -> PythonFrame:
        """Up to 3.10 the frame is an object, which has a line of its own while it is traced.

        3.9 counts bytes of instructions, 3.10 instructions; in 3.9 the line is stale without a trace function.
        """
        address = self._pointer(node, "frame.code")
        code = self.codes.at(address)
        at = self.memory.signed(node + self.layout["frame.instruction"], 4)
        traced = self.memory.signed(node + self.layout["frame.line"], 4)
        if "frame.trace" in self.layout:
            traced = traced if self._pointer(node, "frame.trace") else 0
        else:
            at *= 2
        line = traced or self.codes.line(address, at)
        return PythonFrame(code.name, code.file, line, code.first_line, node, address)

    def reference(self, address: int) -> int:
        """A pointer to an object without the tag bits that 3.14 keeps in it; 0 for a number that it holds itself."""
        value = self.memory.pointer(address)
        if not self.layout.tagged:
            return value
        return 0 if value & 3 == 3 else value & ~3

    def _pointer(self, address: int, field: str) -> int:
        return self.memory.pointer(address + self.layout[field])

    def _byte(self, address: int, field: str) -> int:
        return self.memory.unsigned(address + self.layout[field], 1)


def _loop(marker: int | None, frames: list[PythonFrame]) -> Iterator[Loop]:
    """A loop without half-made frames and shims, which Python's own tracebacks leave out too."""
    shown = tuple(frame for frame in frames if frame.first_line is not None or not frame.address)
    if shown:
        yield Loop(marker, shown)
