"""One rank, or process: a session on a thread of its own, whose lines come from the one prompt of all."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING

from pyharness.prompt.job.speaking import RankScreen
from pyharness.prompt.lines.sources import Lines
from pyharness.prompt.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyharness.debugger.action import Request
    from pyharness.debugger.stop import Stopped
    from pyharness.model.stops import Stop
    from pyharness.prompt.debuggee import Debuggee
    from pyharness.prompt.job.speaking import Speaking
    from pyharness.prompt.plan import Plan
    from pyharness.protocol.channel import Child

_END = None


class _RankSession(Session):
    """A session whose first commands may be those that another rank has shown."""

    quietly: frozenset[str] = frozenset()

    def do(self, line: str) -> None:
        """Do a command."""
        screen = self.screen
        if isinstance(screen, RankScreen) and line in self.quietly:
            screen.quiet = True
            super().do(line)
            screen.quiet = False
        else:
            super().do(line)

    def go_by(self, way: Callable[[Debuggee], Stopped | None], request: Request) -> Stop | None:
        """Go on; what was said until then is shown now, and not at the next stop."""
        if isinstance(self.screen, RankScreen):
            self.screen.flush()
        return super().go_by(way, request)


class Rank:
    """``tell(what, rank)`` is called on its thread: ``stands`` at its prompt, ``asks`` something, is ``over``."""

    forgives = True
    """What is to follow an error is the job's to say."""
    prompt = ""

    def __init__(
        self, number: int, child: Child, plan: Plan, speaking: Speaking, tell: Callable[[str, Rank], None]
    ) -> None:
        self.number = number
        self.pid, self.name, self.is_rank = child.pid, child.name, child.rank is not None
        self.state = "starts"
        """``starts``, ``runs``, ``stands`` or ``over``."""
        self.noticed = False
        """Whether a person was told of its stop."""
        self._tell = tell
        self._typed: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self.screen = RankScreen(self.number, speaking)
        self.session = _RankSession(plan, self.screen, Lines(self, self.screen))
        self.screen.live = lambda: self.is_running
        self._thread = threading.Thread(target=self._run, name=f"pyharness-rank-{self.number}", daemon=True)
        self._first: tuple[str, ...] = ()

    @property
    def is_running(self) -> bool:
        """Whether its program is waited for."""
        return self.session.debuggee is not None and self.session.debuggee.runs

    def begin(self, first: Sequence[str], *, quiet: bool) -> None:
        """Attach to it, and do these commands; ``quiet`` where another rank has shown what they say."""
        self._first = tuple(first)
        self.session.quietly = frozenset(first[:-1] if quiet else ())
        self._thread.start()

    def do(self, line: str, *, quiet: bool = False) -> None:
        """Do a command where it stands; ``tell`` says when that is done. A ``quiet`` one shows errors only."""
        self.state, self.noticed, self.screen.quiet = "runs", False, quiet
        self._typed.put(line)

    def do_beside(self, line: str) -> threading.Event:
        """Do a command that needs no stop, where it runs: on its thread, between two events. Set when it is done."""
        session, debuggee = self.session, self.session.debuggee
        done = threading.Event()

        def do() -> None:
            self.screen.quiet = True
            try:
                session.do_quietly(line)
            finally:
                self.screen.quiet = False
                done.set()

        if debuggee is not None:
            debuggee.meanwhile(do)
        else:
            done.set()
        return done

    def leave(self) -> None:
        """Leave its program running, wherever it is."""
        session, debuggee = self.session, self.session.debuggee

        def leaves() -> None:
            session.debuggee = session.position = None
            session.over = True
            if debuggee is not None:
                debuggee.shell.leave()
                debuggee.leave()

        if debuggee is None:
            return
        if debuggee.runs:
            debuggee.meanwhile(leaves)
        else:
            self.do("detach", quiet=True)

    def interrupt(self) -> None:
        """Ctrl-C: pause its program, or end the expression that is evaluated; from any thread."""
        debuggee = self.session.debuggee
        if debuggee is None:
            return
        if debuggee.runs:
            debuggee.interrupt()
        else:
            debuggee.shell.interrupt()

    def answer(self, *, yes: bool) -> None:
        """Answer what it asks."""
        self._answers.put(yes)

    def end(self, seconds: float) -> None:
        """Have its session end, and wait for that."""
        self._typed.put(_END)
        self._thread.join(seconds)

    # --- its session's lines ------------------------------------------------------------------------------------------

    def read(self) -> str:
        """The next line; ``EOFError`` at the end."""
        self.state, self.screen.quiet, self.session.quietly = "stands", False, frozenset()
        self._tell("stands", self)
        line = self._typed.get()
        if line is _END:
            raise EOFError
        return line

    def asks(self, question: str) -> bool:
        """Whether the person says yes; the job asks in words of its own."""
        del question
        self._tell("asks", self)
        return self._answers.get()

    def _run(self) -> None:
        try:
            self.session.run(self._first)
        finally:
            self.state = "over"
            self._tell("over", self)
