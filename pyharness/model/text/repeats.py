"""Finds what repeats in a list: a recursion's frames, of one function or of several that call each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

_LONGEST = 16
"""Items of a period."""
_FEWEST = 5
"""Times that are worth a word."""


class Run(NamedTuple):
    """Items that come ``times`` times, one behind the other."""

    start: int
    period: int
    times: int


def runs(items: Sequence[Hashable]) -> Iterator[Run]:
    """All items in order, as runs; what does not repeat comes one by one."""
    start = 0
    while start < len(items):
        run = next((run for run in _beginning(items, start) if run.times >= _FEWEST), Run(start, 1, 1))
        yield run
        start += run.period * run.times


def _beginning(items: Sequence[Hashable], start: int) -> Iterator[Run]:
    for period in range(1, min(_LONGEST, (len(items) - start) // _FEWEST) + 1):
        end = start + period
        while end < len(items) and items[end] == items[end - period]:
            end += 1
        yield Run(start, period, (end - start) // period)
