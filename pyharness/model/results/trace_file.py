"""A trace as a file, as the traced program hands it over and ``--save`` writes it: names and stacks are in it once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from pyharness.model.errors import HarnessError
from pyharness.model.results.trace import Call, Event, GraphTask, TensorInfo, Trace

if TYPE_CHECKING:
    from collections.abc import Hashable

_FORMAT = "pyharness trace 2"
_T = TypeVar("_T")


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
    calls = [Call(*row) for row in data["calls"]]
    stacks = [_chosen(calls, row) for row in data["stacks"]]
    tensors = [TensorInfo(tuple(shape), dtype, device) for shape, dtype, device in data["tensors"]]
    return Trace(
        events=tuple(_event(number, row, stacks, tensors) for number, row in enumerate(data["events"])),
        graph_tasks=tuple(GraphTask(*[*row[:-1], stacks[row[-1]]]) for row in data["graph_tasks"]),
        lost=data["lost"],
        threads={int(number): name for number, name in data["threads"].items()},
        program=data["program"],
        children=data["children"],
        begun=data["begun"],
        rank=data["rank"],
        host=data["host"],
        behind=data["behind"],
        notes=tuple(data["notes"]),
    )


def _event(number: int, row: list[Any], stacks: list[tuple[Call, ...]], tensors: list[TensorInfo]) -> Event:
    *head, stack, approximate, inputs, outputs, memory, nodes = row
    infos = [None if chosen is None else _chosen(tensors, chosen) for chosen in (inputs, outputs)]
    fields: list[Any] = [number, *head, stacks[stack], approximate, *infos, memory, tuple(nodes)]
    return Event(*fields)


def _chosen(known: list[_T], numbers: list[int]) -> tuple[_T, ...]:
    return tuple(known[number] for number in numbers)
