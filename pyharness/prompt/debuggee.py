"""The program at the prompt: started, attached to or opened, and what is heard of it while it runs."""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyharness.debugger.core.shell import CoreFile, CoreShell
from pyharness.debugger.listener import Listener
from pyharness.debugger.live.shell import LiveShell
from pyharness.debugger.native.filters import NativeFilters
from pyharness.debugger.native.watch import NativeWatch
from pyharness.debugger.python.exceptions import for_debugpy
from pyharness.debugger.starting.attach import Attachment
from pyharness.debugger.starting.launch import Command, missing_in
from pyharness.model.errors import DebuggerLostError, HarnessError, UsageError
from pyharness.model.text.styled_line import Line
from pyharness.model.transcript import Ended

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from pyharness.debugger.action import Request
    from pyharness.debugger.breaking.breakpoint import Breakpoint
    from pyharness.debugger.native.side import NativeSide
    from pyharness.debugger.shell import Events, Shell
    from pyharness.debugger.stop import Stopped
    from pyharness.prompt.plan import Plan
    from pyharness.prompt.points import Points
    from pyharness.prompt.screen import Screen
    from pyharness.prompt.terminal.terminal import Terminal

_PATIENCE = 0.5
"""Seconds that a second Ctrl-C waits for whoever handles the events."""
_PAUSE, _QUIT, _GONE, _DO = "pause wanted", "quit typed", "terminal gone", "command"
"""What this front door puts into the queue of events."""


_ALWAYS = (("uncaught", ""),)


class ImpatientError(Exception):
    """Ctrl-C came twice: the first pause has not come about."""


class TerminalGoneError(Exception):
    """The terminal hung up: nobody is there any more."""


