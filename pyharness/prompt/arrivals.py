"""What is shown where the program comes to a stop, or to its end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyharness.debugger.described_stop import explained
from pyharness.debugger.native.exceptions import NativeExceptions
from pyharness.debugger.python.exceptions import exception_of
from pyharness.host.exit_status import of_program
from pyharness.model.errors import HarnessError
from pyharness.model.stops import Stop
from pyharness.model.text.styled_line import Line
from pyharness.prompt.position import Position
from pyharness.prompt.stop_text import Changes, fitted, frame_lines, variable_lines
from pyharness.prompt.variables import variables_of
from pyharness.session.transcript_text import stop_lines

if TYPE_CHECKING:
    from pyharness.debugger.machine import Stopped
    from pyharness.debugger.shell import Shell
    from pyharness.model.frames import Frame
    from pyharness.model.where import Where
    from pyharness.prompt.debuggee import Debuggee
    from pyharness.prompt.session import Session


class Arrivals:
    """One session's, counted."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._count = 0
        self._changes = Changes()
        self.place: Where | None = None
        """The place that the program stands at, where it is one that was named."""

    def tell(self, stopped: Stopped | None, origin: Frame | None) -> Stop | None:
        """Show where the program stands, after a step from ``origin``; ``None`` where it has ended."""
        program, self.place = self._session.program, None
        with program.shell.excused():
            if stopped is not None and program.alive:
                return self._stood(program, stopped, origin)
        self._ended(program)
        return None

    def _stood(self, program: Debuggee, stopped: Stopped, origin: Frame | None) -> Stop:
        session, shell = self._session, program.shell
        position = Position(shell, stopped)
        bare = Stop(stopped.reason, position.top.frame, stopped.thread, note=position.note)
        stop = explained(shell, stopped, bare, origin)
        if stopped.reason in _TOLD:
            stop = replace(stop, note=_TOLD[stopped.reason](program, stopped))
        self._count += 1
        session.position = position
        self._count_hits(shell, stopped, position.top.frame)
        self._fresh_line()
        session.screen.write_lines(fitted(stop_lines(stop, self._count), session.screen, stop.frame.language))
        self._look(position, shell, stop)
        return stop

    def _look(self, position: Position, shell: Shell, stop: Stop) -> None:
        """Show the user's frame, and what has changed in it."""
        session = self._session
        if position.select_users():
            lines = frame_lines(position.number, position.shown.frame)
            session.screen.write_lines(fitted(lines, session.screen, position.shown.frame.language))
        variables = variables_of(shell, position.shown)
        changed = self._changes.since(position.shown.frame, variables, stepped=stop.reason == "step")
        size = session.screen.columns(), session.screen.rows()
        if shown := [*variable_lines(changed, *size), *session.displays.lines(session)]:
            session.screen.write_lines(shown)

    def _count_hits(self, shell: Shell, stopped: Stopped, frame: Frame) -> None:
        points = self._session.points
        for point in points.hit(stopped, frame):
            point.hits += 1
            self.place = self.place or point.breakpoint.where
            if point.temporary:
                shell.breakpoints.remove(point.breakpoint, shell.native)
                points.remove(point)

    def _fresh_line(self) -> None:
        """Begin a line of our own, where the program has not ended its last one."""
        terminal = self._session.terminal
        if terminal and terminal.midline:
            terminal.midline = False
            self._session.screen.write_lines([Line("")])

    def _ended(self, program: Debuggee) -> None:
        session, code = self._session, program.shell.exit_code
        self._fresh_line()
        session.screen.write_lines([program.ending])
        for point in session.points:
            if point.enabled and not (point.hits or point.breakpoint.log):
                session.screen.note(str(program.shell.breakpoints.not_reached(point.breakpoint)))
        session.record.ended(code)
        session.drop()
        session.status = of_program(code or 0)


def _changed(program: Debuggee, stopped: Stopped) -> str:
    """What was written, at each place that is watched."""
    return "; ".join(hit.text for hit in program.watch.hits(stopped.thread))


def _exception(program: Debuggee, stopped: Stopped) -> str:
    """What was raised, or thrown."""
    shell = program.shell
    try:
        if stopped.language == "native":
            found = NativeExceptions(shell.attach()).info(stopped.thread)
            return f"{found.type}: {found.what}"
        body = exception_of(shell.python, stopped.thread)
    except HarnessError:
        return ""
    name = str(body["exceptionId"]).rpartition(".")[2]
    text = str(body.get("description", "")).strip()
    return f"{name}: {text}" if text else name


_TOLD = {"exception": _exception, "data breakpoint": _changed}
"""Reasons of a stop of which there is more to say."""
