"""Finds the jobs of this host: which processes are ranks of one, who launched them, and which work for a rank."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pyharness.model.errors import UsageError, nearest
from pyharness.model.frozen import frozen
from pyharness.ranks.processes import SPAWNED, Given, Table, given, slurm_job_here
from pyharness.ranks.slurm import srun_at
from pyharness.reading.live.rank import group_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.ranks.processes import Process

_HOW = "Name a rank or the launcher by its PID, or by a part of its command line."
_LONGEST = 80
_FIRST = 1
"""The process that gets the children of those that have ended."""
_FEW = 2
"""Processes that one parent has started, without a launcher's word, to be taken for a job."""


@frozen
class Member:
    """A process of a job."""

    process: Process
    given: Given | None
    """What its launcher told it; ``None`` for one that ``multiprocessing`` started."""
    workers: tuple[Process, ...] = ()


@frozen
class FoundJob:
    """A job by its processes."""

    members: tuple[Member, ...]
    launcher: Process | None
    pids: frozenset[int]
    """All of it, launcher and workers too."""

    @property
    def parent(self) -> int:
        """The process that has started its first rank, which may be another user's; 0 where it has ended."""
        parent = self.members[0].process.parent
        return parent if parent != _FIRST else 0

    @property
    def name(self) -> str:
        """What its ranks run; where they are of ``multiprocessing``, what has started them."""
        names = [member.process.script for member in self.members]
        if self.launcher and set(names) <= {SPAWNED}:
            return self.launcher.script
        return next(iter(names), "")


def find(target: str | None) -> FoundJob:
    """The job of a process, of a part of a command line, or the only one; `UsageError` where that is not one."""
    table = Table()
    jobs = _jobs(table, _own(table))
    if target is None:
        if of_slurm := [job for job in jobs if _is_of_slurm_job_here(job)]:
            jobs = of_slurm
        return _only(jobs, "", "There is no distributed job of yours on this host.")
    if target.isascii() and target.isdecimal():
        return _of_process(table, jobs, int(target))
    running = {pid: " ".join(one.words) for pid, one in table.processes.items() if pid not in _own(table)}
    named = [job for job in jobs if any(target in running.get(pid, "") for pid in job.pids)]
    if not named:
        words = {part.rpartition("/")[2] for job in jobs for pid in job.pids for part in running.get(pid, "").split()}
        near = nearest(target, sorted(words))
        raise UsageError(f"No distributed job of yours has {target!r} in a command line.", near or _HOW)
    return _only(named, f" with {target!r} in a command line", "")


def find_from_within(pid: int) -> FoundJob | None:
    """The job of a process that has started this one; ``None`` where it is no rank."""
    return next((job for job in _jobs(Table(), {os.getpid()}) if pid in job.pids), None)


def find_alike(job: tuple[str, ...]) -> FoundJob:
    """The job whose ranks have these variables in common (``Given.job``); `UsageError` where none is left."""
    for found in _jobs(Table(), {os.getpid()}):
        if any(member.given and member.given.job == job for member in found.members):
            return found
    raise UsageError("Its ranks have ended.")


def _is_of_slurm_job_here(job: FoundJob) -> bool:
    """Whether ``srun --overlap`` has started us in that job: of others on this host nobody speaks."""
    here = slurm_job_here()
    return bool(here) and any(one.given.slurm_job == here for one in job.members if one.given)


def _only(jobs: list[FoundJob], which: str, nothing: str) -> FoundJob:
    if not jobs:
        raise UsageError(nothing, f"{_HOW} Jobs of other users are seen by root alone.")
    if len(jobs) == 1:
        return jobs[0]
    listed = "\n".join(
        f"  {(job.launcher or job.members[0].process).pid:>7}  {len(job.members)} ranks of {job.name}" for job in jobs
    )
    raise UsageError(f"There are {len(jobs)} jobs{which}:\n{listed}", "Name one by its PID.")


def _of_process(table: Table, jobs: list[FoundJob], pid: int) -> FoundJob:
    if found := next((job for job in jobs if pid in job.pids), None):
        return found
    if pid not in table.processes:
        raise UsageError(f"There is no process {pid} of yours.", _HOW)
    below = {one.pid for one in table.descendants(pid)}
    if started_jobs := [job for job in jobs if below & job.pids]:
        return _only(started_jobs, f" below process {pid}", "")
    own = _own(table)
    started = [one for one in table.descendants(pid) if _may_be_one(one) and one.pid not in own]
    if not started and not _may_be_one(table.processes[pid]):
        raise UsageError(f"Process {pid} is no rank, and has started none.", _HOW)
    members = tuple(Member(one, None) for one in started) or (Member(table.processes[pid], None),)
    return FoundJob(members, table.processes[pid] if started else None, frozenset({pid}))


