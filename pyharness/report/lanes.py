"""Where a trace's events lie on the page: a forward and a backward lane for each thread, rows for what is nested."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyharness.report.summary import is_backward

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.results.trace import Event, GraphTask, Trace

MAX_LEVELS = 6
"""Rows of a lane that show modules: deeper ones are told on their events only."""


@dataclass(frozen=True)
class Span:
    """A stretch of a lane in which one module, or what is in it, was called."""

    level: int
    """How many components its path has, less one."""
    module: str
    start: int
    end: int


@dataclass
class Lane:
    """One half of one thread."""

    thread: int
    backward: bool
    rows: int = 0
    """How deep its events are nested."""
    tasks: list[tuple[GraphTask, int]] = field(default_factory=list)
    """The runs of the engine that this thread started, each with its row."""
    spans: list[Span] = field(default_factory=list)


@dataclass(frozen=True)
class Placed:
    """The lanes, and where in them each event is."""

    lanes: list[Lane]
    lane: list[int]
    """By the number of the event: the place of its lane in ``lanes``."""
    row: list[int]
    """By the number of the event: its row within the lane."""


def place(trace: Trace) -> Placed:
    """Lay out a trace; the thread with the first event comes first, of several ranks those of the first one."""
    known: dict[tuple[int, bool], Lane] = {}
    threads = list(dict.fromkeys(event.thread for event in trace.events))
    for thread in sorted(threads, key=lambda thread: trace.ranks.get(thread, 0)):
        known[thread, False] = Lane(thread, backward=False)
        known[thread, True] = Lane(thread, backward=True)
    for task in trace.graph_tasks:
        lane = known.setdefault((task.thread, True), Lane(task.thread, backward=True))
        lane.tasks.append((task, _row_of(task, lane)))
    rows: list[int] = []
    used: dict[tuple[int, bool], list[Event]] = defaultdict(list)
    for event in trace.events:
        key = (event.thread, is_backward(event))
        rows.append(_row(trace, event, rows))
        known[key].rows = max(known[key].rows, rows[-1] + 1)
        if rows[-1] == 0:
            used[key].append(event)
    for key, events in used.items():
        known[key].spans = list(_spans(events, sorted(task.start for task, _ in known[key[0], True].tasks)))
    shown = [lane for lane in known.values() if lane.rows or lane.tasks]
    index = {(lane.thread, lane.backward): number for number, lane in enumerate(shown)}
    return Placed(shown, [index[event.thread, is_backward(event)] for event in trace.events], rows)


def _row(trace: Trace, event: Event, rows: list[int]) -> int:
    """Below the innermost event of the same lane that it ran in."""
    parent = event.parent
    while parent is not None:
        around = trace.events[parent]
        if is_backward(around) == is_backward(event):
            return rows[parent] + 1
        parent = around.parent
    return 0


def _row_of(task: GraphTask, lane: Lane) -> int:
    """Below the run during which it was started."""
    return next((row + 1 for other, row in lane.tasks if other.number == task.parent), 0)


def _spans(events: list[Event], runs: list[int]) -> Iterator[Span]:
    """Neighbours in one module are one stretch, unless the engine was started between them."""
    open_spans: list[Span] = []
    before = None
    for event in events:
        here = (event.graph_task, bisect_right(runs, event.start))
        paths = _paths(event.module) if event.module else []
        same = 0
        if here == before:
            same = sum(span.module == path for span, path in zip(open_spans, paths, strict=False))
        yield from open_spans[same:]
        kept = [Span(span.level, span.module, span.start, event.end) for span in open_spans[:same]]
        new = (Span(level, path, event.start, event.end) for level, path in enumerate(paths[same:], same))
        open_spans = [*kept, *new]
        before = here
    yield from open_spans


def _paths(module: str) -> list[str]:
    """The module and what it is in, outermost first."""
    parts = module.split(".")
    return [".".join(parts[: count + 1]) for count in range(min(len(parts), MAX_LEVELS))]
