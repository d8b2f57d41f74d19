"""What a client is told when the program stops; breakpoints that only count or log let it run on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pyharness.debugger.native_signals import NativeSignals
from pyharness.debugger.program import why_nothing
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from pyharness.dap.placed_breakpoint import PlacedBreakpoint
    from pyharness.dap.session import Session
    from pyharness.debugger.machine import Stopped
    from pyharness.debugger.shell import Shell
    from pyharness.model.frames import Frame
    from pyharness.protocol.mi import WatchHit

_REASONS = {"signal": "exception"}
_BRACES = re.compile(r"\{([^{}]+)\}")


def tell(session: Session, stop: Stopped) -> None:
    """Send ``stopped``, unless no breakpoint that was hit wants the program to stand."""
    shell = session.require_program()
    frame = shell.python.stack(stop.thread, 8)[0] if _is_asked_for(session, stop) else None
    numbers = session.breakpoints.of_line(frame.file, frame.line) if frame else []
    accesses: list[WatchHit] = []
    if stop.reason == "data breakpoint":
        numbers, accesses = session.data_breakpoints(shell).hits(stop.thread)
        if not numbers:
            session.resume("continue")
            return
    placed = session.breakpoints.at(stop.place, frame)
    failed = shell.conditions.at(stop.thread, frame.line if frame else None)
    due = [each for each in placed if failed or each.due()]
    for each in due if not failed else ():
        if each.log:
            session.say(f"{_logged(shell, stop, each)}\n", category="stdout")
    stands = numbers + [each.number for each in due if not each.log]
    if failed and stop.language == "native":  # Python has said it itself
        session.say(f"{failed}\n", important=True)
    if placed and not stands:
        session.resume("continue")
        return
    hit = {"hitBreakpointIds": stands} if stands else {}
    said = {"reason": _reason(session, stop), "threadId": stop.thread, "allThreadsStopped": bool(shell.immobile)}
    why = {"description": "Paused on a condition that raised", "text": failed} if failed else _data(accesses)
    session.client.event("stopped", {**said, **hit, **_explained(session, shell, stop, frame), **why})


def _reason(session: Session, stop: Stopped) -> str:
    jumped, session.jumped = session.jumped, 0
    return "goto" if jumped == stop.thread and stop.reason == "step" else _REASONS.get(stop.reason, stop.reason)


def _data(accesses: list[WatchHit]) -> dict[str, Any]:
    if not accesses:
        return {}
    what = " and ".join(f"{hit.access} of {hit.description}" for hit in accesses)
    return {"description": f"Paused on {what}", "text": "\n".join(hit.text for hit in accesses)}


def _is_asked_for(session: Session, stop: Stopped) -> bool:
    """Whether only the frame of a Python stop can tell more of it."""
    into_nothing = stop.ran_nothing and session.stepped_from is not None
    return stop.language == "python" and (stop.reason == "breakpoint" or into_nothing)


def _explained(session: Session, shell: Shell, stop: Stopped, frame: Frame | None) -> dict[str, Any]:
    """The signal, or why an *into* went nowhere."""
    if stop.reason == "signal":
        signal = NativeSignals(shell.attach()).info(stop.thread)
        return {"description": f"Paused on {signal.name}", "text": signal.text}
    if stop.reason == "exception" and stop.language == "native":
        found = session.native_filters.info(stop.thread)
        text = f"{found.type}: {found.what}" if found else ""
        return {"description": f"Paused on {found.kind} of {found.type}", "text": text} if found else {}
    note = ""
    if frame and stop.ran_nothing:
        note = why_nothing(session.stepped_from, frame, shell.armed.functions)
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
