"""The client's breakpoints: kept as it sent them, bound by the core as the code for them is loaded."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.dap import exceptions, hit_condition
from pyharness.dap.registry import request
from pyharness.debugger.breakpoints import name_of
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.where import Where, folders_of, parse

if TYPE_CHECKING:
    from pyharness.dap.arguments import Arguments
    from pyharness.dap.session import Session
    from pyharness.model.dap_wire import Message
    from pyharness.model.frames import Frame

_PYTHON_FILE = re.compile(r"\.(py|pyi|pyw)$|^<.*>$")
_INSTRUCTIONS = "*"
"""Stands for a source path: of breakpoints at addresses."""
_PENDING = "No code that is loaded has it yet."


@dataclass
class PlacedBreakpoint:
    """A breakpoint at a place of the core's: in native code, or in generated code by a name."""

    number: int
    where: Where
    hit_condition: str = ""
    log: str = ""
    hits: int = 0
    message: str = ""
    verified: bool = False
    lines: list[tuple[str, int]] = field(default_factory=list)

    def to_dap(self) -> Message:
        """The protocol's ``Breakpoint``."""
        body: dict[str, Any] = {"id": self.number, "verified": self.verified}
        if self.message and not self.verified:
            body |= {"message": self.message, "reason": "pending" if self.message == _PENDING else "failed"}
        if self.lines:
            file, body["line"] = self.lines[0]
            body["source"] = {"name": Path(file).name, "path": file}
        elif self.where.line:
            body["line"] = self.where.line
        return body

    def due(self) -> bool:
        """Count a hit; whether it is one that the hit condition wants."""
        self.hits += 1
        return hit_condition.holds(self.hit_condition, self.hits)


class ClientBreakpoints:
    """All of a session's; they outlive the program, for a restart."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._python: dict[str, list[Message]] = {}
        self._python_lines: dict[str, set[int]] = {}
        """Where debugpy has put them."""
        self._placed: dict[str, list[PlacedBreakpoint]] = {}
        """By source path; function breakpoints under the empty one."""
        self._exceptions: list[tuple[str, str]] = []
        self._number = 0
        self._numbers: dict[tuple[str, int], int] = {}
        """Of Python lines."""

    # --- what the client wants ----------------------------------------------------------------------------------------

    def set_python(self, path: str, entries: list[Message]) -> list[Message]:
        """All that are wanted in a file of Python's."""
        if self.ignored:
            return [self._ignored_answer() for _ in entries]
        self._python[path] = entries
        answers = self._session.require_program().python.set_source_breakpoints(path, entries)
        answers = answers or [{"verified": True, "line": entry["line"]} for entry in entries]
        self._python_lines[path] = {answer.get("line", 0) for answer in answers}
        return [{**answer, "id": self._id(path, answer.get("line", 0))} for answer in answers]

    def set_placed(self, path: str, wanted: list[PlacedBreakpoint]) -> list[Message]:
        """All that are wanted in a file of C++, or by function; those that stay keep their number and their count."""
        shell = self._session.require_program()
        if self.ignored:
            return [self._ignored_answer() for _ in wanted]
        before = self._placed.get(path, [])
        kept = [each for each in before if any(_same(each, other) for other in wanted)]
        for gone in [each for each in before if each not in kept]:
            shell.breakpoints.remove(gone.where, shell.native)
        now = [next((each for each in kept if _same(each, other)), other) for other in wanted]
        self._placed[path] = now
        for new in [each for each in now if each not in kept]:
            self._add(new)
        return [each.to_dap() for each in now]

    def _add(self, new: PlacedBreakpoint) -> None:
        shell = self._session.require_program()
        new.verified, new.message, new.lines = False, _PENDING, []
        try:
            if new.where.kind == "native" and shell.loaded_user_libraries:
                shell.attach()
            shell.breakpoints.add(new.where, shell.native)
        except HarnessError as error:
            new.message = str(error)
            return
        self._look(new)
        if not new.verified and new.message == _PENDING:
            new.message = shell.breakpoints.hint(new.where) or _PENDING

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

    def _ignored_answer(self) -> Message:
        return {"verified": False, "message": self.ignored, "reason": "failed"}

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
        self.set_exceptions(self._exceptions)
        shell.python.configured()

    def unbound(self) -> list[Where]:
        """The places for which the program has loaded no code."""
        return [each.where for entries in self._placed.values() for each in entries if not each.verified]

    # --- what becomes of them -----------------------------------------------------------------------------------------

    def bound(self, where: Where) -> None:
        """The core has found a place."""
        for each in self._of(where):
            if not each.verified:
                self._look(each)
                self._changed(each)

    def refused(self, where: Where, error: HarnessError) -> None:
        """The core cannot set a place."""
        for each in self._of(where):
            each.message = str(error)
            self._changed(each)

    def _look(self, each: PlacedBreakpoint) -> None:
        shell = self._session.require_program()
        each.verified = shell.breakpoints.is_bound(each.where)
        each.lines = shell.breakpoints.found(each.where)

    def _changed(self, each: PlacedBreakpoint) -> None:
        self._session.client.event("breakpoint", {"reason": "changed", "breakpoint": each.to_dap()})

    def _of(self, where: Where) -> list[PlacedBreakpoint]:
        return [each for entries in self._placed.values() for each in entries if each.where == where]

    # --- stops --------------------------------------------------------------------------------------------------------

    def at(self, place: str, frame: Frame | None) -> list[PlacedBreakpoint]:
        """Those at a native stop, by its place's name, or at the generated line of a Python one."""
        everything = [each for entries in self._placed.values() for each in entries]
        if place:
            return [each for each in everything if name_of(each.where) == place]
        line = (frame.file, frame.line) if frame else None
        return [each for each in everything if each.where.kind != "native" and line in each.lines]

    def of_line(self, file: str | None, line: int | None) -> list[int]:
        """The number of the one that the client has set in a Python file at this line."""
        number = self._numbers.get((file or "", line or 0))
        return [number] if number is not None and line in self._python_lines.get(file or "", ()) else []


