"""The client's breakpoints: kept as it sent them, bound by the core as the code for them is loaded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from pyharness.dap.breaking.placed_breakpoint import (
    PENDING,
    PlacedBreakpoint,
    at_address,
    at_function,
    at_line,
    at_python_line,
    is_as,
)
from pyharness.dap.breaking.python_breakpoints import is_at_its_start
from pyharness.dap.registry import request
from pyharness.debugger.breaking.breakpoint import Breakpoint
from pyharness.debugger.python.exceptions import for_debugpy
from pyharness.model.errors import HarnessError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyharness.dap.arguments import Arguments
    from pyharness.dap.session import Session
    from pyharness.dapwire.wire import Message
    from pyharness.debugger.shell import Shell
    from pyharness.model.frames import Frame

P = ParamSpec("P")
Parsed = TypeVar("Parsed")
_PYTHON_FILE = re.compile(r"\.(py|pyi|pyw)$|^<.*>$")
_INSTRUCTIONS = "*"
"""Stands for a source path: of breakpoints at addresses."""
_FUNCTIONS = ""


class ClientBreakpoints:
    """All of a session's; they outlive the program, for a restart."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._python: dict[str, list[Breakpoint]] = {}
        self._python_lines: dict[str, set[int]] = {}
        """Where debugpy has put them."""
        self._placed: dict[str, list[PlacedBreakpoint]] = {}
        """By source path; function breakpoints under the empty one."""
        self._adding: PlacedBreakpoint | None = None
        """The one that is being set: its request's answer tells of it."""
        self._exceptions: list[tuple[str, str]] = []
        self._number = 0
        self._numbers: dict[tuple[str, int], int] = {}
        """Numbers of breakpoints on Python lines."""

    # --- what the client wants ----------------------------------------------------------------------------------------

    def set_python(self, path: str, wanted: Sequence[Arguments]) -> list[Message]:
        """All that are wanted in a file of Python's."""
        if self.ignored:
            return [_refusal(self.ignored) for _ in wanted]
        parsed = [_parsed(at_python_line, path, each) for each in wanted]
        before = list(self._python.get(path, []))
        entries = [each if isinstance(each, UsageError) else _kept(before, each) for each in parsed]
        known, now = self._python.get(path, []), [each for each in entries if isinstance(each, Breakpoint)]
        gone, new = ([each for each in one if each not in other] for one, other in ((known, now), (now, known)))
        self._python[path] = now
        said = self._session.require_program().breakpoints.replace_lines(path, gone, new)
        self._python_lines[path] = {said.get(each.where.line, {}).get("line", each.where.line) for each in now}
        return [
            _refusal(str(each)) if isinstance(each, UsageError) else self._python_answer(path, each.where.line, said)
            for each in entries
        ]

    def _python_answer(self, path: str, line: int, said: dict[int, Message]) -> Message:
        answer = said.get(line) or {"verified": True, "line": line}
        return {**answer, "id": self._id(path, answer.get("line", 0))}

    def set_placed(self, path: str, wanted: Sequence[PlacedBreakpoint | UsageError]) -> list[Message]:
        """All that are wanted in a file of C++, or by function; those that stay keep their number and their count."""
        if self.ignored:
            return [_refusal(self.ignored) for _ in wanted]
        shell, before = self._session.require_program(), self._placed.get(path, [])
        sound = [each for each in wanted if isinstance(each, PlacedBreakpoint)]
        kept = [each for each in before if any(each.is_as(other) for other in sound)]
        for gone in [each for each in before if each not in kept]:
            shell.breakpoints.remove(gone.core, shell.native)
        self._placed[path] = now = [next((each for each in kept if each.is_as(new)), new) for new in sound]
        for new in [each for each in now if each not in kept]:
            self._add(new)
        told = iter([each.to_dap() for each in now])
        return [_refusal(str(each)) if isinstance(each, UsageError) else next(told) for each in wanted]

    def _add(self, new: PlacedBreakpoint) -> None:
        shell = self._session.require_program()
        new.verified, new.failed, new.message = bool(new.core.function), False, PENDING
        self._adding = new
        try:
            shell.set_breakpoint(new.core)
        except HarnessError as error:
            new.message, new.failed = str(error), True
            return
        finally:
            self._adding = None
        new.late = shell.is_ending
        self._look(new)
        if not new.verified and new.message == PENDING:
            new.message = new.core.hint or PENDING

    def set_exceptions(self, wanted: list[tuple[str, str]]) -> None:
        """Which exceptions stop the program."""
        self._exceptions = [] if self.ignored else wanted
        shell = self._session.require_program()
        shell.python.deliver("setExceptionBreakpoints", for_debugpy(self._exceptions))
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
        """Set all of them in a program that was restarted."""
        shell = self._session.require_program()
        for path, entries in self._python.items():
            shell.breakpoints.replace_lines(path, (), entries)
        for each in self._all():
            each.reached = False
            self._add(each)
        self.set_exceptions(self._exceptions)

    def _all(self) -> list[PlacedBreakpoint]:
        return [each for entries in self._placed.values() for each in entries]

    def unreached(self, shell: Shell) -> Iterator[str]:
        """A line for each place that the program, now ended, did not have; what could not be set was said before."""
        for each in [each for each in self._all() if not each.failed and not each.reached and not each.late]:
            core = each.core
            if core.function and not core.lines and not core.where.hits:
                yield f"No function {core.function} has run. {core.hint}".rstrip()
            elif not each.verified:
                yield str(shell.breakpoints.not_reached(core))

    # --- what becomes of them -----------------------------------------------------------------------------------------

    def bound(self, core: Breakpoint) -> None:
        """The core has found a place."""
        each = self._of(core)
        if each and each is not self._adding and not each.verified:
            self._look(each)
            self._changed(each)

    def refused(self, core: Breakpoint, error: HarnessError) -> None:
        """The core cannot set a place."""
        each = self._of(core)
        if each:
            each.message, each.failed, each.verified = str(error), True, False
            if each is not self._adding:
                self._changed(each)

    def logged(self, core: Breakpoint) -> None:
        """A log point has printed."""
        each = self._of(core)
        if each:
            each.reached = True

    def _look(self, each: PlacedBreakpoint) -> None:
        each.verified = bool(each.core.function) or each.core.is_bound

    def _changed(self, each: PlacedBreakpoint) -> None:
        self._session.client.event("breakpoint", {"reason": "changed", "breakpoint": each.to_dap()})

    def _of(self, core: Breakpoint | None) -> PlacedBreakpoint | None:
        return next((each for each in self._all() if each.core is core), None)

    # --- stops --------------------------------------------------------------------------------------------------------

    def at(self, core: Breakpoint | None, frame: Frame | None) -> list[PlacedBreakpoint]:
        """The breakpoints of a native stop, by what gdb has hit, or at a Python line."""
        placed = self._of(core)
        found = [placed] if placed else self._at_frame(frame) if frame else []
        for each in found:
            each.reached = True
        return found

    def _at_frame(self, frame: Frame) -> list[PlacedBreakpoint]:
        stops = [each for each in self._all() if not each.core.log]
        named = [each for each in stops if each.core.function and each.core.function == frame.function]
        if named and not is_at_its_start(frame.file, frame.line, frame.function):
            named = []
        line = frame.file, frame.line
        return named + [each for each in stops if each.where.kind != "native" and line in each.core.lines]

    def of_line(self, file: str | None, line: int | None) -> list[int]:
        """The number of the one that the client has set in a Python file at this line."""
        number = self._numbers.get((file or "", line or 0))
        return [number] if number is not None and line in self._python_lines.get(file or "", ()) else []


def _kept(before: list[Breakpoint], new: Breakpoint) -> Breakpoint:
    """The one of ``before`` that asks for the same, which then is another's no more; else the new one."""
    found = next((each for each in before if is_as(each, new)), None)
    if found is None:
        return new
    before.remove(found)
    return found


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
    path = arguments.object("source").path("path")
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


def _parsed(parse: Callable[P, Parsed], *asked: P.args, **more: P.kwargs) -> Parsed | UsageError:
    """One that cannot be meant is said in its own answer: the others hold."""
    try:
        return parse(*asked, **more)
    except UsageError as error:
        return error
