"""The way out of an inlined function: optimized code has its lines among those of the function that it is a part of.

gdb's ``finish`` leaves it at the first line of another function, or at the next line of its own.
"""

from __future__ import annotations

import gdb

from pyharness.ingdb.functions import inlined_here
from pyharness.model.frozen import frozen
from pyharness.reading.process.memory import UnreadableError

_MOST = 50
"""Times that it is left anew before a line of it is told: a loop there may be long."""


@frozen
class _Left:
    """The function that a thread leaves."""

    frame: tuple[str, int]
    """Name and end of stack of the function that it is a part of."""
    depth: int
    """How many inlined functions it is in, itself included."""


_left: dict[int, tuple[_Left, int]] = {}
"""LWP → what it leaves, and how often it was told to."""


def leave() -> None:
    """The selected thread leaves the function that it stands in."""
    lwp, here = gdb.selected_thread().ptid[1], _place()
    before, times = _left.get(lwp, (None, 0))
    if here is None:
        _left.pop(lwp, None)
    elif before is None or before.frame != here.frame:
        _left[lwp] = here, 1
    else:
        _left[lwp] = before, times + 1


def forget() -> None:
    """The selected thread does something else."""
    _left.pop(gdb.selected_thread().ptid[1], None)


def is_leaving() -> bool:
    """Whether the selected thread leaves an inlined function."""
    return gdb.selected_thread().ptid[1] in _left


def is_left() -> bool:
    """Whether the selected thread has left what it was to leave; true where there is nothing of the kind."""
    lwp = gdb.selected_thread().ptid[1]
    leaves, times = _left.get(lwp, (None, 0))
    here = _place() if leaves else None
    if leaves is None or here is None or here.frame != leaves.frame or here.depth < leaves.depth or times >= _MOST:
        _left.pop(lwp, None)
        return True
    return False


def _place() -> _Left | None:
    """Where the selected thread stands; ``None`` where that is no inlined function."""
    frame: gdb.Frame | None = inlined_here.shown(gdb.newest_frame())
    depth = 0
    while frame is not None and frame.type() == gdb.INLINE_FRAME:
        depth, frame = depth + 1, frame.older()
    try:
        caller = frame.older() if frame else None
        end = int(caller.read_register("sp")) & (1 << 64) - 1 if caller else 0
    except (gdb.error, UnreadableError):
        return None
    return _Left((frame.name() or "", end), depth) if frame and depth else None
