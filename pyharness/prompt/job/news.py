"""Who has come to a stop while the prompt was another's, in the order in which they came."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyharness.prompt.job.rank import Rank


class News:
    """Ranks, or processes, that a person has not spoken with since they stopped."""

    def __init__(self) -> None:
        self._came: list[Rank] = []

    def __bool__(self) -> bool:
        return bool(self._came)

    def add(self, rank: Rank) -> None:
        """One has come to a stop."""
        if rank not in self._came:
            self._came.append(rank)

    def take(self, rank: Rank) -> bool:
        """Take one out; whether it was news."""
        was = rank in self._came
        if was:
            self._came.remove(rank)
        return was

    def first(self) -> Rank | None:
        """Take out the one that came first, if any has."""
        return self._came.pop(0) if self._came else None

    def noticed(self) -> list[int]:
        """Say which ones a person was not told of yet, by number: now that happens."""
        new = [rank.number for rank in self._came if not rank.noticed]
        for rank in self._came:
            rank.noticed = True
        return new
