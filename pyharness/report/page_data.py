"""What the page knows of a trace, as small as it can be said: columns of numbers, and tables of what they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.model.results.trace import origin_of
from pyharness.model.results.trace_file import Numbered
from pyharness.model.text.source_line import source_line
from pyharness.report.lanes import place
from pyharness.report.places import shown_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.model.results.trace import Call, TensorInfo, Trace
    from pyharness.report.lanes import Lane

MAX_STACK = 24
"""Calls of one stack that the page has."""
_Json = dict[str, Any]


class _Tables:
    def __init__(self) -> None:
        self.names = Numbered()
        self.modules = Numbered()
        self.stacks = Numbered()
        self.tensors = Numbered()

    def infos(self, infos: tuple[TensorInfo, ...] | None) -> int:
        return self.tensors.optional(None if infos is None else " ".join(map(str, infos)))

    def to_json(self) -> _Json:
        calls = Numbered()
        stacks = [
            [calls.optional(origin_of(stack)), *(calls.number(call) for call in stack[:MAX_STACK])]
            for stack in self.stacks.known
        ]
        return {
            "names": list(self.names.known),
            "modules": list(self.modules.known),
            "tensors": list(self.tensors.known),
            "stacks": stacks,
            "calls": [_call(call) for call in calls.known],
        }


def _call(call: Call) -> list[Any]:
    code = source_line(call.file, call.line)
    return [shown_file(call), call.line, call.function, call.module, call.node, code]


def page_data(trace: Trace) -> _Json:
    """The object that the page's script reads; times are nanoseconds since the first event."""
    tables = _Tables()
    placed = place(trace)
    first = min((event.start for event in trace.events), default=0)
    first = min(first, *(task.start for task in trace.graph_tasks)) if trace.graph_tasks else first
    columns = _columns(trace, tables, first)
    columns["lane"], columns["row"] = placed.lane, placed.row
    lanes = [_lane(lane, trace, tables, first) for lane in placed.lanes]
    head = {"program": trace.program, "lost": trace.lost, "lanes": lanes, "events": columns}
    return {**head, **tables.to_json()}


def _columns(trace: Trace, tables: _Tables, first: int) -> dict[str, list[Any]]:
    """One list a property; ``start`` counts from the event before, ``forward`` back from the event."""
    events = trace.events
    starts = [event.start - first for event in events]
    columns: dict[str, list[Any]] = {
        "name": [tables.names.number(f"{e.name}.{e.overload}" if e.overload else e.name) for e in events],
        "kind": [int(event.kind == "node") for event in events],
        "start": _differences(starts),
        "duration": [event.duration for event in events],
        "parent": [0 if event.parent is None else event.number - event.parent for event in events],
        "forward": [0 if event.forward is None else event.number - event.forward for event in events],
        "approximate": [event.number for event in events if event.approximate],
        "module": [tables.modules.optional(event.module) for event in events],
        "stack": [tables.stacks.by_identity(event.stack) for event in events],
        "sequence": [-1 if event.sequence is None else event.sequence for event in events],
        "task": [-1 if event.graph_task is None else event.graph_task for event in events],
    }
    columns["nodes"] = [[event.number, ", ".join(event.nodes)] for event in events if event.nodes]
    if any(event.inputs is not None for event in events):
        columns["inputs"] = [tables.infos(event.inputs) for event in events]
        columns["outputs"] = [tables.infos(event.outputs) for event in events]
    if any(event.memory is not None for event in events):
        columns["memory"] = [-1 if event.memory is None else event.memory for event in events]
    return columns


def _differences(values: Iterable[int]) -> list[int]:
    before, differences = 0, []
    for value in values:
        differences.append(value - before)
        before = value
    return differences


def _lane(lane: Lane, trace: Trace, tables: _Tables, first: int) -> _Json:
    tasks = [
        [
            task.number,
            task.call,
            row,
            task.start - first,
            task.duration,
            task.nodes,
            tables.stacks.by_identity(task.stack),
        ]
        for task, row in lane.tasks
    ]
    spans = [
        [span.level, tables.modules.number(span.module), span.start - first, span.end - span.start]
        for span in lane.spans
    ]
    return {
        "thread": lane.thread,
        "name": trace.threads.get(lane.thread, ""),
        "backward": lane.backward,
        "rows": lane.rows,
        "tasks": tasks,
        "spans": spans,
    }
