"""One program under the debugger, for a client: a session of the prompt on a thread of its own."""

from __future__ import annotations

import queue
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

from pyharness.mcp.collected import Collected
from pyharness.model.errors import DebuggerLostError, HarnessError, UsageError
from pyharness.prompt.commands import all as _commands  # noqa: F401  (registers them)
from pyharness.prompt.lines.sources import Lines
from pyharness.prompt.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyharness.debugger.action import Request
    from pyharness.debugger.stop import Stopped
    from pyharness.mcp.printed import Printed
    from pyharness.model.stops import Stop
    from pyharness.prompt.debuggee import Debuggee
    from pyharness.prompt.plan import Plan

T = TypeVar("T")
_PATIENCE = 10.0
"""Seconds that a session may take to end."""
_LOOKS = 0.02
"""Seconds between two looks at how far it is."""


class _Nobody:
    """Who types at this prompt: its commands are given to it one by one."""

    forgives = True
    prompt = ""

    def read(self) -> str:
        """No line ever."""
        raise EOFError

    def asks(self, question: str) -> bool:
        """Nobody is there to say yes."""
        del question
        return False


class _Session(Session):
    """A session that keeps its last stop."""

    stop: Stop | None = None
    pauses = False
    """Whether what has the program go on is to end: a step of several ends at its stop, and the next is none."""
    ends = False
    """Whether the session is to end: nothing is started any more."""

    def start(self) -> None:
        """Start the program."""
        if self.ends:
            raise HarnessError("The session has ended.")
        super().start()

    def go_by(self, way: Callable[[Debuggee], Stopped | None], request: Request) -> Stop | None:
        """Go on in some ``way`` to the next stop; ``None`` and no step further where a pause was asked for."""
        if self.pauses:
            return None
        self.stop = None
        self.stop = super().go_by(way, request)
        return self.stop


