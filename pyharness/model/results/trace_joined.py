"""Several recordings of one process as one trace, each at its time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.model.results.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyharness.model.results.trace import Event


@frozen
class Part:
    """One recording, and when it was on, in nanoseconds of one clock."""

    begin: int
    end: int
    trace: Trace


def joined(parts: Iterable[Part]) -> Trace:
    """One trace, whose time begins with the first part; what began while another was on is in that one already."""
    kept = list(_outermost(sorted(parts, key=lambda part: part.begin)))
    events: list[Event] = []
    for part in kept:
        events += _moved(part.trace.events, part.begin - kept[0].begin, len(events))
    return Trace(
        events=tuple(events),
        graph_tasks=tuple(
            replace(task, start=task.start + part.begin - kept[0].begin)
            for part in kept
            for task in part.trace.graph_tasks
        ),
        lost=sum(part.trace.lost for part in kept),
        threads={thread: name for part in kept for thread, name in part.trace.threads.items()},
        program=kept[0].trace.program if kept else "",
        children=sum(part.trace.children for part in kept),
        begun=kept[0].trace.begun if kept else 0,
    )


def _outermost(parts: Iterable[Part]) -> Iterator[Part]:
    end = None
    for part in parts:
        if end is None or part.begin >= end:
            end = part.end
            yield part


def _moved(events: Iterable[Event], time: int, count: int) -> Iterator[Event]:
    """Later by ``time``, and numbered behind ``count`` others."""
    for event in events:
        yield replace(
            event,
            number=event.number + count,
            start=event.start + time,
            parent=None if event.parent is None else event.parent + count,
            forward=None if event.forward is None else event.forward + count,
        )
