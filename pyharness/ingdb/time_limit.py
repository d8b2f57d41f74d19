"""How long the text of a value may take: pointers of a container that is not made yet, or freed, may lead in a circle.

A printer that follows such a circle would never end, and gdb would hear nothing more: no printer looks for circles.
"""

from __future__ import annotations

import signal
import threading
import time
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, ClassVar, TypeVar

import gdb

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Each = TypeVar("Each")
SECONDS = 3.0
"""Seconds of gdb's processor time that a value has: the first one of a type may have gdb read symbols."""
_SECONDS_THEN = 0.3
"""Seconds that others have soon after one that took too long: where one is in a circle, many may be."""
_SOON = 10.0
_AGAIN = 0.05
"""Seconds until the next reminder: gdb takes what a printer raises for the end of that printer, and goes on."""
_LATE = 0.2
"""Seconds after which a signal is heard that came while gdb itself was busy, with symbols, which ends."""


class TooLongError(gdb.error):
    """The time is over."""

    def __init__(self) -> None:
        super().__init__(f"not read in {_Limit.seconds:g} s: a container that is not made yet, or freed already?")


class _Limit:
    """The limit in force. Timers belong to a process: so it is one for this gdb."""

    in_force: ClassVar[bool] = False
    reached: ClassVar[float] = float("-inf")
    """When one was last."""
    seconds: ClassVar[float] = SECONDS
    end: ClassVar[float] = 0.0
    """The processor time of gdb at which it is."""
    is_over: ClassVar[bool] = False


@contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """Raise ``TooLongError`` in Python code of the block that runs for so long; inside another limit, that one holds.

    Processor time is counted, so that a busy machine makes no value too long. gdb swallows what a printer raises, so
    the error is raised at the end of the block where that happened.
    """
    if _Limit.in_force or threading.current_thread() is not threading.main_thread():
        yield
        return
    _install()
    _Limit.seconds = seconds if time.monotonic() - _Limit.reached > _SOON else _SECONDS_THEN
    _Limit.in_force, _Limit.is_over = True, False
    _begin()
    try:
        try:
            yield
        finally:
            _Limit.in_force = False
    finally:
        _Limit.in_force = False  # the last signal may have come where the other line was to be
        signal.setitimer(signal.ITIMER_PROF, 0)
    if _Limit.is_over:
        raise TooLongError


def each(values: Iterable[Each]) -> Iterator[Each]:
    """Values of which each may take as long to be made as a value may to be read."""
    remaining = iter(values)
    while True:
        with limited():
            try:
                value = next(remaining)
            except StopIteration:
                return
        yield value


def _begin() -> None:
    _Limit.end = time.process_time() + _Limit.seconds
    signal.setitimer(signal.ITIMER_PROF, _Limit.seconds, _AGAIN)


@cache
def _install() -> None:
    signal.signal(signal.SIGPROF, _over)
    signal.siginterrupt(signal.SIGPROF, False)  # noqa: FBT003  (it has no name) gdb waits for nothing in vain


def _over(_number: int, _frame: object) -> None:
    if not _Limit.in_force:  # one that came late finds nothing to end
        return
    if not _Limit.is_over and time.process_time() - _Limit.end > _LATE:
        _begin()  # the time was gdb's: a circle is made of many short calls
        return
    _Limit.is_over = True
    _Limit.reached = time.monotonic()
    raise TooLongError
