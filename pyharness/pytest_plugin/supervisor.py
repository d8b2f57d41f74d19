"""Waits for the process that runs the tests, and starts one behind it where a test has ended it.

The first process of pytest forks before it has read any of the user's code: the child runs the tests, the parent
waits. Each process that goes on is a fork of the same beginning: folder, environment, limits and descriptors are those
that pytest was started with, whatever a test has made of them.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

from pyharness.host.process_group import Group, end_with
from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_ASKED = frozenset((signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT))
"""Signals that somebody sends who wants the tests to end."""
_HANDED_ON = (*_ASKED, signal.SIGUSR1, signal.SIGUSR2)


@frozen
class Ended:
    """How a process that ran tests has ended."""

    pid: int
    code: int | None
    """The exit code, or minus the signal; ``None`` where nobody has heard it."""


def supervise(goes_on: Callable[[int, int], bool], clear: Callable[[], None]) -> None:
    """Fork: each child returns; the parent ends as the last child has ended.

    ``goes_on``: whether tests are left to run behind a child, of its id and its exit code, or minus the signal.
    ``clear``: what is done before the end, but of a crash behind all tests: its report stays.
    """
    while True:
        parent = os.getpid()
        child = os.fork()
        if not child:
            end_with(parent)
            return
        code = os.waitstatus_to_exitcode(_waited(child))
        if -code in _ASKED or not goes_on(child, code):
            if code >= 0 or -code in _ASKED:
                clear()
            _end_as(code)


def _waited(child: int) -> int:
    """The child's status; signals meanwhile are the child's."""
    group = Group(_HANDED_ON)

    def hand_on(number: int, _frame: FrameType | None) -> None:
        if not group.has_got(number):  # else the child has it, too: of a terminal, say
            with suppress(ProcessLookupError):  # it has ended at this moment
                os.kill(child, number)

    before = {number: signal.signal(number, hand_on) for number in _HANDED_ON}
    try:
        return os.waitpid(child, 0)[1]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        group.leave()


def _end_as(code: int) -> None:
    """End as the child did, without pytest's own ways to end, which the child has gone."""
    if code < 0:
        if code != -signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code & 0xFF)
