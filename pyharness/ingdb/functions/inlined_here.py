"""The frame that a thread stands in where an inlined function begins at its pc: that around it, if gdb has said so.

Where a step ends at such a place, gdb hides the inlined function until the next step. A call on the thread makes it
forget that, and what was frame 0 at the stop is frame 1.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import gdb

if TYPE_CHECKING:
    from collections.abc import Iterator

_stood: dict[int, tuple[int, int, int]] = {}
"""LWP → where it stood before a call: pc, stack pointer, and how many inlined functions gdb showed there."""
_called: list[int] = []
"""Threads in a call: what gdb tells of them meanwhile is no stop."""


@contextmanager
def kept() -> Iterator[None]:
    """Keep the selected thread's frame over calls within the block."""
    lwp, frame = gdb.selected_thread().ptid[1], gdb.newest_frame()
    here = frame.pc(), _stack_pointer(frame)
    if _stood.get(lwp, ())[:2] != here:
        _stood[lwp] = (*here, len(_inlined(frame)))
    _called.append(lwp)
    try:
        yield
    finally:
        _called.remove(lwp)


def shown(newest: gdb.Frame) -> gdb.Frame:
    """The frame that the selected thread stood in at its stop; the ``newest`` where no call came between."""
    thread = gdb.selected_thread()
    stood = _stood.get(thread.ptid[1]) if thread else None
    if stood is None or newest.type() != gdb.INLINE_FRAME or stood[:2] != (newest.pc(), _stack_pointer(newest)):
        return newest
    inlined = _inlined(newest)
    hidden = len(inlined) - stood[2]
    if hidden <= 0:
        return newest
    return inlined[hidden] if hidden < len(inlined) else inlined[-1].older() or newest


def _inlined(frame: gdb.Frame) -> list[gdb.Frame]:
    """The frames of inlined functions from here outwards."""
    found = []
    while frame.type() == gdb.INLINE_FRAME and (older := frame.older()) is not None:
        found.append(frame)
        frame = older
    return found


def _stack_pointer(frame: gdb.Frame) -> int:
    return int(frame.read_register("sp")) & ((1 << 64) - 1)


def _on_stop(event: gdb.StopEvent) -> None:
    thread = event.inferior_thread
    moved = list(_stood) if thread is None else [thread.ptid[1]]
    for lwp in moved:
        if lwp not in _called:
            _stood.pop(lwp, None)


gdb.events.stop.connect(_on_stop)
