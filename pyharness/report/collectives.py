"""For whom the ranks of a job wait, by the recordings of all of them.

A collective is an op of ``c10d``, whose event begins as its rank comes to it. The n-th of each rank are one collective:
the last rank to come has all others wait.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyharness.model.ranks.numbers import named
from pyharness.report import units
from pyharness.report.summary import is_backward

if TYPE_CHECKING:
    from pyharness.model.results.trace import Event, Trace

_PREFIX = "c10d::"
_OF_TWO = {"c10d::send", "c10d::recv_", "c10d::recv_any_source_"}
"""Ops that only some ranks run."""


@dataclass
class Waits:
    """One op of all ranks, as often as they ran it."""

    name: str
    count: int = 0
    longest: int = 0
    """Nanoseconds from the first rank's coming to the last one's, at most."""
    last: Counter[int] = field(default_factory=Counter)
    """Rank → nanoseconds for which the first one waited, where it was the last."""

    @property
    def total(self) -> int:
        """Nanoseconds that the first rank has waited in all."""
        return self.last.total()

    @property
    def blamed(self) -> str:
        """The rank that had others wait longest, and its share."""
        rank, waited = self.last.most_common(1)[0]
        if not waited:
            return "nobody"
        return f"rank {rank} ({units.share(waited, self.total)})"

    def add(self, starts: dict[int, int]) -> None:
        """One more collective; ``starts``: rank → when it came."""
        late = max(starts, key=lambda rank: starts[rank])
        waited = starts[late] - min(starts.values())
        self.count, self.longest = self.count + 1, max(self.longest, waited)
        self.last[late] += waited


def waits_of(trace: Trace) -> tuple[list[Waits], str]:
    """The collectives of a trace of several ranks, longest waits first; and what could not be compared, in words."""
    ranks = _collectives(trace)
    names = {rank: [event.name for event in events] for rank, events in ranks.items()}
    shortest = min(map(len, names.values()), default=0)
    common = next((at for at in range(shortest) if len({each[at] for each in names.values()}) > 1), shortest)
    found: dict[str, Waits] = {}
    for at in range(common):
        row = {rank: events[at] for rank, events in ranks.items()}
        name = _name(next(iter(row.values())))
        found.setdefault(name, Waits(name)).add({rank: event.start for rank, event in row.items()})
    return sorted(found.values(), key=lambda waits: -waits.total), _not_compared(names, common)


def _name(event: Event) -> str:
    return f"{event.name} in backward" if is_backward(event) else event.name


def _collectives(trace: Trace) -> dict[int, list[Event]]:
    """Rank → its collectives, in the order in which it came to them."""
    found: dict[int, list[Event]] = defaultdict(list, {rank: [] for rank in sorted(set(trace.ranks.values()))})
    for event in trace.events:
        if event.name.startswith(_PREFIX) and event.name not in _OF_TWO:
            found[trace.ranks[event.thread]].append(event)
    return found


def _not_compared(names: dict[int, list[str]], common: int) -> str:
    """Why collectives behind the first ``common`` ones are left out; empty where none are."""
    if all(len(of_rank) == common for of_rank in names.values()):
        return ""
    before = f"behind {units.number(common, 'collective')}"
    ended = [rank for rank, of_rank in names.items() if len(of_rank) == common]
    if ended:
        return f"{before} {named(ended)} ran no more, and others did: these are not compared."
    here = " and ".join(sorted({of_rank[common] for of_rank in names.values()}))
    return f"{before} the ranks ran different ones ({here}), as in groups of their own: these are not compared."