def _jobs(table: Table, own: set[int]) -> list[FoundJob]:
    told = {pid: found for pid in table.processes if (found := given(pid)) and pid not in own}
    found_ranks = [pid for pid in told if _is_rank(table, told, pid)]
    launchers = {one.pid for pid in found_ranks for one in table.ancestors(pid)}  # one of srun's may be torchrun
    ranks = [Member(table.processes[pid], told[pid]) for pid in found_ranks if pid not in launchers]
    by_job: dict[tuple[str, ...], list[Member]] = {}
    for member in ranks:
        common = member.given.job if member.given else ()
        key = common if any(common) else (str(member.process.parent),)
        by_job.setdefault(key, []).append(member)
    taken = {member.process.pid for member in ranks}
    return [_job(table, members) for members in (*map(_of_last_try, by_job.values()), *_spawned(table, taken))]


def _of_last_try(members: list[Member]) -> list[Member]:
    """Without what ranks have left behind that torchrun has begun anew: their children have their variables."""
    last: dict[int, int] = {}
    for one in members:
        if one.given:
            last[one.given.rank] = max(last.get(one.given.rank, 0), one.given.restarts)
    return [one for one in members if not one.given or one.given.restarts == last[one.given.rank]]


def _is_rank(table: Table, told: dict[int, Given], pid: int) -> bool:
    """The outermost process of a rank that runs Python, or torch without Python: all below it have its variables."""
    if not _may_be_one(table.processes[pid]):
        return False
    above = table.ancestors(pid)
    return not any(one.looks or (told.get(one.pid) == told[pid] and _may_be_one(one)) for one in above)


def _may_be_one(process: Process) -> bool:
    return not process.is_over and not process.is_helper and (process.runs_python or _has_torch(process.pid))


def _has_torch(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/maps", "rb") as stream:  # noqa: PTH123
            return b"/libtorch_cpu.so" in stream.read()
    except OSError:
        return False


def _spawned(table: Table, taken: set[int]) -> Iterable[list[Member]]:
    """Children of one process that have torch, and are in a process group."""
    by_parent: dict[int, list[Member]] = {}
    above = {one.pid for pid in taken for one in table.ancestors(pid)} | _own(table)
    for process in table.processes.values():
        below_a_rank = any(one.pid in taken for one in table.ancestors(process.pid))
        if process.pid in taken | above or below_a_rank or not _may_be_one(process) or not _has_torch(process.pid):
            continue
        by_parent.setdefault(process.parent, []).append(Member(process, None))
    found = (_started_together(table.processes.get(parent), members) for parent, members in by_parent.items())
    return [members for members in found if len(members) >= _FEW]


def _started_together(parent: Process | None, members: list[Member]) -> list[Member]:
    """The ranks of one job among the children of a process.

    A script that spawns has no others. A shell, or Ray's daemon, may: there each has to be another rank of a group.
    """
    if parent is None or len(members) < _FEW:
        return []
    groups = [(member, group_of(member.process.pid)) for member in members]
    if parent.runs_python:
        return members if any(group for _, group in groups) else []
    largest = max((group.ranks for _, group in groups if group), key=len, default=())
    by_rank = {group.own: member for member, group in groups if group and group.ranks == largest}
    by_rank.pop(None, None)
    return list(by_rank.values()) if len(largest) >= _FEW else []


def _job(table: Table, members: list[Member]) -> FoundJob:
    whole = tuple(
        Member(one.process, one.given, tuple(workers_of(one.process.pid, table))) for one in sorted(members, key=_order)
    )
    launcher = _launcher(table, whole[0])
    pids = {one.process.pid for one in whole} | {worker.pid for one in whole for worker in one.workers}
    return FoundJob(whole, launcher, frozenset(pids | ({launcher.pid} if launcher else set())))


def _launcher(table: Table, member: Member) -> Process | None:
    """What started a rank: its parent, or the ``srun`` that had a daemon do so."""
    given, parent = member.given, member.process.parent
    if given and given.step_port and (srun := srun_at(given.step_port, table.processes.values())):
        return srun
    return table.processes.get(parent) if parent != _FIRST else None


def workers_of(pid: int, table: Table) -> list[Process]:
    """The processes that run Python, of those that a process and its children have started."""
    return [one for one in table.descendants(pid) if not one.is_over and not one.is_helper and one.runs_python]


def _order(member: Member) -> tuple[int, int]:
    return (member.given.rank if member.given else 0, member.process.pid)


def _own(table: Table) -> set[int]:
    """The command that looks, and what started it."""
    return {os.getpid(), *(one.pid for one in table.ancestors(os.getpid()))}