class Debuggee(Listener):
    """One program, from its start to its end; the next is another one."""

    def __init__(self, plan: Plan, screen: Screen, terminal: Terminal | None, points: Points) -> None:
        self._screen = screen
        self._terminal = terminal
        self._points = points
        self._events: Events = queue.SimpleQueue()
        self._pausing = False
        self._presses = 0
        """How often Ctrl-C came since the program went on."""
        self._setting: Breakpoint | None = None
        self._refusals: list[HarnessError] = []
        """Why a debugger refuses the one that is being set."""
        self.has_logged: set[Breakpoint] = set()
        """The log points that have printed something."""
        self._unheard = False
        """The last of them is still among the events."""
        self.stuck = False
        """A debugger does not answer, and who sits at the terminal wants to be asked."""
        self.runs = False
        """Whether the program is waited for: what interrupts is for it."""
        self.ours = plan.target.ours
        self.plan = plan
        self._wanted: list[tuple[str, str]] = list(_ALWAYS)
        """Exceptions and signals that are stops: the filter, and its condition."""
        self._filters = NativeFilters()
        self._watch: NativeWatch | None = None
        self.shell = self._start()

    # --- the start ----------------------------------------------------------------------------------------------------

    def _start(self) -> Shell:
        plan, progress = self.plan, self._screen.progress
        target = plan.target
        if isinstance(target, CoreFile):
            return CoreShell(replace(target, progress=progress), events=self._events, listener=self)
        if isinstance(target, Attachment):
            target = replace(target, progress=progress)
        elif self._terminal:
            target = self._in_terminal(target, self._terminal)
        progress("starting the program")
        return LiveShell(
            target,
            plan.include,
            progress,
            crashes=True,
            eval_timeout=plan.eval_timeout,
            events=self._events,
            listener=self,
        )

    @staticmethod
    def _in_terminal(target: Command, terminal: Terminal) -> Command:
        stdin, stdout, stderr = map(terminal.stream, (sys.stdin, sys.stdout, sys.stderr))
        return replace(target, stdin=stdin, stdout=stdout, stderr=stderr)

    def wait_until_ready(self) -> None:
        """Wait until it stands before its first line; one that does not come there is ended, or left."""
        try:
            self._pump(lambda: self.shell.ready, self.shell.tell_late)
        except BaseException:
            self.end()
            raise
        if self.shell.exit_code is not None:
            self.end()
            target = self.plan.target
            raise missing_in(target.python, ran_before=isinstance(target, Attachment))

    # --- going on -----------------------------------------------------------------------------------------------------

    def jump(self, thread: int, target: int) -> Stopped | None:
        """Have a thread go on at a target of debugpy's; its stop there, ``None`` at the program's end."""
        self.shell.jump(thread, target)
        return self.wait()

    def go(self, request: Request, begun: Callable[[], None]) -> Stopped | None:
        """Run on to the next stop, ``None`` at the program's end; ``begun`` is called when it is on its way."""
        self._pausing, self._presses = False, 0
        shell = self.shell
        shell.catch_up()
        with self._lent():
            if shell.exit_code is None:
                shell.begin(request)
                begun()
            self._pump(lambda: shell.machine.focus is not None)
        return shell.machine.focus if shell.exit_code is None else None

    def wait(self) -> Stopped | None:
        """Wait on for the stop that was not waited for to its end."""
        with self._lent():
            self._pump(lambda: self.shell.machine.focus is not None)
        return self.shell.machine.focus if self.shell.exit_code is None else None

    def _pump(self, done: Callable[[], bool], late: Callable[[], None] | None = None) -> None:
        self.runs = True
        try:
            self.shell.pump(done, late)
        finally:
            self.runs = False

    def _lent(self) -> AbstractContextManager[None]:
        return self._terminal.lent() if self._terminal else nullcontext()

    def interrupt(self) -> None:
        """Ctrl-C while the program runs: pause it; from any thread, and from a signal's handler."""
        self._presses += 1
        self._unheard = True
        self._events.put((_PAUSE, None))
        if self._presses > 1:
            insist = threading.Timer(_PATIENCE, self._insist)
            insist.daemon = True
            insist.start()

    def _insist(self) -> None:
        """Nobody has looked at the second one: a debugger does not answer the thread that would."""
        if self._unheard and self.runs:
            self.stuck = True
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    def quit(self) -> None:
        r"""Ctrl-\ while the program runs: the signal that it would get without a debugger; from any thread."""
        self._events.put((_QUIT, None))

    def gone(self) -> None:
        """The terminal has gone; likewise."""
        self._events.put((_GONE, None))

    def meanwhile(self, do: Callable[[], None]) -> None:
        """Do something on the thread that waits for the program, between two events; likewise."""
        self._events.put((_DO, do))

    def give_up(self) -> None:
        """Have what is waited for end as by a Ctrl-C at the start; likewise."""

        def interrupted() -> None:
            raise KeyboardInterrupt

        self.meanwhile(interrupted)

    # --- what is heard ------------------------------------------------------------------------------------------------

    def configure(self) -> bool:
        """Stop where an exception leaves the program: its frames are still there."""
        if not self.shell.immobile:
            self.shell.python.post("setExceptionBreakpoints", for_debugpy(self._wanted))
        return True

    def catch(self, wanted: Mapping[str, str]) -> None:
        """Stop at these exceptions and signals, too: filter → its condition."""
        require_change(self.shell)
        self._wanted = [*wanted.items(), *_ALWAYS]
        self.shell.python.deliver("setExceptionBreakpoints", for_debugpy(self._wanted))
        # Signals are gdb's, whatever the program has loaded; C++ exceptions come with a library, and gdb with that.
        self._filters.want(self._wanted, self.shell.attach() if "signals" in wanted else self.shell.native)

    def libraries(self, native: NativeSide) -> None:
        """Stop at the C++ exceptions and signals that are wanted."""
        self._filters.libraries(native)

    @property
    def watch(self) -> NativeWatch:
        """What gdb watches; attaches it."""
        if self._watch is None:
            self._watch = NativeWatch(self.shell.attach())
        return self._watch

    def other(self, source: str, item: Any) -> None:
        """Pause, or leave, in the order in which that was asked for among all that the debuggers say."""
        if source == _DO:
            item()
            return
        if source == _GONE:
            raise TerminalGoneError
        machine = self.shell.machine
        if source == _QUIT:
            if machine.focus is None and self.alive:
                os.kill(self.shell.process.pid, signal.SIGQUIT)
            return
        self._unheard = False
        if source != _PAUSE or machine.focus is not None:
            return
        if not machine.started:
            raise KeyboardInterrupt
        if self._pausing:
            raise ImpatientError
        self._pausing = True
        self.shell.pause(self.shell.process.pid)

    def set(self, breakpoint_: Breakpoint) -> None:
        """Set a place that is named now; ``HarnessError`` where a debugger refuses it at once."""
        self._setting = breakpoint_
        self._refusals.clear()
        try:
            self.shell.set_breakpoint(breakpoint_)
        finally:
            self._setting = None
        for problem in self._refusals:
            self.shell.breakpoints.remove(breakpoint_, self.shell.native)
            raise HarnessError(f"{breakpoint_}: {problem.message}", problem.remedy)

    def logged(self, breakpoint_: Breakpoint, text: str) -> None:
        """Show what a log point printed, among the program's output."""
        self.has_logged.add(breakpoint_)
        self._screen.write_lines([Line(text)])

    def output(self, text: str, category: str) -> None:
        """Show what debugpy wants known."""
        if category == "important":
            self._screen.note(text.rstrip("\n"))

    def refused(self, breakpoint_: Breakpoint, problem: HarnessError) -> None:
        """Say so; the other breakpoints hold, and the program goes on. That of a command is refused by the command."""
        if breakpoint_ is self._setting:
            self._refusals.append(problem)
            return
        if point := self._points.of(breakpoint_):
            point.enabled = False
        self._screen.error(f"{breakpoint_}: {problem.message}", problem.remedy)

    # --- the end ------------------------------------------------------------------------------------------------------

    @property
    def alive(self) -> bool:
        """Whether there is something to look at or to run."""
        return self.shell.exit_code is None

    def ended(self, exit_code: int) -> None:
        """The program is over; whoever waits for its next stop says so."""

    def end(self) -> None:
        """End the program if it is ours, else leave it, and give back everything."""
        if self._terminal and not self.ours:
            self._terminal.leave(quits=True)
        with suppress(DebuggerLostError):
            if self.alive:
                (self.shell.kill if self.ours else self.shell.let_go)()
        self.shell.close()

    def leave(self) -> None:
        """Leave the program running without any debugger, and give back everything."""
        if self._terminal:
            self._terminal.leave(quits=False)
        self.shell.let_go()
        self.shell.close()

    @property
    def ending(self) -> Line:
        """How it ended, in a line."""
        code = self.shell.exit_code
        if code == 0 and not self.shell.process.exit_known:
            return Line("the program ended; how, only its parent knows", "faint")
        return Line(str(Ended(code)), "faint" if code in {0, None} else "bad")


def require_change(shell: Shell) -> None:
    """``UsageError`` where nothing can go on or be changed: a core file."""
    if shell.immobile:
        raise UsageError(shell.immobile)
