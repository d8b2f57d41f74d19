"""One look at a job after another: which ranks have moved between two, and since when the others stand."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pyharness.model.ranks.numbers import named
from pyharness.model.text.styled_line import Line
from pyharness.ranks.blame.activity import of_rank, users_frames

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.ranks.job import Job
    from pyharness.model.ranks.rank import Rank


class Watch:
    """What was seen of each process so far."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, int], tuple[object, float]] = {}

    def lines(self, job: Job) -> Iterator[Line]:
        """What has moved since the last look, and since when the others stand; nothing at the first look."""
        first = not self._seen
        standing: dict[str, list[int]] = {}
        moved: list[int] = []
        # Hosts answer one after the other: the time of the last is true of all, and one line can name them.
        now = max((rank.taken for rank in job.ranks), default=0.0)
        for rank in job.ranks:
            process = rank.host, rank.pid
            before, since = self._seen.get(process, (None, now))
            where = _where(rank)
            has_moved = rank.moved or where != before
            self._seen[process] = (where, now if has_moved else since)
            if rank.number is None:
                continue
            if has_moved:
                moved.append(rank.number)
            else:
                standing.setdefault(time.strftime("%H:%M:%S", time.localtime(since)), []).append(rank.number)
        if first:
            return
        if moved:
            yield Line(f"moved since the last look: {named(moved)}", "good")
        for since_text, ranks in sorted(standing.items()):
            yield Line(f"stands since {since_text} or longer: {named(ranks)}", "warn")


def _where(rank: Rank) -> object:
    """What is the same for a rank that stands: its lines, what it does, and how many collectives it has called."""
    frames = users_frames(rank.main.frames) if rank.main else []
    lines = tuple((frame.file, frame.function, frame.line) for frame in frames)
    calls = tuple((group.name, max((one.sequence for one in group.collectives), default=0)) for group in rank.groups)
    return lines, of_rank(rank).kind, calls
