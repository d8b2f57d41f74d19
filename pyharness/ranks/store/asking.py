"""Asks all hosts of a job through its store, and takes what comes in time; who does not answer is named."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, TypeVar

from pyharness.model.codec import MalformedError, decode
from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen
from pyharness.model.ranks.job import job_from_text, merged
from pyharness.protocol import store as keys
from pyharness.ranks.store.parts import MOST, unpacked
from pyharness.ranks.store.rendezvous import connected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyharness.model.ranks.job import Job
    from pyharness.ranks.store.wire import TcpStore

T = TypeVar("T", keys.Host, keys.Answer)
_HOW = "Start the ranks by `pyharness run --store`, or with PYHARNESS_STORE=1 in the environment of `pyharness run`."


@frozen
class Answered:
    """What came of a question."""

    job: Job
    """The ranks of all hosts that have answered."""
    notes: tuple[str, ...]
    """Why those of the others are not there; a sentence each."""


def ask(host: str, port: int, patience: float, told: Callable[[int, int], None] = lambda _done, _of: None) -> Answered:
    """All ranks as they stand now; ``told`` hears how many hosts of how many have answered."""
    with connected(host, port) as store:
        try:
            return _asked(store, patience, told)
        except OSError as error:
            raise HarnessError(f"The store at {host}:{port} has gone: {error}.", "Has the job ended?") from error


def _asked(store: TcpStore, patience: float, told: Callable[[int, int], None]) -> Answered:
    hosts = _hosts(store)
    if not hosts:
        raise HarnessError("The store answers, and no program of its job does.", _HOW)
    number, until = store.add(keys.ASKED, 1), time.monotonic() + patience
    store.set(keys.question(number), b"?")
    jobs, notes = [], []
    for done, (host, by) in enumerate(hosts.items()):
        told(done, len(hosts))
        name = f"{by[0].name} (rank {by[0].rank} and those beside)"
        try:
            if not store.wait(keys.answer(number, host), until - time.monotonic()):
                notes.append(f"{name}: no answer within {patience:g} s, so its ranks are not shown.")
                continue
            jobs.append(_answer(store, number, host))
        except HarnessError as error:
            notes.append(f"{name}: {error.message} {error.remedy}".rstrip())
    if not jobs:
        raise HarnessError("\n".join(["No host has shown its ranks.", *notes]), "--timeout SECONDS waits for longer.")
    return Answered(merged(jobs), tuple(notes))


def _hosts(store: TcpStore) -> Mapping[str, list[keys.Host]]:
    """Who answers for each host."""
    if not store.has(keys.HOSTS):
        return {}
    there: dict[str, keys.Host] = {}
    for one in _lines(store.get(keys.HOSTS)):
        there[one.by] = one
    found: dict[str, list[keys.Host]] = {}
    for one in sorted(there.values(), key=lambda one: (one.rank, one.name)):
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
