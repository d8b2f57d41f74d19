"""Levels in the stack of a thread that is held only to be looked at: between two looks it may leave what it called.

A level that a client names is the one that it was told. The frame is found again by where it lies.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError
from pyharness.reading.stack.merge import NativeFrame

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyharness.reading.python.frames import PythonFrame

    Frames = Iterable[NativeFrame | PythonFrame]
    Identity = tuple[int | None, str | int]


class HeldLevels:
    """The stacks of threads that are held now and then, as they were told."""

    def __init__(self) -> None:
        self._told: dict[int, list[Identity]] = {}
        self._held = 0

    @contextmanager
    def held(self, lwp: int) -> Iterator[None]:
        """Take the levels of a thread for those that were told: meanwhile it is looked at."""
        self._held = lwp
        try:
            yield
        finally:
            self._held = 0

    def is_held(self, lwp: int) -> bool:
        """Whether a thread goes on when what is asked of it has been answered."""
        return lwp == self._held

    def tell(self, frames: Frames) -> None:
        """Keep the stack that is told of the thread that is held."""
        self._told[self._held] = [_identity(frame) for frame in frames]

    def forget(self, lwp: int) -> None:
        """Take the levels of a thread for what they are: its stack was told as it stands."""
        self._told.pop(lwp, None)

    def differ(self, lwp: int) -> bool:
        """Whether the levels of a thread may be others than those that were told."""
        return self.is_held(lwp) and lwp in self._told

    def now(self, lwp: int, level: int, frames: Sequence[NativeFrame | PythonFrame]) -> int:
        """The level in ``frames``, the stack as it is, of the frame that had ``level`` when the stack was told."""
        told = self._told[lwp] if self.differ(lwp) else ()
        if level >= len(told) or told[level][0] is None:
            return level
        found = next((index for index, frame in enumerate(frames) if _identity(frame) == told[level]), None)
        if found is None:
            raise HarnessError(f"Frame {level} of thread {lwp}, which runs, is gone.", "Ask for the stack again.")
        return found


def _identity(frame: NativeFrame | PythonFrame) -> Identity:
    if isinstance(frame, NativeFrame):
        return frame.cfa, frame.function
    return frame.address or None, frame.code


HELD_LEVELS = HeldLevels()
"""The levels of the program: it is one, as gdb is."""
