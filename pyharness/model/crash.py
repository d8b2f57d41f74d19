"""The error of a process that ran the user's code and died of a signal, before there was a result."""

from __future__ import annotations

import signal

from pyharness.model.errors import HarnessError
from pyharness.model.transcript import signal_name

_REMEDY = "Without pyharness it does so, too: PYTHONFAULTHANDLER=1 shows the line of Python."
_KILLED = "Somebody killed it, or the machine ran out of memory: `dmesg` says so."


class CrashedError(HarnessError):
    """What ``name`` says ended the process that ran it."""

    def __init__(self, name: str, number: int) -> None:
        remedy = _KILLED if number == signal.SIGKILL else _REMEDY
        super().__init__(f"{name} ended its process by {signal_name(number)}.", remedy)
