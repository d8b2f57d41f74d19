"""What a client is told when the program stops; breakpoints that only count or log let it run on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.debugger.program import why_nothing
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from pyharness.dap.breakpoints import NativeBreakpoint
    from pyharness.dap.session import Session
    from pyharness.debugger.machine import Stopped

_REASONS = {"signal": "exception"}
_BRACES = re.compile(r"\{([^{}]+)\}")


def tell(session: Session, stop: Stopped) -> None:
    """Send ``stopped``, unless no breakpoint that was hit wants the program to stand."""
    hit = session.breakpoints.hit(stop.place) if stop.place else []
    due = [each for each in hit if each.due()]
    for each in due:
        if each.log:
            session.say(f"{_logged(session, stop, each)}\n", category="stdout")
    if hit and not [each for each in due if not each.log]:
        session.resume("continue")
        return
    body = {
        "reason": _REASONS.get(stop.reason, stop.reason),
        "threadId": stop.thread,
        "allThreadsStopped": False,
        "hitBreakpointIds": [each.number for each in due],
    }
    shell = session.require_program()
    if stop.reason == "signal":
        body |= {"description": f"Paused on {shell.signal.partition(':')[0]}", "text": shell.signal}
    elif stop.language == "python":
        _python(session, stop, body)
    if not body["hitBreakpointIds"]:
        del body["hitBreakpointIds"]
    session.client.event("stopped", body)


def _python(session: Session, stop: Stopped, body: dict[str, object]) -> None:
    """What only the frame can tell: which breakpoints lie there, and why an *into* went nowhere."""
    shell = session.require_program()
    if stop.reason == "breakpoint":
        frame = shell.python.stack(stop.thread, 8)[0]
        body["hitBreakpointIds"] = session.breakpoints.hit_line(frame.file, frame.line)
    elif stop.ran_nothing and session.stepped_from:
        frame = shell.python.stack(stop.thread, 8)[0]
        note = why_nothing(session.stepped_from, frame, shell.armed.get("functions", 0))
        if note:
            body["text"] = note
            session.say(f"{note}\n")


def _logged(session: Session, stop: Stopped, each: NativeBreakpoint) -> str:
    """A log message with the expressions in its braces evaluated where the thread stands."""
    shell = session.require_program()

    def value(found: re.Match[str]) -> str:
        try:
            return shell.attach().evaluate(stop.thread, found[1])
        except HarnessError as error:
            return f"<{error.message}>"

    return _BRACES.sub(value, each.log)