class Debugged:
    """What is asked of it is done one by one on its thread; ``pause``, ``cancel`` and ``end`` come from any other."""

    def __init__(self, name: str, plan: Plan, printed: Printed | None) -> None:
        self.name = name
        self.printed = printed
        """What the program prints; ``None`` where it was not started here."""
        self.screen = Collected()
        self.session = _Session(plan, self.screen, Lines(_Nobody(), self.screen))
        self.moving: Future[None] | None = None
        """What has the program run, until it has come to its next stop."""
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=f"pyharness-{name}", daemon=True)
        self._thread.start()

    @property
    def is_moving(self) -> bool:
        """Whether the program starts, or runs to its next stop."""
        return self.moving is not None and not self.moving.done()

    @property
    def pid(self) -> int:
        """The program's process; 0 where there is none."""
        debuggee = self.session.debuggee
        return debuggee.shell.process.pid if debuggee else 0

    # --- what is asked ------------------------------------------------------------------------------------------------

    def begin(self, places: Sequence[str], *, runs: bool) -> Future[None]:
        """Start the program with these places set; where it ``runs``, it goes on to its first stop."""
        return self._move(lambda: self.session.begin(["continue"] if runs else [], places))

    def move(self, line: str) -> Future[None]:
        """Do a command that has the program go on."""
        self.require_alive()
        self._require_still()
        return self._move(lambda: self.session.do(line))

    def ask(self, work: Callable[[Session], T]) -> Future[tuple[T, str]]:
        """Do something where the program stands; what it gives, and what it has shown."""
        self._require_still()
        return self._do(lambda: (work(self.session), self.screen.take()))

    def ask_anytime(self, work: Callable[[Session], T]) -> Future[tuple[T, str]]:
        """Do something that needs no stop: while the program runs, between two events."""
        if not self.is_moving:
            return self.ask(work)
        debuggee = self._started()
        future: Future[tuple[T, str]] = Future()

        def once() -> None:
            if not (future.running() or future.done()):
                self._fulfil(future, lambda: (work(self.session), self.screen.take()))

        debuggee.meanwhile(once)
        self._work.put(once)  # where it came to its stop before it heard of that
        return future

    def require_alive(self) -> None:
        """``UsageError`` where the program has ended."""
        code = self.session.exit_code
        if code is not None and self.session.debuggee is None and not self.is_moving:
            raise UsageError(f"The program of {self.name} has ended (exit code {code}).", "start runs it again.")

    def _started(self) -> Debuggee:
        """The program, which has begun; between two steps of several it runs as little as when it starts."""
        debuggee = self.session.debuggee
        if debuggee is None or not debuggee.shell.machine.started:
            raise HarnessError("The program is starting.", 'Wait for it: go with how="wait".')
        return debuggee

    def _require_still(self) -> None:
        if self.is_moving:
            raise HarnessError(
                f"The program of {self.name} runs.", 'Wait for its next stop: go with how="wait"; or how="pause".'
            )

    def _move(self, work: Callable[[], None]) -> Future[None]:
        self.session.pauses = False
        self.moving = self._do(work)
        return self.moving

    def _do(self, work: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        self._work.put(lambda: self._fulfil(future, work))
        return future

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()

    def _fulfil(self, future: Future[T], work: Callable[[], T]) -> None:
        """Do it on this thread, unless it was cancelled before; what goes wrong is the future's."""
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(work())
        except DebuggerLostError as error:
            self.session.lost(error)
            self.screen.take()  # the error says it
            future.set_exception(error)
        except KeyboardInterrupt:  # it was given up at its start
            future.set_exception(HarnessError(f"{self.name} has ended."))
        except BaseException as error:  # noqa: BLE001  (whoever waits raises it)
            future.set_exception(error)

    # --- from any thread ----------------------------------------------------------------------------------------------

    def pause(self) -> None:
        """Have the program come to a stop wherever it is, and of several steps do no other; again, nothing more."""
        if not self.is_moving:
            raise UsageError("The program stands.", 'go with how="run" has it run on.')
        debuggee = self._started()
        if not self.session.pauses:
            self.session.pauses = True
            debuggee.interrupt()

    def cancel(self) -> None:
        """End the expression that is evaluated, and nothing else."""
        debuggee = self.session.debuggee
        if debuggee is not None and not debuggee.runs:
            debuggee.shell.interrupt()

    def end(self, *, detach: bool) -> None:
        """End the program, or leave it running: one that was attached to is left in any case. Waits for that."""
        self.session.ends = self.session.pauses = True
        self.cancel()
        self._do(lambda: self._end(detach=detach))  # where it stands
        self._work.put(None)
        told: set[Debuggee] = set()
        over = time.monotonic() + _PATIENCE
        while self._thread.is_alive() and time.monotonic() < over:
            told |= self._told_to_end(told, detach=detach)
            self._thread.join(_LOOKS)
        if self.printed:
            self.printed.close()

    def _told_to_end(self, told: set[Debuggee], *, detach: bool) -> set[Debuggee]:
        """Tell a program that starts or runs, once; it may be anywhere between its start and its next stop."""
        starting, debuggee = self.session.starting, self.session.debuggee
        if starting is not None and starting.runs and not detach and starting not in told:
            starting.give_up()
            return {starting}
        if debuggee is not None and debuggee.runs and self.is_moving and debuggee not in told:
            leaves = detach or not debuggee.ours
            debuggee.meanwhile(lambda: self._leave(debuggee) if leaves else debuggee.shell.kill())
            return {debuggee}
        return set()

    def _end(self, *, detach: bool) -> None:
        debuggee = self.session.debuggee
        if debuggee is not None and (detach or not debuggee.ours):
            self._leave(debuggee)
        else:
            self.session.drop()

    def _leave(self, debuggee: Debuggee) -> None:
        self.session.debuggee = self.session.position = None
        debuggee.shell.leave()
        debuggee.leave()
