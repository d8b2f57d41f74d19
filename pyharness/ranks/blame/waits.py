"""Which rank waits in what for which others, from the calls that all ranks have noted."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.model.text.source_line import short_path
from pyharness.ranks.blame.activity import of_rank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyharness.model.ranks.collective import Collective, Group
    from pyharness.model.ranks.job import Job
    from pyharness.model.ranks.rank import Rank

WORLD = "default_pg"
_UNRECORDED = "monitored_barrier"
"""A collective of Gloo's that the recorder does not note."""
_NEW_GROUP = "new_group"
_STARTS = 5.0
"""Seconds that a rank may need until it comes to the store: it imports torch first."""


@frozen
class Wait:
    """One rank that waits, and who has not come."""

    rank: int
    what: str
    """What it waits in, as ``all_reduce #4 of default_pg``."""
    missing: tuple[int, ...]
    """Ranks that take part, and have not called it; none where all have."""
    seconds: float
    """For how long it has waited at least; 0 where that is not known."""
    longest: float = 0.0
    """Seconds between two calls of that group before, the longest that is known."""
    group: str = ""
    collective: Collective | None = None


def waits_of(job: Job) -> list[Wait]:
    """Every wait of every rank that has a number: at most one for each of its groups."""
    known = {rank.number: rank for rank in job.ranks if rank.number is not None}
    come = _Come(known, job.world)
    return [wait for number, rank in known.items() for wait in _of_rank(rank, number, come, job)]


class _Come:
    """How far all ranks have come in each group: looked up a million times for a thousand ranks."""

    def __init__(self, known: dict[int, Rank], world: int) -> None:
        self.known, self._world = known, world
        self._unrecorded = {number for number, rank in known.items() if rank.record_note and not rank.groups}
        self._last: dict[str, dict[int, int]] = {}
        for number, rank in known.items():
            for group in rank.groups:
                made = [one.sequence for one in group.collectives if not one.is_message]
                self._last.setdefault(group.name, {})[number] = max(made, default=0)

    def lacking(self, group: Group, sequence: int) -> tuple[int, ...]:
        """The members of a group that have not called that number; of one without a record nobody knows."""
        last = self._last[group.name]
        return tuple(
            member
            for member in group.ranks or self._guessed(group)
            if last.get(member, 0) < sequence and not self._is_unknown(member)
        )

    def _guessed(self, group: Group) -> Iterable[int]:
        """Where the rank does not know them: all, or those that have called something of it."""
        return range(self._world) if group.description == WORLD else self._last[group.name]

    def _is_unknown(self, member: int) -> bool:
        return member in self._unrecorded and self.known[member].state == "running"


def _of_rank(rank: Rank, number: int, come: _Come, job: Job) -> Iterator[Wait]:
    known = come.known
    found = [wait for group in rank.groups for wait in _in_group(rank, number, group, come)]
    yield from found
    if found:
        return
    if rank.asked and rank.asked.source is not None and "recv" in rank.asked.function:
        yield Wait(number, "recv", _not_sending(known, rank.asked.source, number), rank.rested)
    elif rank.asked and rank.asked.of_all and rank.asked.function == _UNRECORDED:
        absent = [other for other in range(job.world) if not _is_asking(known.get(other), _UNRECORDED)]
        yield Wait(number, _UNRECORDED, tuple(absent), rank.rested)
    elif rank.asked and rank.asked.function == _NEW_GROUP:
        members = [member for member in rank.asked.members if 0 <= member < job.world] or range(job.world)
        absent = [other for other in members if not _is_asking(known.get(other), _NEW_GROUP)]
        yield Wait(number, _NEW_GROUP, tuple(absent), rank.rested)
    elif of_rank(rank).kind == "store":
        yield _at_the_store(rank, number, known, job)


def _at_the_store(rank: Rank, number: int, known: dict[int, Rank], job: Job) -> Wait:
    """All must come before a group begins; a rank that was started a moment ago is on its way."""
    late = [other for other in known.values() if not _has_begun(other)]
    missing = sorted([*(other.number or 0 for other in late), *job.missing])
    begun = max((other.started for other in (rank, *late)), default=0.0)
    waited = max(0.0, rank.taken - begun)
    return Wait(number, "the rendezvous store", tuple(missing), waited, _STARTS)


def _not_sending(known: dict[int, Rank], source: int, target: int) -> tuple[int, ...]:
    """The source, unless it is in a call that sends."""
    asked = known[source].asked if source in known else None
    return () if asked and "send" in asked.function and asked.target in {None, target} else (source,)


def _is_asking(rank: Rank | None, function: str) -> bool:
    return bool(rank and rank.asked and rank.asked.function == function)


def _has_begun(rank: Rank) -> bool:
    """Whether a rank has come to the rendezvous, or is through with it."""
    return bool(rank.groups) or of_rank(rank).kind == "store"


def _in_group(rank: Rank, number: int, group: Group, come: _Come) -> Iterator[Wait]:
    pending = [one for one in group.collectives if not one.is_over and not one.is_message]
    if not pending:
        return
    first = min(pending, key=lambda one: one.sequence)
    missing = tuple(member for member in come.lacking(group, first.sequence) if member != number)
    waited = max(0.0, rank.taken - first.created)
    yield Wait(number, _text(first, group), missing, waited, _longest_gap(group), group.name, first)


def calls_of(rank: Rank, group: str) -> list[Collective]:
    """What a rank has called of a group, but for messages between two ranks."""
    return [one for each in rank.groups if each.name == group for one in each.collectives if not one.is_message]


def _longest_gap(group: Group) -> float:
    made = sorted(one.created for one in group.collectives if one.created)
    return max((later - earlier for earlier, later in pairwise(made)), default=0.0)


def _text(one: Collective, group: Group) -> str:
    return f"{one.operation} #{one.sequence} of {group_text(group)}"


def group_text(group: Group) -> str:
    """The group's name for people."""
    described = group.description if re.search(r"\w", group.description) and group.description != "undefined" else ""
    if described == WORLD:
        return described
    return f"group {group.name}{f' ({described})' if described else ''}"


def shapes_text(one: Collective) -> str:
    """``float32 [4, 8]`` of the inputs, or of the outputs where there are none; empty for a barrier."""
    shapes = one.inputs or one.outputs
    dtypes = sorted(set(one.dtypes))
    some = [str(list(shape)) for shape in dict.fromkeys(shapes)]
    more = f" and {len(some) - 3} more" if len(some) > 3 else ""
    return " ".join([*dtypes, ", ".join(some[:3]) + more]).strip()


def call_text(one: Collective, more: str = "") -> str:
    """The call for people: ``all_reduce float32 [4, 8] (train.py:88)``."""
    place = f" ({short_path(one.place)})" if one.place else ""
    return f"{one.operation} {shapes_text(one)}".strip() + more + place
