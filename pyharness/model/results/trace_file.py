"""A trace as a file, as the traced program hands it over and ``--save`` writes it: names and stacks are in it once."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from pyharness.model.codec import decode
from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen
from pyharness.model.results.trace import Call, Event, GraphTask, TensorInfo, Trace

if TYPE_CHECKING:
    from collections.abc import Hashable

_FORMAT = "pyharness trace 2"
_T = TypeVar("_T")


@frozen
class _Head:
    """What a file has of ``Trace`` but for its events."""

    program: str
    lost: int
    children: float
    threads: dict[int, str]
    begun: int
    rank: int | None
    run: str
    host: str
    behind: int | None
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        numbers = (self.lost, self.begun, self.rank or 0, abs(self.behind or 0))
        if not all(0 <= number < 1 << 63 for number in numbers) or not 0 <= self.children < float("inf"):
            raise ValueError("a number of its head is out of its range")


_HEAD = tuple(field.name for field in fields(_Head))


class Numbered:
    """Numbers for values, in order of their first use: the keys of ``known``."""

    def __init__(self) -> None:
        self.known: dict[Any, int] = {}
        self._same: dict[int, int] = {}

    def number(self, value: Hashable) -> int:
        """The number of ``value``."""
        return self.known.setdefault(value, len(self.known))

    def optional(self, value: Hashable) -> int:
        """The number of ``value``; -1 stands for ``None``."""
        return -1 if value is None else self.number(value)

    def by_identity(self, value: Hashable) -> int:
        """The number of a value that is one object in many rows, lives as long as they do, and is long to hash."""
        if id(value) not in self._same:
            self._same[id(value)] = self.number(value)
        return self._same[id(value)]


class _Writer:
    def __init__(self) -> None:
        self.calls = Numbered()
        self.stacks = Numbered()
        self.tensors = Numbered()

    def infos(self, infos: tuple[TensorInfo, ...] | None) -> list[int] | None:
        return None if infos is None else [self.tensors.number(info) for info in infos]

    def event(self, event: Event) -> list[Any]:
        return [
            event.kind,
            event.name,
            event.overload,
            event.thread,
            event.start,
            event.duration,
            event.depth,
            event.parent,
            event.graph_task,
            event.reentrant,
            event.sequence,
            event.forward,
            self.stacks.by_identity(event.stack),
            event.approximate,
            self.infos(event.inputs),
            self.infos(event.outputs),
            event.memory,
            event.nodes,
        ]

    def task(self, task: GraphTask) -> list[Any]:
        return [
            task.number,
            task.call,
            task.thread,
            task.start,
            task.duration,
            task.nodes,
            task.parent,
            self.stacks.by_identity(task.stack),
        ]


def _call_row(call: Call) -> list[Any]:
    return [call.file, call.line, call.function, call.module, call.node]


def dump(trace: Trace) -> bytes:
    """What ``load`` reads."""
    writer = _Writer()
    data = {
        "format": _FORMAT,
        "program": trace.program,
        "lost": trace.lost,
        "children": trace.children,
        "begun": trace.begun,
        "rank": trace.rank,
        "run": trace.run,
        "host": trace.host,
        "behind": trace.behind,
        "notes": trace.notes,
        "threads": {str(number): name for number, name in trace.threads.items()},
        "events": [writer.event(event) for event in trace.events],
        "graph_tasks": [writer.task(task) for task in trace.graph_tasks],
        "stacks": [[writer.calls.number(call) for call in stack] for stack in writer.stacks.known],
        "calls": [_call_row(call) for call in writer.calls.known],
        "tensors": [[info.shape, info.dtype, info.device] for info in writer.tensors.known],
    }
    return json.dumps(data, separators=(",", ":")).encode()


def load(data: bytes) -> Trace:
    """The trace that ``dump`` wrote; ``HarnessError`` where it is not one, or not whole."""
    try:
        return _read(json.loads(data))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise HarnessError(f"The file is not a trace, or not a whole one ({reason}).", "Record it again.") from error


def _read(data: dict[str, Any]) -> Trace:
    if data["format"] != _FORMAT:
        raise ValueError(f"its format is {data['format']!r}")
    head = decode(_Head, {name: data[name] for name in _HEAD}, "its head")
    calls = [Call(*row) for row in data["calls"]]
    stacks = [_chosen(calls, row) for row in data["stacks"]]
    tensors = [TensorInfo(tuple(shape), dtype, device) for shape, dtype, device in data["tensors"]]
    return Trace(
        events=tuple(
            _event(number, row, stacks, tensors, len(data["events"])) for number, row in enumerate(data["events"])
        ),
        graph_tasks=tuple(_task(row, stacks) for row in data["graph_tasks"]),
        **vars(head),
    )


def _check(texts: tuple[Any, ...], numbers: list[Any], events: tuple[Any, ...], count: int) -> None:
    """Raise where what names, times and numbers events is none: a file may be another program's."""
    if not all(type(each) is str for each in texts) or not all(type(each) is int for each in numbers):
        raise TypeError("a name or a number is of another type")
    if any(each is not None and not 0 <= each < count for each in events):
        raise IndexError("there is no event of that number")


def _event(number: int, row: list[Any], stacks: list[tuple[Call, ...]], tensors: list[TensorInfo], count: int) -> Event:
    *head, stack, approximate, inputs, outputs, memory, nodes = row
    kind, name, overload, *numbers, parent, graph_task, reentrant, sequence, forward = head
    if kind not in {"op", "node"}:
        raise ValueError(f"there is no kind {kind!r}")
    maybe = [each for each in (graph_task, sequence, memory) if each is not None]
    _check((name, overload), [*numbers, reentrant, *maybe], (parent, forward), count)
    infos = [None if chosen is None else _chosen(tensors, chosen) for chosen in (inputs, outputs)]
    fields: list[Any] = [number, *head, stacks[stack], approximate, *infos, memory, tuple(nodes)]
    return Event(*fields)


def _task(row: list[Any], stacks: list[tuple[Call, ...]]) -> GraphTask:
    number, call, thread, start, duration, nodes, parent, stack = row
    _check((call,), [number, thread, start, duration, nodes], (), 0)
    return GraphTask(number, call, thread, start, duration, nodes, parent, stacks[stack])


def _chosen(known: list[_T], numbers: list[int]) -> tuple[_T, ...]:
    return tuple(known[number] for number in numbers)
