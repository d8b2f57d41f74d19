"""Log lines on their way when a program ends: debuggers tell them by other ways than its end, which may come first."""

from __future__ import annotations

import queue
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pyharness.gdbmi.records import Notice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyharness.debugger.breaking.breakpoint import Breakpoint
    from pyharness.debugger.shell import Events

_PATIENCE = 1.0
"""Seconds; a child that the program has left may keep debugpy's connection open."""


def who_logs(breakpoints: Iterable[Breakpoint]) -> set[str]:
    """The debuggers, as `Events` names them, that print log lines themselves."""
    return {"debugpy" if each.where.is_python else "gdb" for each in breakpoints if each.log}


def last_words(events: Events, told: Iterable[tuple[str, Any]], awaited: set[str]) -> Iterator[tuple[str, Any]]:
    """What the debuggers tell until each that is ``awaited`` has told of the program's end; ``told`` came before.

    Other events stay in the queue.
    """
    if not awaited:
        return
    ends = time.monotonic() + _PATIENCE
    others = []
    for event in _until(events, told, ends):
        source, item = event
        if source not in awaited:
            others.append(event)
        elif _is_last(item):
            awaited = awaited - {source}
        else:
            yield event
        if not awaited:
            break
    for event in others:
        events.put(event)


def _until(events: Events, told: Iterable[tuple[str, Any]], ends: float) -> Iterator[tuple[str, Any]]:
    yield from told
    with suppress(queue.Empty):
        while True:
            yield events.get(timeout=max(0.0, ends - time.monotonic()))


def _is_last(item: Any) -> bool:
    """Whether this is a debugger's end, or its word on the program's."""
    return item is None or (isinstance(item, Notice) and str(item.values.get("reason", "")).startswith("exited"))
