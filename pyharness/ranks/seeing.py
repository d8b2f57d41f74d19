"""A job and its verdict; where stacks are all that is known, two looks must say the same, and who waits stand still."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pyharness.host import process_state
from pyharness.model.ranks.verdict import Verdict
from pyharness.ranks.blame.judging import judge
from pyharness.ranks.looking import look

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.model.ranks.job import Job
    from pyharness.ranks.finding import FoundJob

_BETWEEN = 2.0
"""Seconds for which those that wait must stand."""


def see(found: FoundJob, told: Callable[[int], None] = lambda _done: None) -> tuple[Job, Verdict]:
    """All ranks as they stand now, and who holds them up; ``told`` hears how many have been looked at."""
    job = look(found, told)
    verdict = judge(job)
    if not verdict.by_stacks:
        return job, verdict
    stood = _stand_still([rank.pid for rank in job.ranks if rank.number in verdict.waiting])
    job = look(found, told)
    again = judge(job)
    if again == verdict and stood:
        return job, again
    text = "The ranks move, and keep no record of their collectives: nobody can be blamed."
    return job, Verdict("unknown", text, waiting=again.waiting, by_stacks=True)


def _stand_still(pids: list[int]) -> bool:
    """Whether the main threads of all these ranks wait all the time, for a while."""
    before = [process_state.switches(pid) for pid in pids]
    time.sleep(_BETWEEN)
    return before == [process_state.switches(pid) for pid in pids]
