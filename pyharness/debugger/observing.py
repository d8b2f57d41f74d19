"""A debugger beside a test: it stops the test's process at one place, reads the stop, and lets it go.

python START.py observes DESCRIPTOR    a socket; protocol/observed.py
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from pyharness.debugger.api.attach import attach
from pyharness.model.codec import decode, encode
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.plumbing import DEBUGGER, python_family
from pyharness.model.text.stack_format import function_text, place_text
from pyharness.protocol.observed import Observed, Refused, Step, StopOfTest, Wanted

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import TextIOWrapper

    from pyharness.debugger.api.program import Program
    from pyharness.debugger.breaking.breakpoint import Breakpoint
    from pyharness.model.stops import Stop

_RETURNED = "what was run has returned: this is the line that runs it"


def main() -> int:
    """Serve one stop."""
    connection = socket.socket(fileno=int(sys.argv[1]))
    with suppress(OSError), connection, connection.makefile("rw", encoding="utf-8") as stream:  # the test may have gone
        wanted = decode(Wanted, json.loads(stream.readline()), "what a test wants")
        try:
            found = Observed(stop=_stop(wanted, stream))
        except HarnessError as error:
            found = Observed(Refused(error.message, error.remedy))
        _say(stream, found)
    return 0


def _stop(wanted: Wanted, stream: TextIOWrapper) -> StopOfTest:
    with attach(wanted.pid) as program:
        place = program.set_breakpoint(wanted.where)
        _say(stream, Observed())
        returned = threading.Event()
        threading.Thread(target=_leave, args=(program, stream, returned), daemon=True).start()
        return _told(program, _Way(program, place, returned).gone(wanted.steps))


class _Way:
    """From the place on, step by step; what was run may return meanwhile."""

    def __init__(self, program: Program, place: Breakpoint, returned: threading.Event) -> None:
        self._program, self._place, self._returned = program, place, returned
        self._steps = {"into": program.into, "over": program.over, "out": program.out}

    def gone(self, steps: tuple[Step, ...]) -> Stop:
        """The last stop; ``HarnessError`` where there is none."""
        stop = self._unless_returned(self._program.resume)
        if stop is None:
            raise self._missed()
        self._program.clear_breakpoint(self._place)  # a step may come to it again
        for number, step in enumerate(steps, 1):
            stop = self._unless_returned(self._steps[step])
            if stop is None:
                raise HarnessError(
                    f"What was run had returned by step {number} of {len(steps)}, {step}.",
                    f"It did come to {self._place}: take fewer steps from there.",
                )
        return stop

    def _unless_returned(self, go: Callable[[], Stop | None]) -> Stop | None:
        try:
            return go()
        except HarnessError:
            if self._returned.is_set():
                return None
            raise

    def _missed(self) -> HarnessError:
        why = self._program.missed(self._place)
        if isinstance(why, UsageError):  # nothing has such a place: it names the nearest
            return why
        return HarnessError(f"What was run has returned, and did not come to {self._place}.", why.remedy)


def _leave(program: Program, stream: TextIOWrapper, returned: threading.Event) -> None:
    """What leads there has returned, or the test's process has ended: there will be no stop."""
    with suppress(OSError):
        stream.readline()
    returned.set()
    with suppress(HarnessError):
        program.detach()


def _told(program: Program, stop: Stop) -> StopOfTest:
    shown = [frame for frame in program.stack() if not frame.plumbing]
    stack = tuple((function_text(frame), place_text(frame)) for frame in shown)
    frame, note = stop.frame, stop.note
    if shown and python_family(frame.function, frame.file) == DEBUGGER:  # what runs the function is ours
        frame, note = shown[0], note or _RETURNED
    return StopOfTest(frame.language, frame.function, frame.file, frame.line, program.variables(), stack, note)


def _say(stream: TextIOWrapper, answer: Observed) -> None:
    stream.write(json.dumps(encode(answer)) + "\n")
    stream.flush()
