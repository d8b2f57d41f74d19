"""A job at the prompt: one person, and a session for each rank that is debugged; the others run."""

from __future__ import annotations

import queue
import signal
import time
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any

from pyharness.debugger.starting.attach import Attachment
from pyharness.host.exit_status import ExitStatus, of_program
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.text.ranges import in_ranges
from pyharness.model.text.styled_line import Line
from pyharness.prompt.debuggee import TerminalGoneError
from pyharness.prompt.job.lines import Spoken, spoken
from pyharness.prompt.job.listing import help_lines, rank_lines
from pyharness.prompt.job.rank import Rank
from pyharness.prompt.job.speaking import Speaking
from pyharness.prompt.job.told import nobody_came, stopped_too, waits_for
from pyharness.prompt.plan import Plan
from pyharness.prompt.signals import HUNG_UP, handled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from types import FrameType

    from pyharness.debugger.starting.job import JobCommand, StartedJob
    from pyharness.prompt.lines.sources import Lines
    from pyharness.prompt.screen import Screen
    from pyharness.prompt.terminal.terminal import Terminal
    from pyharness.protocol.channel import Child

_LOOKS = 0.05
"""Seconds from one look at who runs to the next, where nothing is told."""
_STARTS = 15.0
"""Seconds in which a rank comes to its first place by itself, until `rank N` pauses it on the way."""
_LONG = 3.0
"""Seconds after which a person is told what a rank may wait for."""
_PATIENCE = 10.0
"""Seconds that the session of a rank may take to end."""
_TOGETHER = 1.0
"""Seconds in which the answers of all ranks to one command come."""


