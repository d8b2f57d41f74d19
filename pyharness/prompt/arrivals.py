"""What is shown where the program comes to a stop, or to its end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyharness.debugger.described_stop import explained
from pyharness.debugger.frame_variables import variables_of
from pyharness.debugger.native.exceptions import NativeExceptions
from pyharness.debugger.python.exceptions import exception_of
from pyharness.host.exit_status import of_program
from pyharness.model.errors import HarnessError
from pyharness.model.source_map import map_of
from pyharness.model.stops import Stop
from pyharness.model.text.styled_line import Line
from pyharness.prompt.position import Position
from pyharness.prompt.shown.returned import returned
from pyharness.prompt.shown.stop_text import Changes, fitted, frame_lines, variable_lines
from pyharness.session.transcript_text import stop_lines

if TYPE_CHECKING:
    from pyharness.debugger.action import Request
    from pyharness.debugger.frame_variables import Named
    from pyharness.debugger.shell import Shell
    from pyharness.debugger.stop import Stopped
    from pyharness.model.frames import Frame
    from pyharness.prompt.debuggee import Debuggee
    from pyharness.prompt.points import Point
    from pyharness.prompt.session import Session


class Arrivals:
    """One session's, counted."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._count = 0
        self._changes = Changes()
        self.point: Point | None = None
        """What the program stands at, where it is a place that was named."""
        self.changed: list[Named] = []
        """The variables that the last stop has shown."""
        self._thread = 0
        """The thread that has stopped last; 0 before the first stop."""
        self._exceptions: set[str] = set()
        """Languages in which an exception has stopped the program."""

    def begin(self) -> None:
        """Another program begins: nothing of it was seen yet."""
        self._changes = Changes()
        self._thread = 0
        self._exceptions.clear()

    def tell(self, stopped: Stopped | None, origin: Frame | None, request: Request | None = None) -> Stop | None:
        """Show where the program stands, after a step ``request`` from ``origin``; ``None`` where it has ended."""
        program, self.point = self._session.program, None
        with program.shell.excused():
            if stopped is not None and program.alive:
                return self._stood(program, stopped, origin, request)
        self._ended(program)
        return None

    def _stood(self, program: Debuggee, stopped: Stopped, origin: Frame | None, request: Request | None) -> Stop:
        session, shell = self._session, program.shell
        position = Position(shell, stopped)
        bare = Stop(stopped.reason, position.top.frame, stopped.thread, note=position.note)
        stop = explained(shell, stopped, bare, origin)
        if stopped.reason in _TOLD:
            stop = replace(stop, note=_TOLD[stopped.reason](program, stopped))
        if stopped.reason == "exception":
            self._exceptions.add(stopped.language)
        self._count += 1
        session.position = position
        self._count_hits(shell, stopped, position.top.frame)
        self._fresh_line()
        session.screen.write_lines(fitted(stop_lines(stop, self._count), session.screen, stop.frame.language))
        self._tell_thread(shell, stop.thread)
        shell.sources.shown([stop.frame])
        if stop.reason == "step" and (request == "out" or _function_of(origin) != _function_of(stop.frame)):
            self._tell_returned(shell, position)
        self._look(position, shell, stop, origin)
        return stop

    def _tell_thread(self, shell: Shell, thread: int) -> None:
        """Show which thread has stopped, where it is another one than before: its variables are others."""
        if thread != (self._thread or shell.process.pid):
            self._session.screen.write_lines([Line(f"   {shell.thread_label(thread)}", "faint")])
        self._thread = thread

    def _tell_returned(self, shell: Shell, position: Position) -> None:
        """Show what the function has returned that the step has left, if it has."""
        if value := returned(shell, position.top):
            self._session.screen.write_lines([value.line(self._session.screen.columns())])

    def _look(self, position: Position, shell: Shell, stop: Stop, origin: Frame | None) -> None:
        """Show the user's frame, and what has changed in it: first what the node at ``origin`` has computed."""
        session = self._session
        if position.select_users():
            lines = frame_lines(position.number, position.shown.frame)
            session.screen.write_lines(fitted(lines, session.screen, position.shown.frame.language))
        variables = variables_of(shell, position.shown)
        changed = self._changes.since(position.shown.frame, variables, stepped=stop.reason == "step")
        computed = [each for each in variables if each.name == _node_passed(origin, position.shown.frame)]
        self.changed = [*computed, *(each for each in changed if each not in computed)]
        size = session.screen.columns(), session.screen.rows()
        if shown := [*variable_lines(self.changed, *size), *session.displays.lines(session)]:
            session.screen.write_lines(shown)

    def _count_hits(self, shell: Shell, stopped: Stopped, frame: Frame) -> None:
        points = self._session.points
        for point in points.hit(stopped, frame):
            point.hits += 1
            self.point = self.point or point
            self._session.unreached[str(point.breakpoint)] = None  # now: it may be deleted before the end
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
        if not session.plan.together or (session.plan.child and code):
            session.screen.write_lines([program.ending])
        self._tell_unreached(program)
        for kind, (name, language, done) in _CAUGHT.items():
            if (types := session.catches.get(kind)) and language not in self._exceptions:
                session.screen.note(f"`catch {name} {types}` stopped nowhere: no exception of that name was {done}.")
        session.record.ended(code)
        session.drop()
        session.status, session.exit_code = of_program(code or 0), code

    def _tell_unreached(self, program: Debuggee) -> None:
        """Say which places the program has not reached; of several, that is told when all have ended."""
        session, breakpoints = self._session, program.shell.breakpoints
        for point in session.points:
            came = point.hits or point.breakpoint in program.has_logged
            if session.plan.together:
                missing = breakpoints.reasons.missing(point.breakpoint)
                session.unreached[str(point.breakpoint)] = None if came else str(missing or "")
            elif point.enabled and not (came or point.is_step):
                session.screen.note(str(breakpoints.not_reached(point.breakpoint)))


def _node_passed(origin: Frame | None, now: Frame) -> str:
    """The name of the node that a step in generated code has left behind; empty for none."""
    found = map_of(origin.file) if origin and origin.file and _function_of(origin) == _function_of(now) else None
    at = found.at(origin.line) if found and origin and origin.line else None
    return at.node if at and origin and at.line != now.line else ""


def _function_of(frame: Frame | None) -> tuple[str, str | None] | None:
    return None if frame is None else (frame.function, frame.file)


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


_CAUGHT = {
    "raised": ("raise", "python", "raised"),
    "cxxThrow": ("throw", "native", "thrown by C++ code of yours"),
    "cxxCatch": ("catch", "native", "caught by C++ code of yours"),
}
"""Filters of exceptions → their name in the prompt, the language of their stops, and what is done with one."""
_TOLD = {"exception": _exception, "data breakpoint": _changed}
"""Reasons of a stop of which there is more to say."""
