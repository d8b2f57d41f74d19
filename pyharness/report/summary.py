"""Where the time of a trace went: by module, by op, by autograd node.

``own`` time is without what ran nested inside, so that shares add up to the whole; forward and backward are kept apart
by whether the event ran within a run of the engine (what checkpointing computes again is backward's).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyharness.model.results.trace import Event, TensorInfo, Trace

By = Literal["module", "op", "kernel", "node"]
OUTSIDE = "(no module)"
MODEL = "(model)"
"""The module that was called first, whose path is empty."""


@dataclass
class Cost:
    """What some events took, in nanoseconds."""

    count: int = 0
    total: int = 0
    own: int = 0

    @property
    def mean(self) -> float:
        """The mean duration of one event, with what is nested inside."""
        return self.total / self.count if self.count else 0.0

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {"count": self.count, "total_ns": self.total, "own_ns": self.own}


@dataclass
class Row:
    """One module, op or node."""

    name: str
    forward: Cost = field(default_factory=Cost)
    backward: Cost = field(default_factory=Cost)
    memory: int | None = None
    """Bytes that its outputs brought; ``None`` where that was not recorded."""
    shapes: str = ""

    @property
    def count(self) -> int:
        """Events of both halves."""
        return self.forward.count + self.backward.count

    @property
    def total(self) -> int:
        """Nanoseconds of both halves, with what is nested inside."""
        return self.forward.total + self.backward.total

    @property
    def own(self) -> int:
        """Nanoseconds of both halves, without what is nested inside."""
        return self.forward.own + self.backward.own

    @property
    def mean(self) -> float:
        """Nanoseconds of one event."""
        return self.total / self.count if self.count else 0.0

    def add_memory(self, memory: int | None) -> None:
        """Count what an event brought, where that was recorded."""
        if memory is not None:
            self.memory = (self.memory or 0) + memory


@dataclass(frozen=True)
class Summary:
    """A trace, added up."""

    trace: Trace

    @cached_property
    def own(self) -> tuple[int, ...]:
        """The own time of each event, by its number."""
        own = [event.duration for event in self.trace.events]
        for event in self.trace.events:
            if event.parent is not None:
                own[event.parent] -= event.duration
        return tuple(max(time, 0) for time in own)

    @cached_property
    def own_memory(self) -> tuple[int | None, ...]:
        """The bytes that each event brought itself: what a nested op brought is an output of its outer op, too."""
        own = [event.memory for event in self.trace.events]
        for event in self.trace.events:
            around = own[event.parent] if event.parent is not None else None
            if event.parent is not None and around is not None:
                own[event.parent] = max(around - (event.memory or 0), 0)
        return tuple(own)

    @cached_property
    def whole(self) -> int:
        """Nanoseconds that all ops and nodes took together, on all threads."""
        return sum(self.own)

    def rows(self, by: By, *, shapes: bool = False) -> list[Row]:
        """The table, the most expensive first; ``shapes`` keeps the inputs of an op or node apart."""
        rows = self._by_module() if by == "module" else self._by_name(*self._of(by, shapes=shapes))
        return sorted(rows, key=lambda row: (-row.total, row.name) if by == "module" else (-row.own, row.name))

    def _of(self, by: By, *, shapes: bool) -> tuple[Iterable[Event], Callable[[Event], str]]:
        """The events of a table, and what is said of each beside its name: of a kernel, the nodes that it computes."""
        if by == "kernel":
            return [event for event in self.trace.ops if event.is_kernel], lambda event: ", ".join(event.nodes)
        return self.trace.nodes if by == "node" else self.trace.ops, _shapes_of if shapes else _no_shapes

    def _by_module(self) -> Iterable[Row]:
        """Each module with all that ran below it: its total is the own time of that."""
        rows = _Rows()
        for event in self.trace.events:
            own, path = self.own[event.number], event.module
            for name in _enclosing(path):
                cost = _half(rows[name, ""], event)
                cost.count += 1
                cost.total += own
                rows[name, ""].add_memory(self.own_memory[event.number])
            _half(rows[_name(path), ""], event).own += own
        return rows.values()

    def _by_name(self, events: Iterable[Event], shapes: Callable[[Event], str]) -> Iterable[Row]:
        rows = _Rows()
        for event in events:
            row = rows[event.name, shapes(event)]
            row.shapes = shapes(event)
            cost = _half(row, event)
            cost.count += 1
            cost.own += self.own[event.number]
            if not self._is_within_its_like(event):
                cost.total += event.duration
                row.add_memory(event.memory)
        return rows.values()

    def _is_within_its_like(self, event: Event) -> bool:
        """Whether the event's time is already in that of an outer event of the same name."""
        parent = event.parent
        while parent is not None:
            around = self.trace.events[parent]
            if around.name == event.name:
                return True
            parent = around.parent
        return False


class _Rows(defaultdict[tuple[str, str], Row]):
    def __missing__(self, key: tuple[str, str]) -> Row:
        row = self[key] = Row(key[0])
        return row


def _half(row: Row, event: Event) -> Cost:
    return row.backward if is_backward(event) else row.forward


def is_backward(event: Event) -> bool:
    """Whether it ran within a run of the engine."""
    return event.kind == "node" or event.reentrant > 0


def _name(path: str | None) -> str:
    return OUTSIDE if path is None else path or MODEL


def _enclosing(path: str | None) -> Iterator[str]:
    """The names of the module and of all that it is in."""
    if path is None:
        yield OUTSIDE
        return
    yield MODEL
    for index, letter in enumerate(path):
        if letter == ".":
            yield path[:index]
    if path:
        yield path


def _no_shapes(event: Event) -> str:
    del event
    return ""


def _shapes_of(event: Event) -> str:
    return tensors_text(event.inputs)


def tensors_text(infos: tuple[TensorInfo, ...] | None) -> str:
    """Tensors in a row, as ``float32[4, 16]``."""
    return ", ".join(map(str, infos or ()))
