"""The frame that a watched place on the stack belongs to: the place means nothing any more when that has returned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 200
"""Frames that are looked through."""
_RED_ZONE = 128
"""Bytes below the stack pointer that a function may use without moving it (System V ABI, AMD64)."""


@frozen
class Owner:
    """A frame, known by its thread, by where its caller's part of the stack begins, and by its function."""

    lwp: int
    end: int
    function: str

    def is_there(self) -> bool:
        """Whether it has not returned, as far as the selected thread, which stands, can tell: its own frames only."""
        if gdb.selected_thread().ptid[1] != self.lwp:
            return True
        return any(end == self.end and _name(frame) == self.function for frame, end in _frames())


def owner_of(address: int) -> Owner | None:
    """The frame of the selected thread that ``address`` lies in; ``None`` for one that is not on its stack."""
    frames = list(_frames())
    if not frames or address < _stack_pointer(frames[0][0]) - _RED_ZONE:
        return None
    for frame, end in frames:
        if address < end:
            return Owner(gdb.selected_thread().ptid[1], end, _name(frame))
    return None


def _frames() -> Iterator[tuple[gdb.Frame, int]]:
    """Real frames from the newest on, and where each one's part of the stack ends."""
    frame = gdb.newest_frame()
    for _ in range(_MOST):
        older = frame.older()
        if older is None:
            return
        if frame.type() != gdb.INLINE_FRAME:
            yield frame, _stack_pointer(older)
        frame = older


def _stack_pointer(frame: gdb.Frame) -> int:
    return int(frame.read_register("rsp"))


def _name(frame: gdb.Frame) -> str:
    return frame.name() or ""
