"""Several programs at one prompt: ranks of a job, or a program's processes; a session for each that is debugged."""

from __future__ import annotations

import queue
import time
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyharness.debugger.starting.attach import Attachment
from pyharness.host.exit_status import ExitStatus, of_program
from pyharness.model.errors import HarnessError
from pyharness.model.text.styled_line import Line
from pyharness.prompt.debuggee import TerminalGoneError
from pyharness.prompt.job.lines import Spoken, spoken
from pyharness.prompt.job.listing import help_lines, rank_lines
from pyharness.prompt.job.members import PROCESSES, RANKS
from pyharness.prompt.job.news import News
from pyharness.prompt.job.rank import Rank
from pyharness.prompt.job.signals_of_all import SignalsOfAll
from pyharness.prompt.job.speaking import Speaking
from pyharness.prompt.job.told import nobody_came, not_debugged, runs, stopped_too, unreached, waits_for
from pyharness.prompt.plan import Plan
from pyharness.prompt.signals import HUNG_UP

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

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
        self.members = PROCESSES if command.children else RANKS
        self._speaking = Speaking(screen, self.members)
        self._lines = lines
        self._terminal = terminal
        self._include, self._eval_timeout = include, eval_timeout
        self._events: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._job: StartedJob | None = None
        self.ranks: dict[int, Rank] = {}
        """The debugged ones, by number."""
        self.others: dict[int, int] = {}
        """Rank → process id of those that are not."""
        self.world = 0
        """How many ranks there are, as far as one has said."""
        self.current: Rank | None = None
        """The rank that the prompt is of."""
        self._news = News()
        self._asking: list[Rank] = []
        self._places: list[str] = []
        """Commands about places so far: a rank that comes later does them, too."""
        self._first: list[str] = []
        self._exit_code: int | None = None
        self._over = self._left = self._failed = False
        self._signals = SignalsOfAll(self._interrupt, self._gone)

    def run(self, places: Sequence[str], first: Sequence[str] = ()) -> int:
        """Start the job, and speak with its ranks until its end; the exit status.

        Each rank goes on to the first of ``places``, does what comes ``first``, or stands at its first line.
        """
        self._places = [f"break {where}" for where in places]
        self._first = ["continue"] if places else list(first)
        with self._signals.heard(typed=self._lines.is_typed):
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
        self._signals.waits = True
        return self._terminal.lent() if self._terminal else nullcontext()

    def _take(self, what: str, item: Any) -> None:
        if what == "rank":
            self._called(item)
        elif what == "exit":
            self._exit_code = item
        elif what == "stands":
            if item is not self.current:
                self._news.add(item)
            self._check(item)
        elif what == "asks":
            self._asking.append(item)
        elif what == "gone":
            raise TerminalGoneError
        elif what == "over":
            self._is_over(item)

    def _called(self, child: Child) -> None:
        are_processes = self.members is PROCESSES
        number = len(self.ranks) + 1 if are_processes else child.rank or 0
        self.world = max(self.world, child.world or 0)
        if not child.handle:
            self.others.setdefault(number, child.pid)
            return
        plan = Plan(
            Attachment(child.handle, file=self._command.program.file), self._include, self._eval_timeout, waits=True
        )
        plan = replace(plan, together=are_processes, child=are_processes and number > 1)
        self.others.pop(number, None)
        rank = Rank(number, child, plan, self._speaking, lambda what, who: self._events.put((what, who)))
        rank.begin([*self._places, *(["continue"] if plan.child else self._first)], quiet=bool(self.ranks))
        self.ranks[number] = rank

    def _is_over(self, rank: Rank) -> None:
        rank.screen.flush()
        self._news.take(rank)
        self._check(rank)

    def _check(self, rank: Rank) -> None:
        """End it all at an error in what no person types."""
        if rank.screen.failed and not self._lines.is_typed:
            rank.screen.flush()
            self._failed = self._over = True

    def _tell_who_stands(self) -> None:
        standing = [rank.number for rank in self.ranks.values() if rank.state == "stands"]
        if self.current and self.current.is_running and standing:
            self._speaking.screen.note(waits_for(self.current.number, standing, self.members))

    # --- speaking -----------------------------------------------------------------------------------------------------

    def _finds_current(self) -> bool:
        """Whether a rank stands that a person can speak with: the one before, else the first that came."""
        if self.current is None or self.current.state != "stands":
            self.current = self._news.first() or self._after_the_end()
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
        self._signals.waits = False
        self._lines.prompt = f"(ph {self.members.one} {rank.number}) "
        self._speaking.switched(rank.number)
        try:
            self._speaking.typed(begins=True)
            line = self._lines.read().strip()
        except EOFError:
            ends = not self._lines.is_typed or self._lines.asks(f"The {self.members.whole} still runs. End it?")
            line = "quit" if ends else "#"
        except KeyboardInterrupt:
            self._speaking.screen.note("`quit` ends the session.")
            return
        finally:
            self._speaking.typed(begins=False)
        try:
            self._do(spoken(line, self.members), rank)
        except HarnessError as error:
            self._speaking.screen.error(error.message, error.remedy)
            if not self._lines.failed():
                self._failed = self._over = True

    def _notice(self) -> None:
        """Say which ranks have come to a stop meanwhile."""
        if new := self._news.noticed():
            self._speaking.screen.note(stopped_too(new, self.members))

    def _do(self, said: Spoken, rank: Rank) -> None:
        if said.word == "quit":
            self._over = True
        elif said.word == "detach":
            self._over = self._left = True
        elif said.word == "help":
            self._speaking.screen.write_lines(help_lines(self.members))
            rank.do(said.line)
        elif said.word == "list":
            self._speaking.screen.write_lines(rank_lines(self))
        elif said.word == "one":
            self._go_to(self._named(said.number), said.line)
        elif said.word == "all":
            self._do_in_all(said.line, rank)
        elif said.word == "places":
            self._set_in_all(said.line, rank)
        else:
            rank.do(said.line)

    def _named(self, number: int) -> Rank:
        rank = self.ranks.get(number)
        if rank is None or rank.state == "over":
            raise not_debugged(number, number in self.others, [each.number for each in self._alive()], self.members)
        return rank

    def _go_to(self, rank: Rank, line: str) -> None:
        """Speak with another rank from now on; with a ``line``, do only that there."""
        if rank.state != "stands":
            if not line:
                self._wait_for(rank)
                return
            raise runs(rank.number, self.members)
        if self._news.take(rank):
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
            self._wait(lambda: comes() or (rank.is_running and not rank.is_rank), _STARTS)
        if rank.is_running and not comes():
            rank.interrupt()
        self._wait(comes)

    def _do_in_all(self, line: str, current: Rank) -> None:
        """Do a command in each rank that stands; the answers come one after the other."""
        standing = [rank for rank in self.ranks.values() if rank.state == "stands"]
        for rank in standing:
            if self._news.take(rank):
                rank.screen.drop()
            rank.do(line)
        self._wait(lambda: all(rank.state != "runs" for rank in standing), _TOGETHER)
        for rank in standing:
            if rank.state == "stands":
                rank.screen.flush()
                rank.noticed = True
        self.current = current

    def _set_in_all(self, line: str, current: Rank) -> None:
        """Do a command about places in each rank, also where it runs; one answer is enough.

        A place that is named as this one sees it, as `b 30`, is the same place in the others.
        """
        points = current.session.points
        before = set(points)
        current.do(line)
        self._wait(lambda: current.state != "runs")
        commands = [point.command for point in points if point not in before] or [line]
        self._places += commands
        for rank in self._alive():
            for command in commands if rank is not current else ():
                if rank.state == "stands":
                    rank.do(command, quiet=True)
                    self._wait(lambda: rank.state != "runs")  # noqa: B023  (called at once)
                else:  # what is done next may bring it to that place
                    done = rank.do_beside(command)
                    self._wait(lambda: done.is_set() or rank.state != "runs", _TOGETHER)  # noqa: B023  (likewise)
        self._news.noticed()

    def _answer(self, rank: Rank) -> None:
        """Ask a person who pressed Ctrl-C twice: without one of its ranks a job is none."""
        rank.screen.flush()
        one, whole = self.members.one, self.members.whole
        yes = self._lines.asks(f"{one} {rank.number} has not come to a stop yet. End the {whole}?")
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

    def _ended(self, code: int) -> None:
        screen = self._speaking.screen
        if self.ranks:
            for sentence in unreached([rank.session.unreached for _, rank in sorted(self.ranks.items())]):
                screen.note(sentence)
            screen.write_lines([Line(f"The {self.members.whole} ended with {code}.", "bad" if code else "faint")])
            return
        error = nobody_came(code, self.others, self.members)
        screen.error(error.message, error.remedy)
        self._failed = True

    def _close(self) -> None:
        """End the job; one that was left runs on."""
        if (job := self._job) is None:
            return
        if self._left:
            job.leave()
            for rank in self._alive():
                rank.leave()
        elif self._exit_code is None or self._failed:
            job.end([rank.pid for rank in self._alive()])
        for rank in list(self.ranks.values()):
            rank.end(_PATIENCE)
        job.close()
        if self._left:
            end = f"The {self.members.whole} runs on without a debugger (process {job.pid})."
            self._speaking.screen.write_lines([Line(end)])
        if self._terminal:
            self._terminal.close()
