"""Stops of other threads, which wait in line for the end of a step in native code: for a while only."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyharness.debugger.shell import Events, Shell

_SECONDS = 0.7
"""How long they wait: the step may wait for one of them."""


class LongSteps:
    """Tells the stops that have waited for so long, by an event of its own, ``long step``."""

    def __init__(self, shell: Shell, events: Events) -> None:
        self._shell = shell
        self._events = events
        self._timed = -1
        """The request of the client's for which a timer runs, or has run."""

    def look(self) -> None:
        """Begin the wait, if a stop has come to wait for the step that the client has asked for last."""
        machine = self._shell.machine
        if machine.lets_wait and self._timed != machine.requests:
            self._timed = machine.requests
            timer = threading.Timer(_SECONDS, self._events.put, (("long step", machine.requests),))
            timer.daemon = True
            timer.start()

    def is_over(self, request: int) -> None:
        """The wait for the step of a request is over; the step may be, too."""
        shell = self._shell
        if request == shell.machine.requests:
            shell.machine.hurry()
            shell.perform(shell.machine.next_waiting(shell.breakpoints.enabled))
