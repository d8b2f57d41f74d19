"""The frame that a request names: by its thread and its level in the merged stack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.ingdb.backtrace import frames_in_order
from pyharness.ingdb.merge import NativeFrame
from pyharness.ingdb.mi import select
from pyharness.ingdb.python_memory import UnreadableError
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    import gdb

    from pyharness.ingdb.python_frames import PythonFrame
    from pyharness.ingdb.python_threads import Python


class Place:
    """A frame of a stopped thread, and those outside of it."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.thread = select(request)
        if not self.thread.is_stopped():
            raise HarnessError(f"Thread {request['thread']} runs.", "Pause it first.")
        level = int(request.get("level") or 0)
        frames, self._python = frames_in_order(self.thread) if level else _innermost(self.thread)
        if level >= len(frames):
            raise HarnessError(f"Thread {request['thread']} has {len(frames)} frames, none is {level}.")
        self._level = level
        self._frames = frames
        handle = self.native
        if handle:
            handle.select()

    @property
    def native(self) -> gdb.Frame | None:
        """gdb's frame; ``None`` where the frame is Python's."""
        frame = self._frames[self._level]
        handle: gdb.Frame | None = frame.handle if isinstance(frame, NativeFrame) else None
        return handle

    def python_variable(self, name: str) -> int | None:
        """Address of the object that a local variable of this frame, or of the next Python one outside, is."""
        if not name.isidentifier():
            return None
        if len(self._frames) == 1:
            self._frames, self._python = frames_in_order(self.thread)
        for frame in self._frames[self._level :]:
            if not isinstance(frame, NativeFrame) and (address := _local(self._python, frame, name)):
                return address
        return None


def _innermost(thread: gdb.InferiorThread) -> tuple[list[NativeFrame | PythonFrame], Python | None]:
    """Only the newest frame: most questions are about it, and a whole stack takes a while to read."""
    return frames_in_order(thread, 1)


def _local(python: Python | None, frame: PythonFrame, name: str) -> int | None:
    try:
        found = python.local_addresses(frame) if python else ()
        return next((address for known, address in found if known == name), None)
    except UnreadableError:
        return None
