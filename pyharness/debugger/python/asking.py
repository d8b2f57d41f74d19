"""Asks debugpy what runs the user's code on a thread that stands: for a limited time, and so that Ctrl-C ends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.debugger.interrupts import passed_to, postponed
from pyharness.debugger.python.dap_client import Pending
from pyharness.model.errors import HarnessError
from pyharness.model.evaluation import EVAL_TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.dapwire.message import Message
    from pyharness.debugger.python.dap_client import DapClient

GRACE = 2.0
"""Seconds that the program has, beyond the time limit, to say that it has ended an expression."""


class StuckError(HarnessError):
    """An expression did not end, and what it calls cannot be interrupted."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} did not end in time, and what it calls cannot be interrupted.",
            "Its thread stands in it until that returns. Go on (the program will when it can), detach, or end it.",
        )


class CrashedError(HarnessError):
    """A signal ended an expression, which runs in the midst of the program."""

    def __init__(self, what: str, crash: str) -> None:
        super().__init__(
            f"{what} {crash}.", "Its thread stands where it crashed. Continue to see that stop, or end the program."
        )


class Asking:
    """One question at a time; what it prints is kept."""

    def __init__(self, link: Callable[[], DapClient]) -> None:
        self._link = link
        self.seconds = EVAL_TIMEOUT
        """What an expression may take: the program ends it then, and says so."""
        self._running: Pending | None = None
        self._what = ""
        self._lost_its_time = False
        """Whether a signal that stops the program has kept what runs from ending in time."""
        self._prints: list[str] = []

    def ask(self, command: str, arguments: Message) -> Message:
        """The answer's body; ``StuckError`` where none comes, also for whatever is asked while that lasts."""
        self.check()
        self._prints.clear()
        self._what = repr(arguments["expression"]) if "expression" in arguments else f"The debugger's {command!r}"
        with passed_to(self.interrupt):
            link = self._link()
            with postponed():  # what is to be interrupted must be on its way
                # Noted first: the program may stop in the expression before this thread gets to run again.
                pending = self._running = Pending()
                link.post(command, arguments, pending)
            answered = self._is_answered(pending, self.seconds + GRACE)
        if not answered or pending.crash:
            self._refuse(pending)
        return self._link().wait(pending, command)

    def check(self) -> None:
        """Raise what keeps debugpy from answering: an earlier expression that still runs, or that crashed."""
        if self._running is not None and self._running.response is None:
            if self._lost_its_time:
                self._is_answered(self._running, GRACE)
            self._refuse(self._running)

    def _is_answered(self, pending: Pending, seconds: float) -> bool:
        self._lost_its_time = True
        answered = self._link().is_answered(pending, seconds)
        self._lost_its_time = False
        return answered

    def check_crash(self) -> None:
        """Raise what keeps the thread from everything: an expression that crashed on it."""
        if self._running is not None and self._running.crash and self._running.response is None:
            self._refuse(self._running)

    def _refuse(self, pending: Pending) -> None:
        if pending.crash:
            raise CrashedError(self._what, pending.crash)
        if not pending.answered.is_set():
            raise StuckError(self._what)

    @property
    def runs(self) -> bool:
        """Whether the program runs an expression now, or shows a variable; from any thread."""
        pending = self._running
        return pending is not None and not pending.answered.is_set()

    def crashed(self, crash: str) -> None:
        """Give up what runs, from any thread: a signal has ended it, which ``crash`` tells."""
        pending = self._running
        if pending is not None and not pending.answered.is_set():
            pending.crash = crash
            pending.answered.set()

    def interrupt(self) -> None:
        """End what runs, from any thread: the question is answered then."""
        self._link().post("cancel", {})

    def heard(self, event: Message | None) -> None:
        """An event of debugpy's, on the thread that reads it: what an expression printed comes before its answer."""
        if event is not None and event["event"] == "output":
            body = event.get("body") or {}
            if body.get("category") in {"stdout", "stderr"}:
                self._prints.append(str(body.get("output", "")))

    @property
    def printed(self) -> str:
        """What the latest expression has printed."""
        return "".join(self._prints)


def with_prints(printed: str, text: str) -> str:
    """An expression's text behind what it printed."""
    return f"{printed}{text}" if text else printed.removesuffix("\n")
