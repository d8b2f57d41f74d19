"""A session at the prompt: reads a line, does it, says what went wrong, until its end."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from pyharness.host.exit_status import ExitStatus
from pyharness.model.errors import DebuggerLostError, HarnessError, UsageError
from pyharness.prompt.arrivals import Arrivals
from pyharness.prompt.debuggee import Debuggee, ImpatientError, TerminalGoneError, require_change
from pyharness.prompt.points import Points
from pyharness.prompt.record import Record
from pyharness.prompt.registry import found
from pyharness.prompt.shown.displays import Displays
from pyharness.prompt.signals import HUNG_UP, Signals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyharness.debugger.action import Request
    from pyharness.debugger.shell import Shell
    from pyharness.debugger.stop import Stopped
    from pyharness.model.stops import Stop
    from pyharness.prompt.lines.sources import Lines
    from pyharness.prompt.plan import Plan
    from pyharness.prompt.position import Position
    from pyharness.prompt.screen import Screen
    from pyharness.prompt.terminal.terminal import Terminal

_NOTHING = "#"
"""A line that does nothing, and is no empty one."""
_NONE = "No program is being debugged."


class Session:
    """One person, or one file of commands, and one program at a time."""

    def __init__(self, plan: Plan, screen: Screen, lines: Lines, terminal: Terminal | None = None) -> None:
        self.plan = plan
        self.screen = screen
        self.lines = lines
        self.terminal = terminal
        self.debuggee: Debuggee | None = None
        self.starting: Debuggee | None = None
        """A program on its way to where it stands before its first line."""
        self.points = Points()
        self.displays = Displays()
        self.position: Position | None = None
        """Where the program stands and what is looked at; ``None`` while none stands."""
        self.over = False
        self.interruptible = False
        """Whether Ctrl-C ends something: a line that is typed, or a command."""
        self.status = int(ExitStatus.OK)
        self.exit_code: int | None = None
        """The exit code of the last program that ended, negative for a signal."""
        self._began = False
        """Whether a program was started: a failure is none of the command line's then."""
        self.listed = 0
        """The last line that `list` has shown; 0 where it begins anew."""
        self.record = Record()
        self.catches: dict[str, str] = {}
        """Filters of exceptions and signals that stop the program → their conditions."""
        self.arrivals = Arrivals(self)
        self.unreached: dict[str, str | None] = {}
        """Filled in one of several processes: place → why it was not reached; ``None`` where it was."""
        self._given_up = False
        """Ctrl-C ended what was done."""
        self._again = ""
        """What an empty line does."""

    # --- the loop -----------------------------------------------------------------------------------------------------

    def run(self, first: Sequence[str], places: Sequence[str] = ()) -> int:
        """Start the program, do the commands that were typed with it, then those that come; the exit status.

        ``places`` are set first: one that cannot be meant starts nothing.
        """
        signals = Signals(self)
        try:
            with signals.heard():
                if self._tried(lambda: self.begin(first, places)) or (self.debuggee and self.lines.is_typed):
                    self._read_on()
                else:
                    self.status = self.status or (ExitStatus.INTERRUPTED if self._given_up else ExitStatus.FAILED)
        except TerminalGoneError:
            self.status = HUNG_UP
        finally:
            self._close(leaves=self.status == HUNG_UP)
        return self.status

    def begin(self, first: Sequence[str], places: Sequence[str]) -> None:
        """Start the program, or come to it, set these places, and do the commands that come first."""
        breaks = [f"break {where}" for where in places]
        if self.plan.starts:
            for line in breaks:
                self.do(line)
            breaks = []
        self.start()
        if not (first and self.plan.begins):
            self._come_to_a_stop()
        for line in (*breaks, *first):
            self.do(line)

    def _come_to_a_stop(self) -> None:
        """Before the first prompt: at the first line of a program that begins here, wherever another one is."""
        if self.plan.begins:
            self.go("into")
        elif self.plan.in_place:  # it comes to its stop by itself
            self.go("continue")
        else:
            self.go("continue", self.program.interrupt)

    def _read_on(self) -> None:
        while not self.over:
            line = self._line()
            if not self._tried(lambda: self._do_typed(line)) and not self.lines.failed():  # noqa: B023  (called at once)
                return

    def _line(self) -> str:
        """The next line; `quit` at their end, and nothing where one was given up."""
        try:
            with self._interruptible():
                return self.lines.read()
        except EOFError:
            return "quit" if self._may_end() else _NOTHING
        except KeyboardInterrupt:
            self.screen.note("`quit` ends the session.")
            return _NOTHING

    def _may_end(self) -> bool:
        """Whether the end of the lines is the end: Ctrl-D may be a slip, and a program has much to lose."""
        asked = self.lines.is_typed and self.debuggee is not None and self.debuggee.ours
        return not asked or self.lines.asks("The program still runs. End it?")

    def _tried(self, do: Callable[[], None]) -> bool:
        """Do it; what goes wrong is told. Whether all went well."""
        try:
            with self._interruptible():
                do()
        except DebuggerLostError as error:
            self.lost(error)
        except HarnessError as error:
            self.screen.error(error.message, error.remedy)
            self._failed(error)
        except KeyboardInterrupt:
            self._given_up = True
            self.screen.note("Interrupted.")
        else:
            return True
        return False

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Have Ctrl-C end what is done within; whoever presses it again while that is told ends nothing."""
        self.interruptible = True
        try:
            yield
        finally:
            self.interruptible = False

    def _failed(self, error: HarnessError) -> None:
        """Keep the first failure of what no person types: nothing follows it."""
        if not self.lines.is_typed:
            self.status = int(ExitStatus.FAILED if self._began else error.exit_code)

    def _do_typed(self, line: str) -> None:
        """A line from a person: an empty one repeats the last, where that can be repeated."""
        if self.terminal:
            self.terminal.show()
        self.do(line.strip() or self._again)

    def do(self, line: str) -> None:
        """Do a command."""
        line = line.strip()
        if not line or line.startswith("#"):
            return
        command, rest = found(line)
        self._again = line if command.repeats else ""
        if command.needs != "nothing":
            self._require(command.needs)
        command.handler(self, rest)

    def do_quietly(self, line: str) -> None:
        """Do a command while the program runs; what goes wrong is told."""
        self._tried(lambda: self.do(line))

    def _require(self, need: str) -> None:
        shell = self.shell
        if need in {"stop", "change"}:
            _ = self.where
        if need == "change" and shell.immobile:
            raise UsageError(shell.immobile)

    # --- the program --------------------------------------------------------------------------------------------------

    @property
    def program(self) -> Debuggee:
        """The program with what is heard of it; an error where there is none, or none any more."""
        if self.debuggee is None:
            raise UsageError(_NONE, "`run` starts it again." if self.plan.starts else "Name another: pyharness debug.")
        return self.debuggee

    @property
    def shell(self) -> Shell:
        """The core's side of the program; an error as for ``program``."""
        return self.program.shell

    @property
    def where(self) -> Position:
        """What is looked at; an error where no program stands."""
        if self.position is None:
            raise UsageError("The program stands nowhere yet.", "`continue` runs it.")
        return self.position

    def start(self) -> None:
        """Start the program, which stands before its first line, with all places set."""
        self.debuggee = self._started()
        self._began, self.exit_code, self.status = True, None, int(ExitStatus.OK)
        if self.terminal:
            self.terminal.on_interrupt, self.terminal.on_gone = self.debuggee.interrupt, self.debuggee.gone
            self.terminal.on_quit = self.debuggee.quit
        for point in self.points:
            point.hits = point.since = 0
            if point.enabled:
                self.shell.set_breakpoint(point.breakpoint)
        if self.catches:
            self.debuggee.catch(self.catches)
        self.record.begin()
        self.arrivals.begin()

    def _started(self) -> Debuggee:
        self.starting = program = Debuggee(self.plan, self.screen, self.terminal, self.points)
        try:
            program.wait_until_ready()
        finally:
            self.starting = None
        return program

    def go(self, request: Request, begun: Callable[[], None] = lambda: None) -> Stop | None:
        """Run on to the next stop, and show it; ``None`` at the program's end. ``begun`` is for `Debuggee.go`."""
        return self.go_by(lambda program: program.go(request, begun), request)

    def go_by(self, way: Callable[[Debuggee], Stopped | None], request: Request) -> Stop | None:
        """Go on in some ``way`` to the next stop, and show it; ``request`` is what to record it as."""
        program, before = self.program, self.position
        if before is not None:
            require_change(program.shell)
        self._forget()
        try:
            stopped = self._waited(lambda: way(program))
        except HarnessError:
            if program.alive and program.shell.machine.focus is not None:
                self.position = before
            raise
        if self.debuggee is None:  # it was left meanwhile
            return None
        stop = self.arrivals.tell(stopped, before.top.frame if before else None, request)
        self.record.moved(request, stop, self.arrivals.point)
        return stop

    def stay(self, stopped: Stopped) -> None:
        """Show the stop again: the thread goes on elsewhere than it stood."""
        self._forget()
        self.arrivals.tell(stopped, None)

    def _waited(self, wait: Callable[[], Stopped | None]) -> Stopped | None:
        """The next stop; who presses Ctrl-C twice is asked."""
        try:
            return wait()
        except ImpatientError:
            if self.lines.asks("The program has not come to a stop yet. End it?"):
                self.program.end()
                return None
            return self._waited(self.program.wait)

    def _forget(self) -> None:
        """What was looked at is of a stop that is over."""
        self.position, self.listed = None, 0
        shell = self.shell
        if shell.native and shell.exit_code is None:
            shell.native.forget_variables()

    # --- the end ------------------------------------------------------------------------------------------------------

    def drop(self) -> None:
        """End the program, where it still runs: there is none any more."""
        program, self.debuggee, self.position = self.debuggee, None, None
        self.over = self.over or self.plan.in_place or self.plan.waits  # the terminal is another's now
        if program:
            program.end()

    def lost(self, error: DebuggerLostError) -> None:
        """Let the program go, of which a debugger has died; ``error`` then says what became of it."""
        program, self.debuggee, self.position = self.debuggee, None, None
        if program:
            with suppress(HarnessError):
                program.shell.let_go()
            error.remedy = program.shell.fate()
            program.shell.close()
        self.screen.error(error.message, error.remedy)
        self.status = int(ExitStatus.FAILED)

    def _close(self, *, leaves: bool) -> None:
        """End what was started for this session; where nobody is there any more (``leaves``), it runs on."""
        program, self.debuggee = self.debuggee, None
        if program:
            (program.leave if leaves else program.end)()
        if self.terminal:
            self.terminal.close()
