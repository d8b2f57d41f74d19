"""A circle of ranks that wait for each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def circle(waits_for: Mapping[int, Sequence[int]]) -> list[tuple[int, int]]:
    """The shortest path from the lowest rank that comes back to it, as pairs of who waits and for whom; else empty."""
    for start in sorted(waits_for):
        path = _back_to(start, waits_for)
        if path:
            return path
    return []


def _back_to(start: int, waits_for: Mapping[int, Sequence[int]]) -> list[tuple[int, int]]:
    reached: dict[int, tuple[int, int]] = {}
    border = [start]
    while border:
        rank = border.pop(0)
        for other in waits_for.get(rank, ()):
            if other in reached:
                continue
            reached[other] = (rank, other)
            if other == start:
                return _path(start, reached)
            border.append(other)
    return []


def _path(start: int, reached: dict[int, tuple[int, int]]) -> list[tuple[int, int]]:
    path = [reached[start]]
    while path[-1][0] != start:
        path.append(reached[path[-1][0]])
    return path[::-1]
