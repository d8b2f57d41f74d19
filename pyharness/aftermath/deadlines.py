"""Looks from beside a process that runs tests whether one takes too long; writes a report then, and ends the process.

python START.py deadlines REPORTED PROCESS
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from contextlib import suppress
from dataclasses import replace

from pyharness.aftermath import gathering, writing
from pyharness.aftermath.observers import have_observer_leave
from pyharness.aftermath.output import captured
from pyharness.host.process_state import processor_times
from pyharness.host.unseen import leave_streams
from pyharness.model.codec import decode
from pyharness.model.errors import HarnessError
from pyharness.model.text.visible import say
from pyharness.protocol.aftermath import Now, Reported, read_now
from pyharness.ranks.looking import busy_threads

_MEANWHILE = 0.25
"""Seconds from one look at what the tests are at to the next."""
_BUSY = 0.2
"""Seconds for which is measured what computes."""


def main() -> int:
    """Watch until the process ends."""
    leave_streams()
    wanted = decode(Reported, json.loads(sys.argv[1]), "the report")
    process = int(sys.argv[2])
    with suppress(OSError):  # it has ended
        end = os.pidfd_open(process)
        number, since = 0, 0.0
        while not select.select([end], [], [], _MEANWHILE)[0]:
            now = read_now(wanted.test)
            if now.limit and now.number != number:
                number, since = now.number, time.monotonic()
            elif now.limit and time.monotonic() - since >= now.limit:
                _end(wanted, process, end, now)
    return 0


def _end(wanted: Reported, process: int, end: int, now: Now) -> None:
    """Write of the test that hangs; it is not ended where it has come to its end meanwhile."""
    have_observer_leave(process)
    before, since = processor_times(process), time.monotonic()
    time.sleep(_BUSY)
    busy = busy_threads(before, processor_times(process), time.monotonic() - since)
    try:
        found = gathering.of_hang(replace(wanted, name=now.name), process, "it has taken too long", busy)
        if read_now(wanted.test) != now:
            return
        writing.write(replace(found, output=captured(process)), wanted.folder)
    except HarnessError as error:
        say(str(error))
    signal.pidfd_send_signal(end, signal.SIGKILL)
