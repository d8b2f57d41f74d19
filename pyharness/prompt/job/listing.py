"""The list of a job's ranks: who stands where, and who runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.model.text.ranges import in_ranges
from pyharness.model.text.stack_format import place_text
from pyharness.model.text.styled_line import Line, in_parts
from pyharness.prompt.completion import Candidate, candidates
from pyharness.prompt.job.lines import OF_JOBS

_FOR_RANKS = re.compile(r"(?:rank\s+\d+|all)\s*:\s*")

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


def help_lines() -> Iterator[Line]:
    """The commands of a job, before those of a rank."""
    yield Line("ranks", "heading")
    for usage, about in OF_JOBS.items():
        yield in_parts((f"  {usage:<24}", "place"), (about, ""))


def completed(job: JobSession, line: str) -> list[Candidate]:
    """What a line may go on with: for the job, or for the rank that the prompt is of."""
    rank = job.current
    prefix = _FOR_RANKS.match(line)
    found = candidates(rank.session, line[prefix.end() :] if prefix else line) if rank else []
    words = [re.sub(r"\b(N|COMMAND)\b.*", "", usage) for usage in OF_JOBS]
    own = [Candidate(word, len(line), "of the job") for word in dict.fromkeys(words) if word.startswith(line)]
    begun = re.fullmatch(r"rank (\d*)", line)
    numbers = [str(each) for each in job.ranks if begun and str(each).startswith(begun[1])]
    return [*own, *(Candidate(each, len(line) - 5, "a rank") for each in numbers), *found]


def _state(rank: Rank) -> str:
    position = rank.session.position
    if rank.state == "stands" and position is not None:
        frame = position.top.frame
        where = place_text(frame)
        return f"stands in {frame.function}  {where}"
    if rank.state == "starts" and rank.is_running:
        return "runs to its first place"
    return {"over": "has ended", "starts": "starts", "stands": "stands"}.get(rank.state, "runs")
