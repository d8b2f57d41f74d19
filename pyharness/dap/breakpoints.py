"""The client's breakpoints: kept as it sent them, bound by the core as the code for them is loaded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ParamSpec

from pyharness.dap import exceptions
from pyharness.dap.placed_breakpoint import PENDING, PlacedBreakpoint, at_address, at_function, at_line
from pyharness.dap.python_breakpoints import PythonLines, is_at_its_start
from pyharness.dap.registry import request
from pyharness.debugger.breakpoints import name_of
from pyharness.model.errors import HarnessError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyharness.dap.arguments import Arguments
    from pyharness.dap.session import Session
    from pyharness.debugger.shell import Shell
    from pyharness.model.dap_wire import Message
    from pyharness.model.frames import Frame
    from pyharness.model.where import Where

P = ParamSpec("P")
_PYTHON_FILE = re.compile(r"\.(py|pyi|pyw)$|^<.*>$")
_INSTRUCTIONS = "*"
"""Stands for a source path: of breakpoints at addresses."""
_FUNCTIONS = ""


class ClientBreakpoints:
    """All of a session's; they outlive the program, for a restart."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._python_breakpoints = PythonLines(self.next_number)
        self._python: dict[str, list[Message]] = {}
        self._python_lines: dict[str, set[int]] = {}
        """Where debugpy has put them."""
        self._placed: dict[str, list[PlacedBreakpoint]] = {}
        """By source path; function breakpoints under the empty one."""
        self._functions: list[Message] = []
        """Function breakpoints of Python, as debugpy has them."""
        self._exceptions: list[tuple[str, str]] = []
        self._number = 0
        self._numbers: dict[tuple[str, int], int] = {}
        """Numbers of breakpoints on Python lines."""

    # --- what the client wants ----------------------------------------------------------------------------------------

    def set_python(self, path: str, wanted: Sequence[Arguments]) -> list[Message]:
        """All that are wanted in a file of Python's."""
        if self.ignored:
            return [_refusal(self.ignored) for _ in wanted]
        entries = self._python_breakpoints.entries(path, wanted)
        self._python[path] = sound = [entry for entry in entries if not isinstance(entry, UsageError)]
        answers = self._session.require_program().python.set_source_breakpoints(path, sound)
        answers = answers or [{"verified": True, "line": entry["line"]} for entry in sound]
        self._python_lines[path] = {answer.get("line", 0) for answer in answers}
        told = iter([{**answer, "id": self._id(path, answer.get("line", 0))} for answer in answers])
        return [_refusal(str(entry)) if isinstance(entry, UsageError) else next(told) for entry in entries]

    def set_placed(self, path: str, wanted: Sequence[PlacedBreakpoint | UsageError]) -> list[Message]:
        """All that are wanted in a file of C++, or by function; those that stay keep their number and their count."""
        if self.ignored:
            return [_refusal(self.ignored) for _ in wanted]
        shell, before = self._session.require_program(), self._placed.get(path, [])
        sound = [each for each in wanted if isinstance(each, PlacedBreakpoint)]
        kept = [each for each in before if any(each.is_as(other) for other in sound)]
        for gone in [each for each in before if each not in kept]:
            shell.breakpoints.remove(gone.where, shell.native)
        self._placed[path] = now = [next((each for each in kept if each.is_as(new)), new) for new in sound]
        for new in [each for each in now if each not in kept]:
            self._add(new)
        self._tell_functions(shell)
        told = iter([each.to_dap() for each in now])
        return [_refusal(str(each)) if isinstance(each, UsageError) else next(told) for each in wanted]

    def _add(self, new: PlacedBreakpoint) -> None:
        shell = self._session.require_program()
        new.verified, new.failed, new.message, new.lines = bool(new.python), False, PENDING, []
        if new.only_python:
            return
        try:
            if new.where.kind == "native" and shell.loaded_user_libraries:
                shell.attach()
            shell.breakpoints.add(new.where, shell.native)
        except HarnessError as error:
            new.message, new.failed = str(error), True
            return
        self._look(new)
        if not new.verified and new.message == PENDING:
            new.message = shell.breakpoints.hint(new.where) or PENDING

    def _tell_functions(self, shell: Shell) -> None:
        """debugpy replaces its function breakpoints by those of now; hits of them are counted here."""
        before, self._functions = (
            self._functions,
            [
                {"name": each.python, **({"condition": each.where.condition} if each.where.condition else {})}
                for each in self._placed.get(_FUNCTIONS, [])
                if each.python
            ],
        )
        if self._functions != before:
            shell.python.deliver("setFunctionBreakpoints", {"breakpoints": self._functions})

    def set_exceptions(self, wanted: list[tuple[str, str]]) -> None:
        """Which exceptions stop the program."""
        self._exceptions = [] if self.ignored else wanted
        shell = self._session.require_program()
        shell.python.deliver("setExceptionBreakpoints", exceptions.for_debugpy(self._exceptions))
        self._session.native_filters.want(self._exceptions, shell.native)

    @property
    def ignored(self) -> str:
        """Why no breakpoint has an effect; empty where they have."""
        return self._session.debuggee.unstoppable if self._session.debuggee else ""

    def next_number(self) -> int:
        """A number for a new breakpoint."""
        self._number += 1
        return self._number

    def _id(self, path: str, line: int) -> int:
        """The number of a Python line: the same for the same line, whatever else is set in its file."""
        if (path, line) not in self._numbers:
            self._numbers[path, line] = self.next_number()
        return self._numbers[path, line]

    def again(self) -> None:
        """Set all of them in a program that was restarted, and let it begin."""
        shell = self._session.require_program()
        for path, entries in self._python.items():
            shell.python.set_source_breakpoints(path, entries)
        for each in [each for entries in self._placed.values() for each in entries]:
            each.hits = 0
            self._add(each)
        self._functions = []
        self._tell_functions(shell)
        self.set_exceptions(self._exceptions)
        shell.python.configured()

    def unreached(self, shell: Shell) -> Iterator[str]:
        """A line for each place that the program, now ended, did not have; what could not be set was said before."""
        for each in [each for entries in self._placed.values() for each in entries if not each.failed]:
            if each.python and not each.hits and not each.lines:
                yield f"No function {each.python} has run. {shell.breakpoints.hint(each.where)}".rstrip()
            elif not each.verified:
                yield str(shell.breakpoints.not_reached(each.where))

    # --- what becomes of them -----------------------------------------------------------------------------------------

    def bound(self, where: Where) -> None:
        """The core has found a place."""
        for each in self._of(where):
            if not each.lines:
                self._look(each)
                self._changed(each)

    def refused(self, where: Where, error: HarnessError) -> None:
        """The core cannot set a place."""
        for each in self._of(where):
            each.message, each.failed = str(error), True
            self._changed(each)

    def _look(self, each: PlacedBreakpoint) -> None:
        shell = self._session.require_program()
        each.verified = bool(each.python) or shell.breakpoints.is_bound(each.where)
        each.lines = shell.breakpoints.found(each.where)

    def _changed(self, each: PlacedBreakpoint) -> None:
        self._session.client.event("breakpoint", {"reason": "changed", "breakpoint": each.to_dap()})

    def _of(self, where: Where) -> list[PlacedBreakpoint]:
        return [each for entries in self._placed.values() for each in entries if each.where == where]

    # --- stops --------------------------------------------------------------------------------------------------------

    def at(self, place: str, frame: Frame | None) -> list[PlacedBreakpoint]:
        """The breakpoints at a native stop, by its place's name, or at a Python line."""
        everything = [each for entries in self._placed.values() for each in entries]
        if place:
            return [each for each in everything if name_of(each.where) == place]
        if frame is None:
            return []
        named = [each for each in everything if each.python and each.python == frame.function]
        if named and not is_at_its_start(frame.file, frame.line, frame.function):
            named = []
        line = frame.file, frame.line
        return named + [each for each in everything if each.where.kind != "native" and line in each.lines]

    def of_line(self, file: str | None, line: int | None) -> list[int]:
        """The number of the one that the client has set in a Python file at this line."""
        number = self._numbers.get((file or "", line or 0))
        return [number] if number is not None and line in self._python_lines.get(file or "", ()) else []


