"""What a program starts when it is about to end: it reads the program, writes the report and says where that is.

python START.py aftermath REPORTED [PROCESS THREAD SIGNAL CODE VALUE]
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from pyharness.aftermath import gathering, job, writing
from pyharness.aftermath.observers import have_observer_leave
from pyharness.aftermath.output import captured
from pyharness.debugger.gdb_reading import Fault
from pyharness.host.descriptors import taken_from
from pyharness.host.process_state import has_own_proc
from pyharness.model.codec import decode
from pyharness.model.errors import HarnessError
from pyharness.model.text.visible import say
from pyharness.protocol.aftermath import NOTHING, Raised, Reported, read_now

if TYPE_CHECKING:
    from pyharness.model.results.aftermath import Aftermath


_ALL_IS_SAID = 3
"""Python's own handler need not say where it crashed: csrc/guard/crash_watch.h."""


def main() -> int:
    """Write the report; 1 where it cannot be written."""
    wanted = decode(Reported, json.loads(sys.argv[1]), "the report")
    numbers = [int(word) for word in sys.argv[2:]]
    now = read_now(wanted.test) if wanted.test else NOTHING
    try:
        found = _found(replace(wanted, name=now.name or wanted.name), numbers)
        found = replace(found, output=captured(found.pid)) if now.doing else found
        file = writing.write(found, wanted.folder) if wanted.folder else None
        if now.doing:  # pytest tells of its tests
            return _ALL_IS_SAID
        if wanted.told_on is not None:
            _tell_on(found.pid, wanted.told_on)
        writing.tell(found, None if _goes_with_its_tests(wanted) else file)
        if wanted.ends:
            say(wanted.ends)
        if wanted.folder:
            job.report(wanted.folder, found)
    except HarnessError as error:
        say(str(error))
        return 1
    except (MemoryError, OSError, ValueError) as error:  # the program has limits, which are ours, too
        say(f"no report: {str(error) or type(error).__name__}. Does the program limit its memory or its files?")
        return 1
    return 0


def _tell_on(process: int, descriptor: int) -> None:
    """Have what is said go where the program's standard error was before it captured that."""
    with suppress(OSError):  # it has closed it
        sys.stderr = os.fdopen(taken_from(process, descriptor), "w", encoding="utf-8")  # as far as it is written, too


def _goes_with_its_tests(wanted: Reported) -> bool:
    """Whether the folder of the reports is removed when pytest ends: none was named."""
    return bool(wanted.test) and os.path.dirname(wanted.folder) == os.path.dirname(wanted.test)  # noqa: PTH120


def _found(wanted: Reported, numbers: list[int]) -> Aftermath:
    if wanted.raised is None:
        process, thread, signal, code, value = numbers
        if not has_own_proc():
            return gathering.unread(wanted, process, Fault(thread, signal, _signed(code), value))
        have_observer_leave(process)
        if not signal:
            return gathering.of_sanitizer(wanted, process, thread, value)
        return gathering.of_crash(wanted, process, Fault(thread, signal, _signed(code), value))
    with os.fdopen(wanted.raised, encoding="utf-8") as stream:
        stream.seek(0)
        return gathering.of_exception(wanted, decode(Raised, json.load(stream), "the exception"))


def _signed(number: int) -> int:
    """An ``int`` that was written as 32 bits."""
    return number - (1 << 32) if number >> 31 else number
