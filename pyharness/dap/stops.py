"""What a client is told when the program stops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.debugger.described_stop import why_nothing
from pyharness.debugger.native.signals import NativeSignals

if TYPE_CHECKING:
    from pyharness.dap.session import Session
    from pyharness.debugger.shell import Shell
    from pyharness.debugger.stop import Stopped
    from pyharness.model.frames import Frame
    from pyharness.protocol.mi import WatchHit

_REASONS = {"signal": "exception"}


def tell(session: Session, stop: Stopped) -> None:
    """Send ``stopped``, unless no data breakpoint that was hit wants the program to stand."""
    shell = session.require_program()
    frame = shell.python.stack(stop.thread, 8)[0] if _is_asked_for(session, stop) else None
    numbers = session.breakpoints.of_line(frame.file, frame.line) if frame else []
    accesses: list[WatchHit] = []
    if stop.reason == "data breakpoint":
        numbers, accesses = session.data_breakpoints(shell).hits(stop.thread)
        if not numbers:
            session.resume("continue")
            return
    stands = numbers + [each.number for each in session.breakpoints.at(stop.breakpoint, frame)]
    condition = shell.failed_conditions.pop(stop.thread, None)
    failed = condition.at(frame.line if frame else None) if condition else ""
    if failed:
        session.say(f"{failed}\n", important=True)
    hit = {"hitBreakpointIds": stands} if stands else {}
    said = {
        "reason": _REASONS.get(stop.reason, stop.reason),
        "threadId": stop.thread,
        "allThreadsStopped": bool(shell.immobile),
    }
    why = {"description": "Paused on a condition that raised", "text": failed} if failed else _data(accesses)
    session.client.event("stopped", {**said, **hit, **_explained(session, shell, stop, frame), **why})


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
        note = why_nothing(session.stepped_from, frame, shell.armed)
    if not note:
        return {}
    session.say(f"{note}\n")
    return {"text": note}