def _same(one: PlacedBreakpoint, other: PlacedBreakpoint) -> bool:
    return (one.where, one.hit_condition, one.log) == (other.where, other.hit_condition, other.log)


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
        names = ("line", "condition", "hitCondition", "logMessage")
        entries = [{name: each.values[name] for name in names if each.values.get(name)} for each in wanted]
        for each in wanted:
            each.integer("line")
        return {"breakpoints": session.breakpoints.set_python(path, entries)}
    places = [
        _native(session, each, Where("native", file=path, line=each.integer("line"), condition=_condition(each)))
        for each in wanted
    ]
    return {"breakpoints": session.breakpoints.set_placed(path, places)}


@request("setFunctionBreakpoints", needs="program", supportsFunctionBreakpoints=True)
def set_function_breakpoints(session: Session, arguments: Arguments) -> Message:
    """Functions by name: native ones, or with a prefix ``fx:``, ``py:FILE:LINE`` or ``native:``."""
    parsed = [_parsed(session, each) for each in arguments.objects("breakpoints")]
    places = [entry for entry in parsed if isinstance(entry, PlacedBreakpoint)]
    bound = iter(session.breakpoints.set_placed("", places))
    return {
        "breakpoints": [
            next(bound) if isinstance(entry, PlacedBreakpoint) else {"verified": False, "message": str(entry)}
            for entry in parsed
        ]
    }


@request("setInstructionBreakpoints", needs="program", supportsInstructionBreakpoints=True)
def set_instruction_breakpoints(session: Session, arguments: Arguments) -> Message:
    """Addresses of machine code."""
    placed = []
    for each in arguments.objects("breakpoints"):
        text = each.text("instructionReference")
        if not re.fullmatch(r"0x[0-9a-fA-F]{1,16}|\d{1,20}", text):
            raise UsageError(f"{text!r} is no address.")
        address = int(text, 0) + each.integer("offset", 0)
        placed.append(_native(session, each, Where("native", name=f"*{address:#x}", condition=_condition(each))))
    return {"breakpoints": session.breakpoints.set_placed(_INSTRUCTIONS, placed)}


def _parsed(session: Session, each: Arguments) -> PlacedBreakpoint | HarnessError:
    try:
        return _native(session, each, _function(session, each))
    except HarnessError as error:
        return error


def _function(session: Session, each: Arguments) -> Where:
    name, condition = each.text("name").strip(), _condition(each)
    if re.fullmatch(r"[\w:~<>,* &]+", name) and not re.match(r"(fx|op|py|native):[^:]", name):
        return Where("native", name=name, condition=condition)
    script = session.debuggee.script if session.debuggee else ""
    return parse(f"{name} if {condition}" if condition else name, folders_of(script))


def _condition(each: Arguments) -> str:
    return each.text("condition", "").strip()


def _native(session: Session, each: Arguments, where: Where) -> PlacedBreakpoint:
    hit = hit_condition.checked(each.text("hitCondition", ""))
    return PlacedBreakpoint(session.breakpoints.next_number(), where, hit, each.text("logMessage", ""))