class JobSession:
    """One prompt for the ranks of a job that ``command`` starts."""

    def __init__(
        self,
        command: JobCommand,
        screen: Screen,
        lines: Lines,
        terminal: Terminal | None,
        include: tuple[str, ...],
        eval_timeout: float,
    ) -> None:
        self._command = command
        self._speaking = Speaking(screen)
        self._lines = lines
        self._terminal = terminal
        self._include, self._eval_timeout = include, eval_timeout
        self._events: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._job: StartedJob | None = None
        self.ranks: dict[int, Rank] = {}
        """The debugged ones, by number."""
        self.others: dict[int, int] = {}
        """Rank → process id of those that are not."""
        self.current: Rank | None = None
        """The rank that the prompt is of."""
        self._news: list[Rank] = []
        """Ranks that came to a stop since the prompt was another's."""
        self._asking: list[Rank] = []
        self._places: list[str] = []
        """Commands about places so far: a rank that comes later does them, too."""
        self._first: list[str] = []
        self._exit_code: int | None = None
        self._over = self._left = self._waits = self._failed = False

    def run(self, places: Sequence[str], first: Sequence[str] = ()) -> int:
        """Start the job, and speak with its ranks until its end; the exit status.

        Each rank goes on to the first of ``places``, does what comes ``first``, or stands at its first line.
        """
        self._places = [f"break {where}" for where in places]
        self._first = ["continue"] if places else list(first)
        with self._signals_heard():
            try:
                self._start()
                self._speak()
            except TerminalGoneError:
                self._left = True
                return HUNG_UP
            finally:
                self._close()
        return self._status()

    def _start(self) -> None:
        if self._terminal:
            self._terminal.on_interrupt, self._terminal.on_gone = self._interrupt, self._gone
        self._job = self._command.start(
            lambda child: self._events.put(("rank", child)), lambda code: self._events.put(("exit", code))
        )

    def _status(self) -> int:
        if self._failed:
            return int(ExitStatus.FAILED)
        if self._exit_code is None:
            return int(ExitStatus.OK)
        return of_program(self._exit_code)

    # --- waiting ------------------------------------------------------------------------------------------------------

    def _speak(self) -> None:
        while True:
            self._wait(self._has_answer)
            if self._over:
                return
            if self._asking:
                self._answer(self._asking.pop(0))
            elif self._finds_current():
                self._line()
            elif self._exit_code is not None:
                self._ended(self._exit_code)
                return

    def _has_answer(self) -> bool:
        """Whether there is something for a person to say, or nothing any more."""
        if self._over or self._asking or (self.current and self.current.state == "stands"):
            return True
        if self._news and (self.current is None or self.current.is_running or self.current.state == "over"):
            return True
        if self._after_the_end() is not None:
            return True
        return self._exit_code is not None and not self._alive()

    def _after_the_end(self) -> Rank | None:
        """A rank that stands, where the one that the prompt was of has ended."""
        if self.current is None or self.current.state != "over":
            return None
        return next((rank for rank in self.ranks.values() if rank.state == "stands"), None)

    def _alive(self) -> list[Rank]:
        return [rank for rank in self.ranks.values() if rank.state != "over"]

    def _wait(self, done: Callable[[], bool], seconds: float | None = None) -> None:
        """Take what comes until ``done``, but no longer than ``seconds``; the program has the terminal meanwhile."""
        begun, told = time.monotonic(), False
        with self._lent():
            while not done() and (seconds is None or time.monotonic() < begun + seconds):
                with suppress(queue.Empty):
                    self._take(*self._events.get(timeout=_LOOKS))
                if not told and seconds is None and time.monotonic() > begun + _LONG:
                    told = True
                    self._tell_who_stands()

    def _lent(self) -> AbstractContextManager[None]:
        self._speaking.typed(begins=False)
        self._waits = True
        return self._terminal.lent() if self._terminal else nullcontext()

    def _take(self, what: str, item: Any) -> None:
        if what == "rank":
            self._called(item)
        elif what == "exit":
            self._exit_code = item
        elif what == "stands":
            if item is not self.current and item not in self._news:
                self._news.append(item)
            self._check(item)
        elif what == "asks":
            self._asking.append(item)
        elif what == "gone":
            raise TerminalGoneError
        elif what == "over":
            self._is_over(item)

    def _called(self, child: Child) -> None:
        number = child.rank or 0
        if not child.handle:
            self.others.setdefault(number, child.pid)
            return
        plan = Plan(Attachment(child.handle), self._include, self._eval_timeout, waits=True)
        self.others.pop(number, None)
        rank = Rank(child, plan, self._speaking, lambda what, who: self._events.put((what, who)))
        rank.begin([*self._places, *self._first], quiet=bool(self.ranks))
        self.ranks[number] = rank

    def _is_over(self, rank: Rank) -> None:
        rank.screen.flush()
        if rank in self._news:
            self._news.remove(rank)
        self._check(rank)

    def _check(self, rank: Rank) -> None:
        """End it all at an error in what no person types."""
        if rank.screen.failed and not self._lines.is_typed:
            rank.screen.flush()
            self._failed = self._over = True

    def _tell_who_stands(self) -> None:
        standing = [rank.number for rank in self.ranks.values() if rank.state == "stands"]
        if self.current and self.current.is_running and standing:
            self._speaking.screen.note(waits_for(self.current.number, standing))

    # --- speaking -----------------------------------------------------------------------------------------------------

    def _finds_current(self) -> bool:
        """Whether a rank stands that a person can speak with: the one before, else the first that came."""
        if self.current is None or self.current.state != "stands":
            self.current = self._news.pop(0) if self._news else self._after_the_end()
        if self.current is None:
            return False
        if self._terminal and self._terminal.midline:
            self._terminal.midline = False
            self._speaking.screen.write_lines([Line("")])
        self.current.screen.flush()
        return True

    def _line(self) -> None:
        """One line of a person's, or of a file."""
        rank = self.current
        if rank is None:
            return
        self._notice()
        self._waits = False
        self._lines.prompt = f"(ph rank {rank.number}) "
        self._speaking.switched(rank.number)
        try:
            self._speaking.typed(begins=True)
            line = self._lines.read().strip()
        except EOFError:
            line = "quit" if not self._lines.is_typed or self._lines.asks("The job still runs. End it?") else "#"
        except KeyboardInterrupt:
            self._speaking.screen.note("`quit` ends the session.")
            return
        finally:
            self._speaking.typed(begins=False)
        try:
            self._do(spoken(line), rank)
        except HarnessError as error:
            self._speaking.screen.error(error.message, error.remedy)
            if not self._lines.failed():
                self._failed = self._over = True

    def _notice(self) -> None:
        """Say which ranks have come to a stop meanwhile."""
        new = [rank.number for rank in self._news if not rank.noticed]
        for rank in self._news:
            rank.noticed = True
        if new:
            self._speaking.screen.note(stopped_too(new))

    def _do(self, said: Spoken, rank: Rank) -> None:
        if said.word == "quit":
            self._over = True
        elif said.word == "detach":
            self._over = self._left = True
        elif said.word == "help":
            self._speaking.screen.write_lines(help_lines())
            rank.do(said.line)
        elif said.word == "ranks":
            self._speaking.screen.write_lines(rank_lines(self))
        elif said.word == "rank":
            self._go_to(self._named(said.rank), said.line)
        elif said.word == "all":
            self._do_in_all(said.line, rank)
        elif said.word == "places":
            self._set_in_all(said.line, rank)
        else:
            rank.do(said.line)

    def _named(self, number: int) -> Rank:
        rank = self.ranks.get(number)
        if rank is None or rank.state == "over":
            there = in_ranges(each.number for each in self._alive())
            why = "is not debugged: it runs on" if number in self.others else "is not there"
            raise UsageError(f"Rank {number} {why}.", f"Debugged are {there}. `ranks` lists all.")
        return rank

    def _go_to(self, rank: Rank, line: str) -> None:
        """Speak with another rank from now on; with a ``line``, do only that there."""
        if rank.state != "stands":
            if not line:
                self._wait_for(rank)
                return
            raise UsageError(f"Rank {rank.number} runs.", f"`rank {rank.number}` pauses it, and goes there.")
        if rank in self._news:
            self._news.remove(rank)
            rank.screen.flush()
        elif not line:
            rank.do("frame")
        if line:
            rank.do(line)
            self._wait(lambda: rank.state != "runs" or rank.is_running)
            rank.screen.flush()
            return
        self.current = rank

    def _wait_for(self, rank: Rank) -> None:
        """Pause a rank that runs, and wait until it stands; one that starts may come to its first place by itself."""

        def comes() -> bool:
            return rank.state in {"stands", "over"} or bool(self._asking)

        self.current = rank
        if rank.state == "starts":
            self._wait(comes, _STARTS)
        if rank.is_running and not comes():
            rank.interrupt()
        self._wait(comes)

    def _do_in_all(self, line: str, current: Rank) -> None:
        """Do a command in each rank that stands; the answers come one after the other."""
        standing = [rank for rank in self.ranks.values() if rank.state == "stands"]
        for rank in standing:
            if rank in self._news:
                self._news.remove(rank)
                rank.screen.drop()
            rank.do(line)
        self._wait(lambda: all(rank.state != "runs" for rank in standing), _TOGETHER)
        for rank in standing:
            if rank.state == "stands":
                rank.screen.flush()
                rank.noticed = True
        self.current = current

    def _set_in_all(self, line: str, current: Rank) -> None:
        """Do a command about places in each rank, also where it runs; one answer is enough."""
        self._places.append(line)
        for rank in self._alive():
            if rank.state == "stands":
                rank.do(line, quiet=rank is not current)
            else:
                rank.do_beside(line)
        self._wait(lambda: current.state != "runs")
        for rank in [each for each in self._news if each.state == "stands"]:
            rank.noticed = True

    def _answer(self, rank: Rank) -> None:
        """Ask a person who pressed Ctrl-C twice: without one of its ranks a job is none."""
        rank.screen.flush()
        yes = self._lines.asks(f"rank {rank.number} has not come to a stop yet. End the job?")
        self._over = self._over or yes
        rank.answer(yes=yes)

    # --- signals and the end ------------------------------------------------------------------------------------------

    def _interrupt(self) -> None:
        """Ctrl-C while ranks run: the one that the prompt is of is paused, else all; from any thread."""
        current = self.current if self.current and self.current.state != "over" else None
        for rank in [current] if current else self._alive():
            rank.interrupt()

    def _gone(self) -> None:
        self._events.put(("gone", None))

    def _signals_heard(self) -> AbstractContextManager[None]:
        handlers = {signal.SIGINT: self._heard_interrupt, signal.SIGHUP: self._heard_hangup}
        return handled(handlers) if self._lines.is_typed else nullcontext()

    def _heard_interrupt(self, _number: int, _frame: FrameType | None) -> None:
        if not self._waits:
            raise KeyboardInterrupt
        self._interrupt()

    def _heard_hangup(self, _number: int, _frame: FrameType | None) -> None:
        if not self._waits:
            raise TerminalGoneError
        self._gone()

    def _ended(self, code: int) -> None:
        screen = self._speaking.screen
        if self.ranks:
            screen.write_lines([Line(f"The job ended with {code}.", "bad" if code else "faint")])
            return
        error = nobody_came(code, self.others)
        screen.error(error.message, error.remedy)
        self._failed = True

    def _close(self) -> None:
        """End the job; one that was left runs on."""
        job = self._job
        if job is None:
            return
        if self._left:
            job.leave()
            for rank in self._alive():
                rank.leave()
        elif self._exit_code is None or self._failed:
            job.end()
        for rank in list(self.ranks.values()):
            rank.end(_PATIENCE)
        job.close()
        if self._left:
            self._speaking.screen.write_lines([Line(f"The job runs on without a debugger (process {job.pid}).")])
        if self._terminal:
            self._terminal.close()
