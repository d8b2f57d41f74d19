"""The recordings of all ranks of a job on one axis of time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyharness.model.errors import UsageError
from pyharness.model.ranks.numbers import named
from pyharness.model.results.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyharness.model.results.trace import Event

_THREADS_BELOW = 1 << 22
"""Kernel thread ids are below it; those of several hosts may be the same."""


def merged(traces: Sequence[Trace]) -> Trace:
    """One trace, whose time begins with the first rank's; each thread has its rank in its name.

    ``UsageError`` where one of several recordings is of no rank, or two are of one. A recording alone stays as it is.
    """
    if len(traces) == 1:
        return traces[0]
    ranks = {_rank(trace): trace for trace in traces}
    if len(ranks) < len(traces):
        counts = [_rank(trace) for trace in traces]
        twice = sorted({rank for rank in counts if counts.count(rank) > 1})
        raise UsageError(f"Two recordings are of rank {twice[0]}.", "Name one of each rank, of one run.")
    if len({trace.run for trace in traces}) > 1:
        raise UsageError("The recordings are of several runs.", "Name those of one: torchrun gives each run a port.")
    first = min(trace.begun + (trace.behind or 0) for trace in traces)
    numbers = _numbers(ranks)
    return Trace(
        events=tuple(_in_one_order(ranks, numbers, first)),
        graph_tasks=tuple(
            replace(task, thread=numbers[rank, task.thread], start=task.start + _later(trace, first))
            for rank, trace in ranks.items()
            for task in trace.graph_tasks
        ),
        lost=sum(trace.lost for trace in traces),
        threads={
            number: f"rank {rank} {ranks[rank].threads.get(thread, '')}".rstrip()
            for (rank, thread), number in numbers.items()
        },
        program=f"{traces[0].program}, {named(sorted(ranks))}",
        children=sum(trace.children for trace in traces),
        begun=first,
        host=", ".join(sorted({trace.host for trace in traces})),
        notes=_notes(traces),
        ranks={number: rank for (rank, _), number in numbers.items()},
    )


def _later(trace: Trace, first: int) -> int:
    """How much later than ``first`` the recording began, by the first rank's clock."""
    return trace.begun + (trace.behind or 0) - first


def _notes(traces: Sequence[Trace]) -> tuple[str, ...]:
    """What the measured clocks may be wrong by, and which could not be measured; nothing of one host."""
    hosts = sorted({trace.host for trace in traces})
    unknown = sorted({trace.host for trace in traces if trace.behind is None})
    said = tuple(dict.fromkeys(note for trace in traces for note in trace.notes))
    if len(hosts) == 1 or not unknown:
        return said
    return *said, f"the clock of {', '.join(unknown)} is taken as it is: what it is wrong by is a wait here."


def _rank(trace: Trace) -> int:
    if trace.rank is None:
        raise UsageError(
            "A recording is of no rank of a job.", "Recordings of ranks are put together, as torchrun starts them."
        )
    return trace.rank


def _numbers(ranks: dict[int, Trace]) -> dict[tuple[int, int], int]:
    """Rank and thread → the thread's number, which no other thread has."""
    threads = [
        (rank, thread)
        for rank, trace in sorted(ranks.items())
        for thread in dict.fromkeys([*trace.threads, *(task.thread for task in trace.graph_tasks)])
    ]
    apart = len({thread for _, thread in threads}) == len(threads)
    return {(rank, thread): thread if apart else (rank + 1) * _THREADS_BELOW + thread for rank, thread in threads}


def _in_one_order(ranks: dict[int, Trace], numbers: dict[tuple[int, int], int], first: int) -> Iterator[Event]:
    """All events in order of start, numbered anew."""
    moved = [
        (rank, replace(event, thread=numbers[rank, event.thread], start=event.start + _later(trace, first)))
        for rank, trace in ranks.items()
        for event in trace.events
    ]
    moved.sort(key=lambda one: (one[1].start, one[0], one[1].number))
    places = {(rank, event.number): place for place, (rank, event) in enumerate(moved)}
    for place, (rank, event) in enumerate(moved):
        yield replace(
            event,
            number=place,
            parent=None if event.parent is None else places[rank, event.parent],
            forward=None if event.forward is None else places[rank, event.forward],
        )
