"""Makes a ``Trace`` of what the threads recorded: who ran inside of whom, which op made which node."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from pyharness.model.results.trace import Event, GraphTask, TensorInfo, Trace
from pyharness.model.source_map import map_of
from pyharness.model.text.source_line import source_line
from pyharness.native.raw_events import GRAPH_TASK, OP, RawEvent, RawThread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyharness.model.results.trace import Call
    from pyharness.native.kernel_libraries import Site

    Named = tuple[str, str, Site | None]
    """Name and overload; of a kernel that a wrapper in C++ calls the line that does."""

_NO_SIZE = (1 << 64) - 1
_ENGINE_DOOR = "_engine_run_backward"
_ORDERS = 1 << 32


@dataclass
class _Row:
    """One event, its thread, and what it ran inside of."""

    raw: RawEvent
    thread: RawThread
    parent: _Row | None
    number: int = 0


@dataclass
class _Task:
    """What is known of one run of the engine."""

    starts: RawEvent
    thread: RawThread
    parent: int | None
    end: int
    nodes: int = 0


@dataclass
class _Builder:
    names: Sequence[Named]
    calls: Mapping[int, tuple[Call, ...]]
    memory: bool
    rows: list[_Row] = field(default_factory=list)
    tasks: dict[int, _Task] = field(default_factory=dict)

    def add(self, thread: RawThread) -> None:
        """Nest the events of one thread by their depth."""
        stack: list[_Row] = []
        for raw in sorted(thread.events(), key=lambda event: event.order):
            while stack and (stack[-1].raw.depth >= raw.depth or stack[-1].raw.end < raw.start):
                stack.pop()
            row = _Row(raw, thread, stack[-1] if stack else None)
            self._note_task(row)
            if raw.kind != GRAPH_TASK:
                stack.append(row)
                self.rows.append(row)

    def _note_task(self, row: _Row) -> None:
        raw = row.raw
        if raw.kind == OP or raw.graph_task < 0:
            return
        task = self.tasks.get(raw.graph_task)
        if task is None:
            outer = row.parent.raw.graph_task if row.parent else -1
            task = _Task(raw, row.thread, outer if outer >= 0 and outer != raw.graph_task else None, raw.end)
            self.tasks[raw.graph_task] = task
        elif raw.start < task.starts.start or (raw.chain and not task.starts.chain and raw.kind == GRAPH_TASK):
            task.starts, task.thread = raw, row.thread
        task.end = max(task.end, raw.end)
        task.nodes += raw.kind != GRAPH_TASK

    def number(self) -> dict[tuple[int, int], int]:
        """Number the events by start; returns the numbers of ops by (thread, order)."""
        self.rows.sort(key=lambda row: (row.raw.start, row.raw.order))
        for number, row in enumerate(self.rows):
            row.number = number
        return {
            (row.thread.number % _ORDERS, row.raw.order % _ORDERS): row.number
            for row in self.rows
            if row.raw.kind == OP
        }

    def event(self, row: _Row, ops: Mapping[tuple[int, int], int]) -> Event:
        raw, is_op = row.raw, row.raw.kind == OP
        name, overload, _ = self.names[raw.name]
        forward = ops.get((raw.forward_thread, raw.forward_order)) if raw.forward_order else None
        stack, nodes = self._called(raw, is_op=is_op)
        return Event(
            number=row.number,
            kind="op" if is_op else "node",
            name=name,
            overload=overload,
            thread=row.thread.kernel_id,
            start=raw.start,
            duration=raw.end - raw.start,
            depth=raw.depth,
            parent=row.parent.number if row.parent else None,
            graph_task=raw.graph_task if raw.graph_task >= 0 else None,
            reentrant=raw.reentrant,
            sequence=raw.sequence if is_op or raw.sequence < 1 << 63 else None,
            forward=None if is_op else forward,
            stack=stack,
            approximate=raw.approximate,
            inputs=_tensors(row.thread, raw.inputs),
            outputs=_tensors(row.thread, raw.outputs),
            memory=_memory(row.thread, raw.outputs) if self.memory else None,
            nodes=nodes,
        )

    def _called(self, raw: RawEvent, *, is_op: bool) -> tuple[tuple[Call, ...], tuple[str, ...]]:
        """Who called it; of a kernel of torch.compile's also the nodes that the call computes."""
        stack = self.calls.get(raw.chain, ())
        name, _, site = self.names[raw.name]
        if site is None:
            return stack, _nodes_of(name, stack) if is_op else ()
        return (site.call(stack), *stack), tuple(each.node for each in site.nodes)

    def graph_task(self, number: int) -> GraphTask:
        task = self.tasks[number]
        stack = self.calls.get(task.starts.chain, ()) if task.starts.kind == GRAPH_TASK else ()
        start = task.starts.start
        return GraphTask(
            number, _caller(stack), task.thread.kernel_id, start, task.end - start, task.nodes, task.parent, stack
        )


