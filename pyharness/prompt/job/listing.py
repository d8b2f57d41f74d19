"""The list of a job's ranks: who stands where, and who runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.text.ranges import in_ranges
from pyharness.model.text.source_line import short_path
from pyharness.model.text.styled_line import Line, in_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.prompt.job.rank import Rank
    from pyharness.prompt.job.session import JobSession


def rank_lines(job: JobSession) -> Iterator[Line]:
    """One line for each that is debugged, one for all others."""
    for number, rank in sorted(job.ranks.items()):
        mark = "*" if rank is job.current else " "
        yield in_parts((f"{mark} {number}  process {rank.pid}  ", ""), (_state(rank), "place"))
    if others := in_ranges(job.others):
        yield Line(f"  {others}  not debugged: they run, and take part in what the others call", "faint")


def _state(rank: Rank) -> str:
    position = rank.session.position
    if rank.state == "stands" and position is not None:
        frame = position.top.frame
        where = f"{short_path(frame.file)}:{frame.line}" if frame.file else "?"
        return f"stands in {frame.function}  {where}"
    return {"over": "has ended", "starts": "starts", "stands": "stands"}.get(rank.state, "runs")
