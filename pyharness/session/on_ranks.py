"""Plays a plan on ranks of a job, on all of them at once: they wait for each other."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING

from pyharness.session.run import run_on

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.debugger.api.job import Job
    from pyharness.model.transcript import Transcript
    from pyharness.session.plan import Plan
    from pyharness.session.run import Entry

_LATE = 10.0
"""Seconds that a rank may come after the others are done, where nothing says how many there are."""


def run_on_ranks(
    job: Job,
    named: tuple[int, ...],
    plan: Plan,
    watch: Callable[[int, Entry], None],
    notes: Callable[[str], None] | None = None,
) -> dict[int, Transcript]:
    """Play ``plan`` on each rank that is ``named``, all of the job's for none; by rank what came of it.

    ``watch`` is told which rank has come to what, on the thread of that rank. A rank that does not come is an error of
    its transcript.
    """
    made: dict[int, Transcript] = {}
    threads: dict[int, threading.Thread] = {}
    done_at = [time.monotonic()]

    def play(rank: int) -> None:
        def note(text: str) -> None:
            if notes:
                notes(f"rank {rank}: {text}")

        made[rank] = run_on(lambda: job.rank(rank), plan, partial(watch, rank), note, closes=False)
        done_at[0] = time.monotonic()

    def enough() -> bool:
        """Whether those that came are done and held, which a job that is to be killed would never end by."""
        return plan.kill and 0 < len(threads) == len(made) and time.monotonic() > done_at[0] + _LATE

    for rank in job.coming(enough):
        threads[rank] = _started(play, rank)
    for thread in threads.values():
        thread.join()
    for rank in set(named) - set(threads):  # the job has ended
        play(rank)
    return dict(sorted(made.items()))


def _started(play: Callable[[int], None], rank: int) -> threading.Thread:
    thread = threading.Thread(target=play, args=(rank,), name=f"pyharness-rank-{rank}", daemon=True)
    thread.start()
    return thread
