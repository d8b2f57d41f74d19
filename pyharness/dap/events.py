"""What a client is told of its program: stops, its end, log lines, places that were found, children."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.dap.beginning.children import offer
from pyharness.debugger.described_stop import why_nothing
from pyharness.debugger.listener import Listener
from pyharness.debugger.native.signals import NativeSignals
from pyharness.debugger.starting.launch import missing_in

if TYPE_CHECKING:
    from pyharness.dap.beginning.debuggee import Debuggee
    from pyharness.dap.session import Session
    from pyharness.dapwire.message import Message
    from pyharness.debugger.breaking.breakpoint import Breakpoint
    from pyharness.debugger.native.side import NativeSide
    from pyharness.debugger.shell import Shell
    from pyharness.debugger.stop import Stopped
    from pyharness.model.errors import HarnessError
    from pyharness.model.frames import Frame
    from pyharness.protocol.channel import Child
    from pyharness.protocol.mi import WatchHit

_REASONS = {"signal": "exception"}


class ProgramEvents(Listener):
    """Hears of one program, and tells its session's client at the end of the turn, when what was asked is answered."""

    def __init__(self, session: Session, debuggee: Debuggee) -> None:
        self._session = session
        self._debuggee = debuggee

    def configure(self) -> bool:
        """debugpy takes breakpoints: the client has to say which, or has said it, as after a restart."""
        session = self._session
        if not session.restarting:
            session.client.event("initialized")
            return self._debuggee.configured
        session.restarting = False
        self._debuggee.configured = True
        session.breakpoints.again()
        return True

    def ready(self) -> None:
        """Begin, if the client has configured."""
        self._session.soon(self._session.begin)

    def stopped(self, stop: Stopped) -> None:
        """Tell the client, where the program still stands there by then."""
        self._session.soon(lambda: self._session.guarded(lambda shell: _tell_stop(self._session, shell, stop)))

    def ended(self, exit_code: int) -> None:
        """Tell the client, and what it has waited for in vain."""
        self._session.soon(lambda: self._ended(exit_code))

    def _ended(self, code: int) -> None:
        session, debuggee = self._session, self._debuggee
        if session.debuggee is not debuggee or session.over:
            return
        debuggee.close()
        for line in session.breakpoints.unreached(debuggee.shell):
            session.say(f"{line}\n")
        if not debuggee.shell.ready:
            session.say(f"{missing_in(debuggee.python)}\n", important=True)
        if not debuggee.shell.process.exit_known:
            session.say("The program ended; its exit code is its parent's to know, and 0 stands for it here.\n")
        session.client.event("exited", {"exitCode": code})
        session.end()

    def bound(self, breakpoint_: Breakpoint) -> None:
        """Tell the client."""
        self._session.breakpoints.bound(breakpoint_)

    def refused(self, breakpoint_: Breakpoint, problem: HarnessError) -> None:
        """Tell the client; its other breakpoints hold."""
        self._session.breakpoints.refused(breakpoint_, problem)

    def output(self, text: str, category: str) -> None:
        """Show what debugpy says in the client's console."""
        self._session.say(text, category=category)

    def logged(self, breakpoint_: Breakpoint, text: str) -> None:
        """Show it among the program's output."""
        self._session.breakpoints.logged(breakpoint_)
        self._session.say(f"{text}\n", category="stdout")

    def libraries(self, native: NativeSide) -> None:
        """Stop at the C++ exceptions and signals that the client wants."""
        self._session.native_filters.libraries(native)

    def child(self, child: Child) -> None:
        """Offer the client a session for it."""
        self._session.soon(lambda: offer(self._session, child))

    def other(self, source: str, item: Any) -> None:
        """What the client says waits until the shell has what it waits for."""
        self._session.later(source, item)


def _tell_stop(session: Session, shell: Shell, stop: Stopped) -> None:
    """Send ``stopped``, unless no data breakpoint that was hit wants the program to stand."""
    if session.over or shell.machine.focus is not stop:
        return
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
    session.ahead.stopped()


def _data(accesses: list[WatchHit]) -> Message:
    if not accesses:
        return {}
    what = " and ".join(f"{hit.access} of {hit.description}" for hit in accesses)
    return {"description": f"Paused on {what}", "text": "\n".join(hit.text for hit in accesses)}


def _is_asked_for(session: Session, stop: Stopped) -> bool:
    """Whether only the frame of a Python stop can tell more of it."""
    into_nothing = stop.ran_nothing and session.stepped_from is not None
    return stop.language == "python" and (stop.reason == "breakpoint" or into_nothing)


def _explained(session: Session, shell: Shell, stop: Stopped, frame: Frame | None) -> Message:
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
