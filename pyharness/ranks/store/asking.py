"""Asks all hosts of a job through its store, and takes what comes in time; who does not answer is named."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, TypeVar

from pyharness.model.codec import MalformedError, decode
from pyharness.model.errors import HarnessError, UsageError, nearest
from pyharness.model.frozen import frozen
from pyharness.model.ranks.job import job_from_text, merged
from pyharness.protocol import store as keys
from pyharness.ranks.store.missing import GoneError, NobodyError, SilentError
from pyharness.ranks.store.parts import MOST, unpacked
from pyharness.ranks.store.rendezvous import connected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyharness.model.ranks.job import Job
    from pyharness.ranks.store.wire import TcpStore

    Hosts = Mapping[str, list[keys.Host]]

T = TypeVar("T", keys.Host, keys.Answer)
_HOW = "Start the ranks by `pyharness run --store`, or with PYHARNESS_STORE=1 in the environment of `pyharness run`."


@frozen
class Answered:
    """What came of a question."""

    job: Job
    """The ranks of all hosts that have answered."""
    notes: tuple[str, ...]
    """Why those of the others are not there; a sentence each."""


@frozen
class Asked:
    """Whom to ask."""

    host: str
    port: int
    patience: float
    """Seconds for the answers of all hosts."""
    job: str | None = None
    """The name of the job; ``None`` for the only one."""
    told: Callable[[int, int], None] = lambda _done, _of: None
    """Hears how many hosts of how many have answered."""


def ask(asked: Asked) -> Answered:
    """All ranks as they stand now."""
    with connected(asked.host, asked.port, asked.job) as store:
        try:
            return _answered(store, asked)
        except OSError as error:
            where = f"{asked.host}:{asked.port}"
            raise GoneError(f"The store at {where} has gone: {error}.", "Has the job ended?") from error


def _answered(store: TcpStore, asked: Asked) -> Answered:
    job, hosts = _chosen(_hosts_of_jobs(store), asked.job)
    number, until = store.add(keys.ASKED, 1), time.monotonic() + asked.patience
    store.set(keys.question(number), keys.asked_of(job))
    jobs, notes = [], []
    for done, (host, by) in enumerate(hosts.items()):
        asked.told(done, len(hosts))
        name = f"{by[0].name} (rank {by[0].rank} and those beside)"
        try:
            if not store.wait(keys.answer(number, host), until - time.monotonic()):
                notes.append(f"{name}: no answer within {asked.patience:g} s, so its ranks are not shown.")
                continue
            jobs.append(_answer(store, number, host))
        except HarnessError as error:
            notes.append(f"{name}: {error.message} {error.remedy}".rstrip())
    if not jobs:
        raise SilentError("\n".join(["No host has shown its ranks.", *notes]), "--timeout SECONDS waits for longer.")
    return Answered(merged(jobs), tuple(notes))


def _chosen(jobs: Mapping[str, Hosts], name: str | None) -> tuple[str, Hosts]:
    """The job of that name, or the only one; `UsageError` that names those that are there."""
    if name is not None and jobs.get(name):
        return name, jobs[name]
    there = {one: hosts for one, hosts in jobs.items() if hosts}
    if not there:
        raise NobodyError("The store answers, and no program of its job does.", _HOW)
    listed = ", ".join(map(repr, sorted(there)))
    if name in jobs:
        raise NobodyError(f"No program of the job {name!r} answers now.", f"There: {listed}.")
    if name is not None:
        raise UsageError(f"No job {name!r} answers there.", nearest(name, there) or f"There: {listed}.")
    if len(there) > 1:
        raise UsageError(f"Ranks of {len(there)} jobs answer there: {listed}.", "Name one of them with --job.")
    return next(iter(there.items()))


def _hosts_of_jobs(store: TcpStore) -> Mapping[str, Hosts]:
    """Who answers for each host of each job; nobody for one that has gone."""
    there: dict[str, keys.Host] = {}
    for one in _lines(store.get(keys.HOSTS)) if store.has(keys.HOSTS) else ():
        there[one.by] = one  # where it came first: a later line of its own says that it has come back, or goes
    by_job: dict[str, list[keys.Host]] = {}
    for one in there.values():
        by_job.setdefault(one.job, []).append(one)
    return {name: _by_host(_of_last_try(those) if name else those) for name, those in by_job.items()}


def _of_last_try(those: list[keys.Host]) -> list[keys.Host]:
    """The hosts of the last try of a job, of all in the order in which they came: one that was lost has said no word.

    torchrun counts on each host apart how often it has begun anew. What is of an earlier try is told by the number of
    ranks, and by who came later with the number of a rank.
    """
    last = {one.rank: one for one in those}
    return [one for one in last.values() if one.world == those[-1].world]


def _by_host(those: list[keys.Host]) -> Hosts:
    found: dict[str, list[keys.Host]] = {}
    for one in sorted(those, key=lambda one: (one.rank, one.name)):
        if not one.is_gone:
            found.setdefault(one.host, []).append(one)
    return found


def _lines(text: bytes) -> Iterator[keys.Host]:
    for line in text.splitlines():
        yield _read(keys.Host, line, "who answers")


def _read(kind: type[T], text: bytes, where: str) -> T:
    try:
        return decode(kind, json.loads(text), where)
    except (ValueError, RecursionError) as error:
        said = f": {error}" if isinstance(error, MalformedError) else ""
        raise HarnessError(f"What the store has under our name is not ours{said}.", "Who else writes there?") from error


def _answer(store: TcpStore, number: int, host: str) -> Job:
    """The ranks of a host. The large parts are taken out of the store; that it has answered, others of the host see."""
    said = _read(keys.Answer, store.get(keys.answer(number, host)), "an answer")
    if said.error:
        raise HarnessError(said.error)
    if not 0 < said.parts <= MOST:
        raise HarnessError(f"Its answer has {said.parts} parts, and 1 to {MOST} are read.")
    places = [keys.part(number, said.by, index) for index in range(said.parts)]
    parts = [store.get(place) for place in places]
    for place in places:
        store.delete(place)
    try:
        return job_from_text(unpacked(parts))
    except ValueError as error:
        raise HarnessError(f"Its answer cannot be read: {error}.", "Ask again.") from error
