"""Threads that begin stand where Python knows them: before that nothing can be evaluated on them."""

from __future__ import annotations

import functools
from typing import Any

from pyharness.debuggee.unpatched import threading


def watch(debugger: Any) -> None:
    """Have a pause, which may come to a thread in the midst of ``threading``'s own code, stop it a moment later."""
    original = debugger.do_wait_suspend

    @functools.wraps(original)
    def stands_for(thread: threading.Thread, *arguments: Any, **named: Any) -> Any:
        if thread in threading._limbo:  # type: ignore[attr-defined]
            return None  # its next event is told of the pause again
        return original(thread, *arguments, **named)

    debugger.do_wait_suspend = stands_for
