"""The list of a job's ranks, or of a program's processes: who stands where, and who runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.model.text.ranges import in_ranges
from pyharness.model.text.stack_format import place_text
from pyharness.model.text.styled_line import Line, in_parts
from pyharness.prompt.completion import Candidate, candidates
from pyharness.prompt.job.lines import usages

_MOST = 1 << 16
"""Ranks of a job, of which each says how many there are."""

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.prompt.job.members import Members
    from pyharness.prompt.job.rank import Rank
    from pyharness.prompt.job.session import JobSession


def rank_lines(job: JobSession) -> Iterator[Line]:
    """One line for each that is debugged, one for all others, one for those that have not come."""
    for number, rank in sorted(job.ranks.items()):
        mark = "*" if rank is job.current else " "
        yield in_parts((f"{mark} {number}  {_who(rank)}  ", ""), (_state(rank), "place"))
    if others := in_ranges(job.others):
        yield Line(f"  {others}  not debugged: they run, and take part in what the others call", "faint")
    called = {*job.ranks, *job.others}
    if missing := in_ranges(number for number in range(min(job.world, _MOST)) if number not in called):
        yield Line(f"  {missing}  have not called in: they have not begun, or run on another host", "faint")


def help_lines(members: Members) -> Iterator[Line]:
    """The commands of all together, before those of one."""
    yield Line(members.many, "heading")
    for usage, about in usages(members).items():
        yield in_parts((f"  {usage:<24}", "place"), (about, ""))


def completed(job: JobSession, line: str) -> list[Candidate]:
    """What a line may go on with: for all together, or for the one that the prompt is of."""
    rank, one = job.current, job.members.one
    prefix = re.match(rf"(?:{one}\s+\d+|all)\s*:\s*", line)
    found = candidates(rank.session, line[prefix.end() :] if prefix else line) if rank else []
    words = [re.sub(r"\b(N|COMMAND)\b.*", "", usage) for usage in usages(job.members)]
    own = [
        Candidate(word, len(line), f"of the {job.members.whole}")
        for word in dict.fromkeys(words)
        if word.startswith(line)
    ]
    begun = re.fullmatch(rf"{one} (\d*)", line)
    numbers = [str(each) for each in job.ranks if begun and str(each).startswith(begun[1])]
    return [*own, *(Candidate(each, len(line) - len(one) - 1, f"a {one}") for each in numbers), *found]


def _who(rank: Rank) -> str:
    """The process; of one that was started by another, what that calls it, too."""
    return f"process {rank.pid}" if rank.is_rank else f"{rank.pid}  {rank.name}"


def _state(rank: Rank) -> str:
    position = rank.session.position
    if rank.state == "stands" and position is not None:
        frame = position.top.frame
        where = place_text(frame)
        return f"stands in {frame.function}  {where}"
    if rank.state == "starts" and rank.is_running and rank.is_rank:
        return "runs to its first place"
    if rank.is_running:
        return "runs"
    return {"over": "has ended", "starts": "starts", "stands": "stands"}.get(rank.state, "runs")
