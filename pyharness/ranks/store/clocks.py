"""What the clocks of a job's hosts differ by, measured through its store after its ranks' programs have ended.

A rank asks the first one for its time, which comes half of the way later, on average, as the shortest of several turns
shows best (D. Mills, RFC 5905, has it so). Ranks of the first rank's host have its clock.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen
from pyharness.protocol import store as keys
from pyharness.ranks.store.rendezvous import connected

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyharness.ranks.store.wire import TcpStore

_TURNS = 8
_PATIENCE = 10.0
"""Seconds for which ranks wait for each other, which may end at different times."""
_RUN = "TORCHELASTIC_RESTART_COUNT"
"""How often torchrun has begun the job anew: its store stays."""
_NEEDED = ("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_PORT")
"""Numbers that torchrun tells each rank; ``GROUP_RANK`` is that of the host."""


@frozen
class Clock:
    """How a host's clock stands to that of the first rank's host."""

    behind: int
    """Nanoseconds to be added to its times."""
    within: int
    """Nanoseconds that this may be wrong by, at most."""


def measured(environment: Mapping[str, str], clock: Callable[[], int] = time.time_ns) -> Clock | None:
    """The clock of this host; ``None`` where it cannot be measured: of a launcher without a store, say.

    The first rank answers all others meanwhile; a job of one host has one clock.
    """
    told = _told(environment)
    if told is None:
        return None
    rank, world, of_host, host, port = told
    if host == 0 and (rank or world == of_host):
        return Clock(0, 0)
    try:
        with connected(environment["MASTER_ADDR"], port) as store:
            turns = _Turns(store, environment.get(_RUN, "0"), clock)
            return turns.answered(_TURNS * (world - of_host)) if rank == 0 else turns.asked()
    except (OSError, HarnessError):  # it has gone with the job
        return Clock(0, 0) if rank == 0 else None


def _told(environment: Mapping[str, str]) -> tuple[int, ...] | None:
    texts = [environment.get(name, "") for name in _NEEDED]
    if "MASTER_ADDR" not in environment or not all(text.isascii() and text.isdecimal() for text in texts):
        return None
    return tuple(map(int, texts))


class _Turns:
    """Questions and answers, numbered."""

    def __init__(self, store: TcpStore, run: str, clock: Callable[[], int]) -> None:
        self._store, self._run, self._clock = store, run, clock

    def answered(self, count: int) -> Clock:
        """Answer as often as all others ask."""
        for number in range(1, count + 1):
            if not self._store.wait(keys.clock_question(self._run, number), _PATIENCE):
                break
            self._store.set(keys.clock_answer(self._run, number), str(self._clock()).encode())
        return Clock(0, 0)

    def asked(self) -> Clock | None:
        """Ask, and take the shortest turn; ``None`` where nobody answers."""
        best = None
        for _ in range(_TURNS):
            turn = self._turn()
            if turn is None:
                break
            best = turn if best is None or turn.within < best.within else best
        return best

    def _turn(self) -> Clock | None:
        number = self._store.add(keys.clocks_asked(self._run), 1)
        begun = self._clock()
        self._store.set(keys.clock_question(self._run, number), b"")
        if not self._store.wait(keys.clock_answer(self._run, number), _PATIENCE):
            return None
        ended = self._clock()
        theirs = int(self._store.get(keys.clock_answer(self._run, number)))
        return Clock(theirs - (begun + ended) // 2, (ended - begun + 1) // 2)
