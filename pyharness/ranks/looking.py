"""Looks at all ranks of a job at once: each stands for some milliseconds, and nothing is left attached.

Processes of ours take turns with the ranks, one for each processor. Two short looks before and after tell what moves.
"""

from __future__ import annotations

import os
import socket
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING

from pyharness.host import process_state
from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen
from pyharness.model.ranks.job import Job
from pyharness.model.ranks.rank import Rank
from pyharness.ranks.finding import workers_of
from pyharness.ranks.processes import Table
from pyharness.reading.live.rank import read_rank, recorded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyharness.model.ranks.rank import State
    from pyharness.ranks.finding import FoundJob, Member
    from pyharness.ranks.processes import Process

    Busy = tuple[tuple[int, float], ...]

SHORTEST = 0.5
"""Seconds from the first look to the last: what moves is seen to move."""
_A_TENTH = 0.1
"""A share of a core: what computes less than that waits."""


def look(found: FoundJob, told: Callable[[int], None] = lambda _done: None) -> Job:
    """All ranks as they stand now; ``told`` hears how many have been looked at."""
    count = min(len(found.members), os.cpu_count() or 1) or 1
    pids = [member.process.pid for member in found.members]
    with ProcessPoolExecutor(count, mp_context=get_context("fork")) as pool:
        begun, before = time.monotonic(), list(pool.map(_motion, pids))
        looks = []
        for done, rank in enumerate(pool.map(_look, found.members), 1):
            looks.append(rank)
            told(done)
        time.sleep(max(0.0, begun + SHORTEST - time.monotonic()))
        after = list(pool.map(_motion, pids))
    ranks = map(partial(_with_motion, time.monotonic() - begun), looks, before, after)
    launcher = found.launcher.pid if found.launcher else 0
    return Job(found.name, tuple(sorted(ranks, key=_order)), launcher)


@frozen
class _Motion:
    """What tells from another look whether a process moves."""

    seconds: dict[int, float]
    """Processor time of each thread."""
    calls: int | None
    """How many collectives it has called; ``None`` where that is not known."""
    rested: float
    """Seconds since its main thread last ran."""
    reads_input: tuple[int, ...]
    """Threads that wait for standard input."""


def _motion(pid: int) -> _Motion:
    rested = process_state.rested(pid)  # before anything of ours has it run
    reads_input = process_state.waiting_for_input(pid)
    return _Motion(process_state.processor_times(pid), recorded(pid), rested, reads_input)


def _with_motion(seconds: float, rank: Rank, before: _Motion, after: _Motion) -> Rank:
    busy = busy_threads(before.seconds, after.seconds, seconds)
    moved = before.calls is not None and after.calls is not None and before.calls != after.calls
    rested = round(before.rested, 1)
    return replace(rank, busy=busy, moved=moved, rested=rested, reads_input=after.reads_input)


def busy_threads(before: Mapping[int, float], after: Mapping[int, float], seconds: float) -> Busy:
    """Threads that compute, each with its share of a core, by their processor times at two looks."""
    shares = {lwp: round((spent - before[lwp]) / seconds, 2) for lwp, spent in after.items() if lwp in before}
    return tuple((lwp, share) for lwp, share in shares.items() if share >= _A_TENTH)


def _order(rank: Rank) -> tuple[bool, int, int]:
    return rank.number is None, rank.number or 0, rank.pid


def _look(member: Member) -> Rank:
    given = member.given
    rank = look_at(member.process)
    return replace(
        rank,
        number=rank.number if given is None else given.rank,
        world=rank.world if given is None or given.world is None else given.world,
        local=given.local if given else None,
        workers=tuple(look_at(worker) for worker in member.workers),
    )


def workers_below(pid: int, most: int) -> tuple[Rank, ...]:
    """What a process has started that runs Python, as it stands; none of who looks."""
    table = Table()
    own = {os.getpid(), *(one.pid for one in table.ancestors(os.getpid()))}
    return tuple(map(look_at, [one for one in workers_of(pid, table) if one.pid not in own][:most]))


def look_at(process: Process) -> Rank:
    """A process with all that can be read of it; what cannot is said."""
    base = Rank(
        None,
        socket.gethostname(),
        process.pid,
        process.parent,
        process.script,
        started=process_state.started_at(process.pid),
        taken=time.time(),
    )
    state = _state(process.pid)
    try:
        seen = read_rank(process.pid)
    except HarnessError as error:
        gone = process_state.has_ended(process.pid)
        return replace(base, state="ended" if gone else _unread(state), note=f"{error.message} {error.remedy}".rstrip())
    record, stacks = seen.record, seen.stacks
    return replace(
        base,
        number=record.rank,
        world=record.world,
        state=state,
        threads=stacks.threads,
        groups=record.groups,
        record_note=record.note,
        asked=seen.asked,
        raised=seen.raised,
        torch=seen.torch or "",
        held=round(stacks.held, 4),
    )


def _unread(state: State) -> State:
    return "unreadable" if state == "running" else state


def _state(pid: int) -> State:
    if process_state.is_stopped(pid):
        return "stopped"
    return "traced" if process_state.debugger_of(pid) else "running"
