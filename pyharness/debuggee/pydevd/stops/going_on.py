"""Who is told that a thread stands and goes on, by debugpy: on that thread, before it runs anything of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.debuggee.unpatched import threading

_NO_STEP = -1


class GoingOn:
    """One listener at most: whoever has opened a prompt in place."""

    listener: ClassVar[Callable[[bool], None] | None] = None
    """Called with whether the thread makes a step."""
    on_stop: ClassVar[Callable[[], None] | None] = None
    """Called when a thread stands, before the debugger hears of it."""


def tell_stop() -> None:
    """A thread stands."""
    if GoingOn.on_stop is not None:
        GoingOn.on_stop()


def tell(thread: threading.Thread) -> None:
    """The thread goes on."""
    if GoingOn.listener is not None:
        info = getattr(thread, "additional_info", None)
        GoingOn.listener(info is not None and info.pydev_step_cmd != _NO_STEP)
