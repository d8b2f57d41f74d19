"""A pause of a program that runs: debugpy's at the next line of Python; where none comes soon, gdb's."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyharness.debugger.shell import Events, Shell

_PYTHON_PAUSES = 0.25
"""Seconds in which Python code that runs comes to a line."""


class Pausing:
    """Stops a program wherever it is; the second half is an event of its own, ``pause``."""

    def __init__(self, shell: Shell, events: Events) -> None:
        self._shell = shell
        self._events = events

    def begin(self, thread: int) -> None:
        """Have debugpy stop; ``thread`` is gdb's, where nothing of Python's comes to a line."""
        self._shell.python.post("pause", {"threadId": "*"})
        self._shell.machine.pausing = True
        native = threading.Timer(_PYTHON_PAUSES, self._events.put, (("pause", thread),))
        native.daemon = True
        native.start()

    def goes_on(self, thread: int) -> None:
        """Have gdb stop a thread, unless something has stopped meanwhile."""
        shell = self._shell
        if shell.machine.pausing and shell.exit_code is None:
            shell.python.post("continue", {"threadId": "*"})  # forgets the pause that has not come about
            known = thread in shell.tasks
            shell.attach().threads.pause(thread if known else shell.process.pid)