def _nodes_of(name: str, stack: tuple[Call, ...]) -> tuple[str, ...]:
    """The nodes that a kernel of torch.compile's computes, by the line of the wrapper that calls it."""
    if not stack or stack[0].node is None or not source_line(stack[0].file, stack[0].line).startswith(f"{name}("):
        return ()
    return _nodes_at(stack[0].file, stack[0].line)


@lru_cache(maxsize=4096)
def _nodes_at(file: str, line: int) -> tuple[str, ...]:
    found = map_of(file)
    return tuple(each.node for each in found.lines if each.line == line) if found else ()


def build(
    threads: Iterable[RawThread],
    names: Sequence[Named],
    calls: Mapping[int, tuple[Call, ...]],
    *,
    memory: bool = False,
    names_of_threads: Mapping[int, str] | None = None,
    program: str = "",
    children: float = 0.0,
) -> Trace:
    """The trace of these threads; ``calls`` are the decoded chains, ``names_of_threads`` Python's own by kernel id."""
    threads = list(threads)
    builder = _Builder(names, calls, memory)
    for thread in threads:
        builder.add(thread)
    ops = builder.number()
    known = names_of_threads or {}
    return Trace(
        events=tuple(builder.event(row, ops) for row in builder.rows),
        graph_tasks=tuple(builder.graph_task(number) for number in sorted(builder.tasks)),
        lost=sum(thread.lost for thread in threads),
        threads={t.kernel_id: known.get(t.kernel_id) or t.name for t in threads if t.count},
        program=program,
        children=children,
    )


def _caller(stack: tuple[Call, ...]) -> str:
    """Which function called the engine: the one that called torch's only Python door to it, else the innermost."""
    for inner, outer in itertools.pairwise(stack):
        if inner.function == _ENGINE_DOOR:
            return outer.function.rpartition(".")[2]
    return stack[0].function if stack else ""


def _tensors(thread: RawThread, position: int) -> tuple[TensorInfo, ...] | None:
    at = thread.note(position)
    if at is None:
        return None
    found, at, words = [], at + 2, thread.notes
    for _ in range(words[at - 2]):
        if at >= len(words):
            return None
        head = words[at]
        sizes = words[at + 2 : at + 2 + (head >> 24 & 0xFF)]
        found.append(_info(head & 0xFFFFFF, tuple(-1 if size == _NO_SIZE else size for size in sizes)))
        at += 2 + len(sizes)
    return tuple(found)


def _memory(thread: RawThread, position: int) -> int | None:
    at = thread.note(position)
    return thread.notes[at + 1] if at is not None else None


@lru_cache(maxsize=4096)
def _info(kind: int, sizes: tuple[int, ...]) -> TensorInfo:
    return TensorInfo(sizes, _dtype(kind & 0xFF), _device(kind >> 8 & 0xFF, kind >> 16 & 0xFF))


@lru_cache(maxsize=256)
def _dtype(number: int) -> str:
    from pyharness.native.load import load

    return str(load("_engine").name_of_dtype(number))


@lru_cache(maxsize=256)
def _device(kind: int, index: int) -> str:
    from pyharness.native.load import load

    return str(load("_engine").name_of_device(kind, index))
