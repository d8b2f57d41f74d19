"""A trace in the Trace Event Format, which ui.perfetto.dev and chrome://tracing open.

Format: "Trace Event Format" of the Chromium project. A flow's begin (``s``) binds to the innermost slice that is open
on its thread, so it comes right behind the op's own event; so does its end (``f`` with ``bp: e``) behind the node's.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from pyharness.model.text.source_line import source_line
from pyharness.report.places import shown_file
from pyharness.report.summary import is_backward, tensors_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.results.trace import Call, Event, GraphTask, Trace

_PROCESS = 1
_FLOW = {"cat": "autograd", "name": "backward of"}
_ENCODER = json.JSONEncoder(separators=(",", ":"))
_Json = dict[str, Any]


def text(trace: Trace) -> str:
    """The whole file, one event a line."""
    about = json.dumps({"program": trace.program, "lost_events": trace.lost})
    events = ",\n".join(_ENCODER.encode(event) for event in trace_events(trace))
    return f'{{"displayTimeUnit":"ns","otherData":{about},"traceEvents":[\n{events}\n]}}\n'


def trace_events(trace: Trace) -> Iterator[_Json]:
    """The events of the file: names, then each thread's slices in order of time, an outer one before its inner ones.

    Each rank is a process of its own.
    """
    if not trace.ranks:
        yield from _events(trace)
        return
    for rank in sorted(set(trace.ranks.values())):
        yield {**_name("process_name", 0, f"rank {rank}"), "pid": rank + 1}
        yield {**_name("process_sort_index", 0, ""), "pid": rank + 1, "args": {"sort_index": rank}}
    for event in _events(trace):
        if event["name"] != "process_name":
            yield {**event, "pid": trace.ranks[event["tid"]] + 1}


def _events(trace: Trace) -> Iterator[_Json]:
    yield _name("process_name", 0, trace.program or "recording")
    for order, (thread, name) in enumerate(trace.threads.items()):
        yield _name("thread_name", thread, name or f"thread {thread}")
        yield {**_name("thread_sort_index", thread, ""), "args": {"sort_index": order}}
    nodes = defaultdict(list)
    for event in trace.nodes:
        if event.forward is not None:
            nodes[event.forward].append(event)
    ends = _ends(trace.events)
    places = _Places()
    for item in _in_order(trace):
        if isinstance(item, int):
            event = trace.events[item]
            yield _slice(event, ends[item], places)
            yield from (_flow(event, node, "s") for node in nodes.get(item, ()))
            if event.kind == "node" and event.forward is not None:
                yield {**_flow(event, event, "f"), "bp": "e"}
        else:
            yield _task(item, places)


def _in_order(trace: Trace) -> Iterator[int | GraphTask]:
    """The numbers of events, and runs of the engine before what ran in them."""
    tasks = iter(sorted(trace.graph_tasks, key=lambda task: task.start))
    task = next(tasks, None)
    for event in trace.events:
        while task is not None and task.start <= event.start:
            yield task
            task = next(tasks, None)
        yield event.number
    while task is not None:
        yield task
        task = next(tasks, None)


def _ends(events: tuple[Event, ...]) -> list[int]:
    """When each event ended: within the one around it, which viewers insist on."""
    ends: list[int] = []
    for event in events:
        end = max(event.end, event.start + 1)
        ends.append(end if event.parent is None else max(min(end, ends[event.parent]), event.start))
    return ends


def _slice(event: Event, end: int, places: _Places) -> _Json:
    return {
        "ph": "X",
        "name": event.name,
        "cat": f"{'backward' if is_backward(event) else 'forward'},{event.kind}",
        "pid": _PROCESS,
        "tid": event.thread,
        "ts": _microseconds(event.start),
        "dur": _microseconds(end - event.start),
        "args": {key: value for key, value in _arguments(event, places) if value not in {None, ""}},
    }


def _arguments(event: Event, places: _Places) -> Iterator[tuple[str, Any]]:
    yield "event", event.number
    yield "overload", event.overload
    yield "module", "(model)" if event.module == "" else event.module
    yield from places.of(event)
    yield "nodes", ", ".join(event.nodes)
    yield "inputs", tensors_text(event.inputs)
    yield "outputs", tensors_text(event.outputs)
    yield "memory (bytes)", event.memory
    yield "sequence number", event.sequence
    yield "graph task", event.graph_task
    yield "forward op", event.forward
    yield "forward op is", "the nearest, not seen to make it" if event.approximate else None


class _Places:
    """What is said of the line that something is for; once for each stack, which many events share."""

    def __init__(self) -> None:
        self._known: dict[int, list[tuple[str, Any]]] = {}

    def of(self, what: Event | GraphTask) -> list[tuple[str, Any]]:
        known = self._known.get(id(what.stack))
        if known is None:
            known = self._known[id(what.stack)] = list(_place(what.origin))
        return known


def _place(call: Call | None) -> Iterator[tuple[str, Any]]:
    if call is not None:
        yield "line", f"{shown_file(call)}:{call.line}"
        yield "function", call.function
        yield "code", source_line(call.file, call.line)
        yield "fx node", call.node


def _task(task: GraphTask, places: _Places) -> _Json:
    return {
        "ph": "X",
        "name": f"{task.call or 'engine'} (graph task {task.number})",
        "cat": "backward,graph task",
        "pid": _PROCESS,
        "tid": task.thread,
        "ts": _microseconds(task.start),
        "dur": _microseconds(max(task.duration, 1)),
        "args": {"nodes": task.nodes, **{key: value for key, value in places.of(task) if value}},
    }


def _flow(at: Event, node: Event, phase: str) -> _Json:
    return {
        "ph": phase,
        "id": node.number,
        **_FLOW,
        "pid": _PROCESS,
        "tid": at.thread,
        "ts": _microseconds(at.start),
    }


def _name(what: str, thread: int, name: str) -> _Json:
    return {"ph": "M", "name": what, "pid": _PROCESS, "tid": thread, "args": {"name": name}}


def _microseconds(nanoseconds: int) -> float:
    return round(nanoseconds / 1000, 3)
