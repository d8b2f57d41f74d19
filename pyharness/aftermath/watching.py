"""Looks from beside a program whether its main thread goes on, and writes a report when it has stood for too long.

python START.py hangs REPORTED PROCESS SECONDS

The program is not held for it: its memory is read as it runs. It stands where each function of the main thread is at
the same line, with the same objects in its local variables, at each look. What has changed in between is no hang.
"""

from __future__ import annotations

import json
import os
import re
import select
import sys
import time
from contextlib import suppress
from itertools import takewhile
from typing import TYPE_CHECKING

from pyharness.aftermath import gathering, job, writing
from pyharness.host.process_state import processor_times, waits_of_main
from pyharness.host.unseen import leave_streams
from pyharness.model.codec import decode
from pyharness.model.errors import HarnessError
from pyharness.model.text.visible import say
from pyharness.protocol.aftermath import Reported
from pyharness.ranks.blame.rules import RULES
from pyharness.ranks.looking import busy_threads
from pyharness.reading.live.process import LiveProcess
from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyharness.ranks.looking import Busy
    from pyharness.reading.python.frames import PythonFrame
    from pyharness.reading.python.threads import Python, PythonThread

    Standing = tuple[tuple[int, int | None, tuple[int, ...]], ...]

_LOOKS = 10
"""In the time after which it hangs."""
_SHORTEST, _LONGEST = 0.1, 5.0
"""Seconds from one look to the next."""
_WAITS_A_SECOND = 4
"""How often a thread that stands may begin to wait anew; one that works in short waits looks the same at each look."""
_WAITS = re.compile("|".join(rule.python for rule in RULES if rule.kind in {"loader", "queue", "event", "join"}))
_OF_A_LIBRARY = re.compile(r"/python3\.\d+/")
_SUPERVISOR = os.path.realpath(os.path.join(__file__, "../../pytest_plugin/supervisor.py"))  # noqa: PTH118
"""File of the frames of a process that has others run its tests."""
_INNERMOST = 60
"""Frames that are compared: of a deep recursion the others stand, too, while these do."""


def main() -> int:
    """Watch until the program ends."""
    leave_streams()
    wanted = decode(Reported, json.loads(sys.argv[1]), "the report")
    process, seconds = int(sys.argv[2]), float(sys.argv[3])
    with suppress(OSError):  # it has ended
        _watch(wanted, process, seconds)
    return 0


def _watch(wanted: Reported, process: int, seconds: float) -> None:
    end = os.pidfd_open(process)
    wait = min(max(seconds / _LOOKS, _SHORTEST), _LONGEST)
    before: Standing = ()
    since, is_told, spent, waited = time.monotonic(), False, processor_times(process), waits_of_main(process)
    with LiveProcess(process) as looked:
        while not select.select([end], [], [], wait)[0]:
            now, stood = _standing(looked), time.monotonic() - since
            often = waits_of_main(process) - waited > _WAITS_A_SECOND * max(stood, 1)
            if not now or now != before or often:
                before, since, is_told = now, time.monotonic(), False
                spent, waited = processor_times(process), waits_of_main(process)
            elif not is_told and stood >= seconds:
                is_told = True
                _report(wanted, process, stood, busy_threads(spent, processor_times(process), stood))


def _report(wanted: Reported, process: int, stood: float, busy: Busy) -> None:
    what = f"its main thread has stood at one place for {stood:.0f} s"
    try:
        found = gathering.of_hang(wanted, process, what, busy)
        writing.tell(found, writing.write(found, wanted.folder))
        job.report(wanted.folder, found)
    except HarnessError as error:
        say(str(error))


def _standing(process: LiveProcess) -> Standing:
    """Where the main thread is; nothing where that cannot be read, as while it changes, or another process goes on."""
    try:
        process.look()
        python, _ = process.python()
        main = _main_thread(python, process.pid) if python else None
        return _place(python, main) if python and main and not _supervises(main) else ()
    except (UnreadableError, OSError, ValueError):
        return ()


def _main_thread(python: Python, pid: int) -> PythonThread | None:
    """The main one, which is the first that the main interpreter has made."""
    threads = [one for one in python.threads() if one.interpreter == 0]
    return next((one for one in threads if one.native_id == pid), threads[-1] if threads else None)


def _supervises(thread: PythonThread) -> bool:
    """Whether it waits for a child that is the program now, and is looked at by itself."""
    return any(frame.file == _SUPERVISOR for loop in thread.loops for frame in loop.frames[:_INNERMOST])


def _place(python: Python, thread: PythonThread) -> Standing:
    frames = [frame for loop in thread.loops for frame in loop.frames]
    waits = _outermost_wait(frames)
    compared = frames[waits + 1 :][:_INNERMOST]
    within = [(frame.code, None, ()) for frame in frames[waits : waits + 1] if waits >= 0]
    return (*within, *((frame.code, frame.line, tuple(_variables(python, frame))) for frame in compared))


def _outermost_wait(frames: Sequence[PythonFrame]) -> int:
    """The place of the function of a library that waits, -1 for none: it may ask anew every few seconds."""
    libraries = takewhile(lambda each: _OF_A_LIBRARY.search(each[1].file or ""), enumerate(frames))
    waits = [at for at, frame in libraries if _WAITS.search(f"{frame.file}:{frame.function}")]
    return max(waits, default=-1)


def _variables(python: Python, frame: PythonFrame) -> Iterable[int]:
    """The objects of a frame's variables; those of the script itself are in its module."""
    if frame.function == "<module>":
        return python.module_globals("__main__").values()
    return (address for _name, address in python.local_addresses(frame))
