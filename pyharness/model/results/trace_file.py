"""A trace as a file: how the traced program hands it over, names and stacks written once."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pyharness.model.errors import HarnessError
from pyharness.model.results.trace import Call, Event, GraphTask, TensorInfo, Trace

_FORMAT = "pyharness trace 1"
_T = TypeVar("_T")


class _Once:
    """Numbers for what many events share; ``rows`` has each once."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self._known: dict[Any, int] = {}

    def number(self, key: Any, row: Any) -> int:
        """The number of ``key``; ``row`` is what the file says of it."""
        number = self._known.setdefault(key, len(self.rows))
        if number == len(self.rows):
            self.rows.append(row)
        return number


class _Writer:
    def __init__(self) -> None:
        self.calls = _Once()
        self.stacks = _Once()
        self.tensors = _Once()
        self._stacks_seen: dict[int, int] = {}  # by identity: hashing a stack for each event would cost more than it

    def stack(self, stack: tuple[Call, ...]) -> int:
        number = self._stacks_seen.get(id(stack))
        if number is None:
            row = [self.calls.number(call, _call_row(call)) for call in stack]
            number = self._stacks_seen[id(stack)] = self.stacks.number(stack, row)
        return number

    def infos(self, infos: tuple[TensorInfo, ...] | None) -> list[int] | None:
        if infos is None:
            return None
        return [self.tensors.number(info, [info.shape, info.dtype, info.device]) for info in infos]

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
            self.stack(event.stack),
            event.approximate,
            self.infos(event.inputs),
            self.infos(event.outputs),
            event.memory,
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
            self.stack(task.stack),
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
        "threads": {str(number): name for number, name in trace.threads.items()},
        "events": [writer.event(event) for event in trace.events],
        "graph_tasks": [writer.task(task) for task in trace.graph_tasks],
        "calls": writer.calls.rows,
        "stacks": writer.stacks.rows,
        "tensors": writer.tensors.rows,
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
    )


def _event(number: int, row: list[Any], stacks: list[tuple[Call, ...]], tensors: list[TensorInfo]) -> Event:
    *head, stack, approximate, inputs, outputs, memory = row
    infos = [None if chosen is None else _chosen(tensors, chosen) for chosen in (inputs, outputs)]
    fields: list[Any] = [number, *head, stacks[stack], approximate, *infos, memory]
    return Event(*fields)


def _chosen(known: list[_T], numbers: list[int]) -> tuple[_T, ...]:
    return tuple(known[number] for number in numbers)
