"""Answers `pyharness ranks --store` for the ranks of this host: a process of ours beside them, as long as they live.

python START.py answers PROCESS      PROCESS: the rank that has started it, whose environment it has

It waits in the job's store for the next question, without a processor. A question is a number and the name of a job.
A process of its own looks at the ranks, so one that hangs is given up. The two first ranks of a host start one each:
who counts first answers, and the other one does where no answer comes.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from pyharness.host.handles import place
from pyharness.host.unseen import leave_streams
from pyharness.model.codec import encode
from pyharness.model.errors import HarnessError
from pyharness.protocol import store as keys
from pyharness.ranks.processes import given
from pyharness.ranks.store.lives import Lives
from pyharness.ranks.store.parts import MOST, packed
from pyharness.ranks.store.wire import TcpStore

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.ranks.finding import FoundJob

    Address = tuple[str, int]

_RETRY = 1.0
"""Seconds until a store is tried again that is not there yet, or has gone."""
_TAKES_OVER = 6.0
"""Seconds after which another process of the host answers in the place of one that does not."""
_LONGEST = 120.0
"""Seconds that a look may take."""
_KEPT = 300.0
"""Seconds for which an answer stays that nobody takes away."""


def main() -> int:
    """Answer until the ranks have ended."""
    leave_streams(errors=True)
    with suppress(OSError):
        os.setsid()  # no key that is typed for the program is for us
    address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    host = _host()
    answering = Answering(address, host, Lives(int(sys.argv[1]), _ranks_here))
    answering.until_the_end()
    return 0


def _host() -> keys.Host:
    """Who we are, and what we speak for: one job, where processes have the same numbers."""
    here = place()
    by, mine = f"{here}-{os.getpid()}", given(os.getpid())
    if mine is None:
        return keys.Host(here, socket.gethostname(), by, 0)
    return keys.Host(f"{here}/{mine.name}", socket.gethostname(), by, mine.rank, mine.world, mine.name)


class Answering:
    """What one process answers."""

    def __init__(self, address: Address, host: keys.Host, lives: Lives) -> None:
        self._address = address
        self._host = host
        self._lives = lives
        self._given: list[tuple[float, int]] = []
        """When we answered which questions."""

    def until_the_end(self) -> None:
        """Answer while the ranks live; a store may come late, and come back."""
        while self._lives.remain():
            with suppress(OSError), TcpStore(*self._address) as store:
                self._serve(store)
            if self._lives.remain():
                self._lives.wait(_RETRY)

    def _serve(self, store: TcpStore) -> None:
        last = store.add(keys.ASKED, 0)  # first: who asks reads the hosts before it counts, so it is answered
        store.append(keys.HOSTS, _line(self._host))
        while self._is_asked(store, last + 1):
            last += 1
            if store.get(keys.question(last)) == keys.asked_of(self._host.job):
                self._forget(store)
                self._answer(last)
        store.append(keys.HOSTS, _line(replace(self._host, is_gone=True)))

    def _is_asked(self, store: TcpStore, number: int) -> bool:
        """Wait for a question; whether it has come before the end of all ranks."""
        store.begin_wait(keys.question(number))
        while self._lives.remain():
            if store.fileno() in select.select([store.fileno(), *self._lives.ends], [], [])[0]:
                store.end_wait()
                return True
        return store.stop_wait()

    def _answer(self, number: int) -> None:
        """Have a child look and answer; it is ended where it takes too long."""
        child = os.fork()
        if not child:
            _in_child(self._address, self._host, number)
        self._given.append((time.monotonic(), number))
        end = os.pidfd_open(child)
        if not select.select([end], [], [], _LONGEST)[0]:
            os.killpg(child, signal.SIGKILL)
        os.close(end)
        os.waitpid(child, 0)

    def _forget(self, store: TcpStore) -> None:
        """Take away what is old: who has asked has gone, or has taken the parts."""
        old = [number for when, number in self._given if time.monotonic() - when > _KEPT]
        self._given = self._given[len(old) :]
        for number in old:
            parts = [keys.part(number, self._host.by, index) for index in range(MOST)]
            left = takewhile(store.has, parts)
            for key in (*left, keys.answer(number, self._host.host), keys.claim(number, self._host.host)):
                store.delete(key)


def _in_child(address: Address, host: keys.Host, number: int) -> None:
    try:
        os.setpgid(0, 0)
        with TcpStore(*address) as store:
            _answer(store, host, number)
    finally:
        os._exit(0)


def _answer(store: TcpStore, host: keys.Host, number: int) -> None:
    whole = keys.answer(number, host.host)
    is_first = store.add(keys.claim(number, host.host), 1) == 1
    if not is_first and store.wait(whole, _TAKES_OVER):
        return
    parts, error = _look()
    for index, part in enumerate(parts):
        store.set(keys.part(number, host.by, index), part)
    store.set(whole, _line(keys.Answer(host.by, len(parts), error)))


def _look() -> tuple[list[bytes], str]:
    """All ranks of this host as they stand now, or why they cannot be looked at."""
    from pyharness.ranks.seeing import see

    try:
        job, _ = see(_job_here())
        return packed(json.dumps(job.to_json())), ""
    except (HarnessError, OSError, ValueError, MemoryError) as error:
        return [], str(error) or type(error).__name__


def _job_here() -> FoundJob:
    from pyharness.ranks.finding import find_alike

    mine = given(os.getpid())
    return find_alike(mine.job if mine else ())


def _ranks_here() -> Iterable[int]:
    try:
        return [member.process.pid for member in _job_here().members]
    except HarnessError:
        return []


def _line(message: keys.Host | keys.Answer) -> bytes:
    return json.dumps(encode(message)).encode() + b"\n"
