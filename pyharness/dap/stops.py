"""What a client is told when the program stops; breakpoints that only count or log let it run on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pyharness.debugger.program import why_nothing
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from pyharness.dap.breakpoints import PlacedBreakpoint
    from pyharness.dap.session import Session
    from pyharness.debugger.machine import Stopped
    from pyharness.debugger.native_watch import WatchHit
    from pyharness.debugger.shell import Shell
    from pyharness.model.frames import Frame

_REASONS = {"signal": "exception"}
_BRACES = re.compile(r"\{([^{}]+)\}")


def tell(session: Session, stop: Stopped) -> None:
    """Send ``stopped``, unless no breakpoint that was hit wants the program to stand."""
    shell = session.require_program()
    frame = shell.python.stack(stop.thread, 8)[0] if _is_asked_for(session, stop) else None
    numbers = session.breakpoints.of_line(frame.file, frame.line) if frame else []
    hit_data: WatchHit | None = None
    if stop.reason == "data breakpoint":
        numbers, hit_data = session.data_breakpoints(shell).hit(stop)
        if not numbers:
            session.resume("continue")
            return
    placed = session.breakpoints.at(stop.place, frame)
    due = [each for each in placed if each.due()]
    for each in due:
        if each.log:
            session.say(f"{_logged(shell, stop, each)}\n", category="stdout")
    stands = numbers + [each.number for each in due if not each.log]
    if placed and not stands:
        session.resume("continue")
        return
    hit = {"hitBreakpointIds": stands} if stands else {}
    said = {"reason": _REASONS.get(stop.reason, stop.reason), "threadId": stop.thread, "allThreadsStopped": False}
    session.client.event("stopped", {**said, **hit, **_explained(session, shell, stop, frame), **_data(hit_data)})


def _data(hit: WatchHit | None) -> dict[str, Any]:
    return {"text": hit.text, "description": f"Paused on {hit.access} of {hit.description}"} if hit else {}


def _is_asked_for(session: Session, stop: Stopped) -> bool:
    """Whether only the frame of a Python stop can tell more of it."""
    into_nothing = stop.ran_nothing and session.stepped_from is not None
    return stop.language == "python" and (stop.reason == "breakpoint" or into_nothing)


def _explained(session: Session, shell: Shell, stop: Stopped, frame: Frame | None) -> dict[str, Any]:
    """The signal, or why an *into* went nowhere."""
    if stop.reason == "signal":
        return {"description": f"Paused on {shell.signal.partition(':')[0]}", "text": shell.signal}
    if stop.reason == "exception" and stop.language == "native":
        found = session.cxx_exceptions.info(stop.thread)
        text = f"{found.type}: {found.what}" if found else ""
        return {"description": f"Paused on {found.kind} of {found.type}", "text": text} if found else {}
    note = ""
    if frame and stop.ran_nothing:
        note = why_nothing(session.stepped_from, frame, shell.armed.get("functions", 0))
    if not note:
        return {}
    session.say(f"{note}\n")
    return {"text": note}


def _logged(shell: Shell, stop: Stopped, each: PlacedBreakpoint) -> str:
    """A log message with the expressions in its braces evaluated where the thread stands."""

    def value(found: re.Match[str]) -> str:
        try:
            return shell.attach().evaluate(stop.thread, found[1])
        except HarnessError as error:
            return f"<{error.message}>"

    return _BRACES.sub(value, each.log)
