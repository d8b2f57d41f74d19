"""Ranks that came to the same number of a group with another operation, shape, dtype or root."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.ranks.blame.waits import call_text, calls_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.ranks.collective import Collective
    from pyharness.model.ranks.rank import Rank
    from pyharness.ranks.blame.waits import Wait

_OF_ONE_SHAPE = ("all_reduce", "broadcast", "reduce", "reduce_scatter", "all_gather", "allreduce", "allgather")
"""Operations whose tensors have the same shape in each rank; ``all_gather`` of lists included."""


@frozen
class Mismatch:
    """One collective that ranks have called in different ways."""

    wait: Wait
    """The wait of a rank that is stuck in it."""
    odd: tuple[int, ...]
    """The ranks that differ from most others."""
    others: tuple[int, ...]
    odd_text: str
    other_text: str


def mismatches(waits: list[Wait], known: dict[int, Rank]) -> Iterator[Mismatch]:
    """The mismatch of each collective that ranks are stuck in, if it has one."""
    seen: set[tuple[str, int]] = set()
    for wait in waits:
        if wait.collective is None or (wait.group, wait.collective.sequence) in seen:
            continue
        seen.add((wait.group, wait.collective.sequence))
        found = _mismatch(wait, wait.collective, known)
        if found:
            yield found


def _mismatch(wait: Wait, stuck: Collective, known: dict[int, Rank]) -> Mismatch | None:
    calls = {
        number: one
        for number, rank in known.items()
        for one in calls_of(rank, wait.group)
        if one.sequence == stuck.sequence
    }
    texts = {number: _text(one, known[number]) for number, one in calls.items()}
    ways: dict[int, object] = {number: _way(one) for number, one in calls.items()}
    if len(set(ways.values())) == 1:
        ways = {number: root for number, one in calls.items() if (root := _root(one, known[number])) is not None}
    return _split(wait, ways, texts)


def _split(wait: Wait, ways: dict[int, object], texts: dict[int, str]) -> Mismatch | None:
    if len(set(ways.values())) < 2:
        return None
    common, many = Counter(ways.values()).most_common(1)[0]
    odd = tuple(sorted(number for number, way in ways.items() if way != common))
    others = tuple(sorted(number for number, way in ways.items() if way == common))
    if many == len(odd) and odd < others:  # as many as the others: the lowest rank is taken to be right
        odd, others = others, odd
    return Mismatch(wait, odd, others, texts[odd[0]], texts[others[0]])


def _way(one: Collective) -> tuple[object, ...]:
    shapes = (one.inputs, one.outputs) if one.operation.strip("_").startswith(_OF_ONE_SHAPE) else ()
    return one.operation, one.dtypes if shapes else (), shapes


def _root(one: Collective, rank: Rank) -> int | None:
    """The root that the rank's main thread has named, where it stands in that call."""
    if one.is_over or rank.asked is None or rank.asked.function != one.operation:
        return None
    return rank.asked.source if rank.asked.source is not None else rank.asked.target


def _text(one: Collective, rank: Rank) -> str:
    root = _root(one, rank)
    return call_text(one, f" of root {root}" if root is not None else "")