def _refusal(message: str) -> Message:
    return {"verified": False, "message": message, "reason": "failed"}


@request(
    "setBreakpoints",
    needs="program",
    supportsConditionalBreakpoints=True,
    supportsHitConditionalBreakpoints=True,
    supportsLogPoints=True,
)
def set_breakpoints(session: Session, arguments: Arguments) -> Message:
    """All breakpoints of one source, in whichever language it is written."""
    path = arguments.object("source").text("path")
    wanted = arguments.objects("breakpoints")
    if _PYTHON_FILE.search(path):
        return {"breakpoints": session.breakpoints.set_python(path, wanted)}
    number = session.breakpoints.next_number
    return _set(session, path, [_parsed(at_line, number(), path, each) for each in wanted])


@request("setFunctionBreakpoints", needs="program", supportsFunctionBreakpoints=True)
def set_function_breakpoints(session: Session, arguments: Arguments) -> Message:
    """Functions by name, in both languages, or with a prefix ``fx:``, ``op:``, ``py:`` or ``native:``."""
    number, script = session.breakpoints.next_number, session.debuggee.script if session.debuggee else ""
    wanted = arguments.objects("breakpoints")
    return _set(session, _FUNCTIONS, [_parsed(at_function, number(), each, script) for each in wanted])


@request("setInstructionBreakpoints", needs="program", supportsInstructionBreakpoints=True)
def set_instruction_breakpoints(session: Session, arguments: Arguments) -> Message:
    """Addresses of machine code."""
    number, wanted = session.breakpoints.next_number, arguments.objects("breakpoints")
    return _set(session, _INSTRUCTIONS, [_parsed(at_address, number(), each) for each in wanted])


def _set(session: Session, path: str, wanted: Sequence[PlacedBreakpoint | UsageError]) -> Message:
    return {"breakpoints": session.breakpoints.set_placed(path, wanted)}


def _parsed(parse: Callable[P, PlacedBreakpoint], *asked: P.args, **more: P.kwargs) -> PlacedBreakpoint | UsageError:
    """One that cannot be meant is said in its own answer: the others hold."""
    try:
        return parse(*asked, **more)
    except UsageError as error:
        return error
