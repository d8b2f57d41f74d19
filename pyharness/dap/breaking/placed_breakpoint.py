"""A breakpoint that the core places, read from what a client asked for: a native line, an address, or a function."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.dap.breaking.python_breakpoints import checked_condition, function_name
from pyharness.debugger.breaking.breakpoint import Breakpoint
from pyharness.model.conditions import hits as hit_condition
from pyharness.model.conditions import log_message
from pyharness.model.conditions.condition import compile_condition
from pyharness.model.errors import UsageError
from pyharness.model.text.code_lines import check_in_file, check_line
from pyharness.model.where import Where, check_python, folders_of, parse

if TYPE_CHECKING:
    from pyharness.dap.arguments import Arguments
    from pyharness.dapwire.wire import Message

PENDING = "No code that is loaded has it yet."
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{1,16}|\d{1,20}")
_END_OF_MEMORY = 1 << 64
_NATIVE_NAME = re.compile(r"[\w:~<>,* &]+")
_WITH_KIND = re.compile(r"(fx|op|node|py|native):(?!:)")


@dataclass
class PlacedBreakpoint:
    """A breakpoint in native code, in generated code by a name, or at Python functions."""

    number: int
    """The client knows it by this one."""
    core: Breakpoint
    reached: bool = False
    """Whether it has stopped the program, or logged."""
    message: str = PENDING
    failed: bool = False
    """Whether the breakpoint cannot be set; ``message`` says why."""
    verified: bool = False
    late: bool = False
    """Whether the program was at its end when the client wanted it: nobody can say what it had."""

    @property
    def where(self) -> Where:
        """The place."""
        return self.core.where

    def to_dap(self) -> Message:
        """The protocol's ``Breakpoint``."""
        body: dict[str, Any] = {"id": self.number, "verified": self.verified}
        if not self.verified:
            body |= {"message": self.message, "reason": "failed" if self.failed else "pending"}
        if self.core.lines:
            file, body["line"] = self.core.lines[0]
            body["source"] = {"name": Path(file).name, "path": file}
        elif self.where.line:
            body["line"] = self.where.line
        return body

    def is_as(self, other: PlacedBreakpoint) -> bool:
        """Whether ``other`` asks for the same."""
        return is_as(self.core, other.core)


def is_as(one: Breakpoint, other: Breakpoint) -> bool:
    """Whether both ask for the same."""
    return (one.where, one.log, one.function) == (other.where, other.log, other.function)


def at_python_line(path: str, asked: Arguments) -> Breakpoint:
    """A line of a Python file, as debugpy finds it; ``UsageError`` for what cannot be meant."""
    line, log = asked.integer("line"), log_message.checked(asked.text("logMessage", ""), python=True)
    check_line(line)
    return Breakpoint(Where("py", file=path, line=line, condition=checked_condition(asked), hits=_hits(asked)), log)


def at_line(number: int, path: str, asked: Arguments) -> PlacedBreakpoint:
    """A line of a native source; every function here raises ``UsageError`` for what cannot be meant."""
    line = asked.integer("line")
    check_line(line)
    check_in_file(path, line)
    return _placed(number, asked, Where("native", file=path, line=line, condition=_condition(asked)))


def at_address(number: int, asked: Arguments) -> PlacedBreakpoint:
    """A machine instruction."""
    text = asked.text("instructionReference")
    if not _ADDRESS.fullmatch(text):
        raise UsageError(f"{text!r} is not an address.")
    address = int(text, 0) + asked.integer("offset", 0)
    if not 0 <= address < _END_OF_MEMORY:
        raise UsageError(f"There is no address {address:#x}.")
    return _placed(number, asked, Where("native", name=f"*{address:#x}", condition=_condition(asked)))


def at_function(number: int, asked: Arguments, script: str) -> PlacedBreakpoint:
    """A function by name, in either language where it may be in both, or a place of the command line's."""
    name, condition = asked.text("name").strip(), _condition(asked)
    python = function_name(name)
    if name.startswith("py:") and python:
        return _placed(number, asked, Where("py", name=python, condition=checked_condition(asked)), python)
    if _NATIVE_NAME.fullmatch(name) and not _WITH_KIND.match(name):
        python = python if _is_python(condition) else ""
        return _placed(number, asked, Where("native", name=name, condition=condition), python)
    word = "when" if name.startswith("node:") or _is_of_tensors(name, condition) else "if"
    return _placed(number, asked, parse(f"{name} {word} {condition}" if condition else name, folders_of(script)))


def _placed(number: int, asked: Arguments, where: Where, python: str = "") -> PlacedBreakpoint:
    counted = replace(where, hits=_hits(asked) or where.hits)
    return PlacedBreakpoint(number, Breakpoint(counted, log_message.checked(asked.text("logMessage", "")), python))


def _is_of_tensors(name: str, condition: str) -> bool:
    """Whether a condition at an op is about what it is given; what that grammar lacks is Python's."""
    if not (name.startswith("op:") and "::" in name and condition):
        return False
    try:
        compile_condition(condition)
    except UsageError:
        return False
    return True


def _hits(asked: Arguments) -> str:
    return hit_condition.checked(asked.text("hitCondition", ""))


def _condition(asked: Arguments) -> str:
    return asked.text("condition", "").strip()


def _is_python(condition: str) -> bool:
    try:
        check_python(condition or "True")
    except UsageError:
        return False
    return True
