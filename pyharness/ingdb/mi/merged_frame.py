"""The frame that a request names: by its thread and its level in the merged stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.ingdb.mi.commands import select
from pyharness.ingdb.stack.backtrace import frames_in_order
from pyharness.ingdb.stack.held_levels import HELD_LEVELS
from pyharness.ingdb.variables.expression import evaluate
from pyharness.ingdb.variables.tensor import TensorContent
from pyharness.model.errors import HarnessError
from pyharness.reading.stack.merge import NativeFrame

if TYPE_CHECKING:
    import gdb

    from pyharness.model.tensors.tensor import TensorInfo
    from pyharness.reading.python.frames import PythonFrame
    from pyharness.reading.python.threads import Python


class Place:
    """A frame of a stopped thread, and those outside of it."""

    def __init__(self, lwp: int, level: int) -> None:
        self.thread = select(lwp)
        if not self.thread.is_stopped():
            raise HarnessError(f"Thread {lwp} is running.", "Pause it first.")
        frames, self._python = (frames_in_order if level or HELD_LEVELS.differ(lwp) else _innermost)(self.thread)
        level = HELD_LEVELS.now(lwp, level, frames)
        if level >= len(frames):
            raise HarnessError(f"Thread {lwp} has {len(frames)} frames: there is no frame {level}.")
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

    @property
    def python(self) -> tuple[PythonFrame | None, Python | None]:
        """The frame, ``None`` where it is native, and the interpreter, where it can be read."""
        frame = self._frames[self._level]
        return None if isinstance(frame, NativeFrame) else frame, self._python

    def python_tensor(self, expression: str) -> TensorInfo | None:
        """The tensor that a Python expression is in this frame, or in the next Python one outside where it is one."""
        if len(self._frames) == 1:
            self._frames, self._python = frames_in_order(self.thread)
        for frame in self._frames[self._level :]:
            if isinstance(frame, NativeFrame):
                continue
            try:
                found = evaluate(expression, frame, self._python, self.thread.ptid[1])
            except HarnessError:
                continue
            if isinstance(found.content, TensorContent):
                return found.content.info
        return None


def _innermost(thread: gdb.InferiorThread) -> tuple[list[NativeFrame | PythonFrame], Python | None]:
    """Only the newest frame: most questions are about it, and a whole stack takes a while to read."""
    return frames_in_order(thread, 1)
