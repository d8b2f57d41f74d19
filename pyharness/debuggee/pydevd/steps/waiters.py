"""Who waits for a task of asyncio, as the frame of the user's coroutine that goes on when it is done."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pyharness.model.user_code import is_user_python

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_MOST = 1000
"""Coroutines and futures that wait for each other."""


def current_task() -> Any:
    """The task that this thread runs; ``None`` where it runs none."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None or asyncio._get_running_loop() is None:
        return None
    return asyncio.current_task()


def is_outermost(frame: FrameType) -> bool:
    """Whether it is that of the coroutine of which the current task was made."""
    task = current_task()
    return task is not None and getattr(task.get_coro(), "cr_frame", None) is frame


def waiter_of(task: Any) -> FrameType | None:
    """The frame of the user's that waits for ``task``, perhaps through ``gather``, ``wait`` or a task group."""
    known, waiting = [task], [task]
    while waiting and len(known) < _MOST:
        for other in _told_by(waiting.pop(0)):
            if any(other is each for each in known):
                continue
            known.append(other)
            frame = _innermost(other.get_coro()) if hasattr(other, "get_coro") else None
            if frame is not None:
                return frame
            waiting.append(other)
    return None


def _told_by(future: Any) -> Iterator[Any]:
    """The futures and tasks that hear of the end of ``future``."""
    for called, *_context in getattr(future, "_callbacks", None) or ():
        owner = getattr(called, "__self__", None)
        known = [owner, getattr(owner, "_parent_task", None), *getattr(called, "args", ())]
        for cell in getattr(called, "__closure__", None) or ():
            with suppress(ValueError):  # it is empty yet
                known.append(cell.cell_contents)
        yield from (each for each in known if hasattr(type(each), "_asyncio_future_blocking"))


def _innermost(awaits: Any) -> FrameType | None:
    """The innermost frame of the user's in what a coroutine waits for."""
    found = None
    for _ in range(_MOST):
        frame = _first(awaits, "cr_frame", "gi_frame", "ag_frame")
        if frame is not None and is_user_python(frame.f_code.co_filename):
            found = frame
        awaits = _first(awaits, "cr_await", "gi_yieldfrom", "ag_await")
        if awaits is None:
            break
    return found


def _first(owner: Any, *names: str) -> Any:
    return next((each for each in (getattr(owner, name, None) for name in names) if each is not None), None)
