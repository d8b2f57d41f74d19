"""Commands that change the program: a variable, the line where it goes on."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from pyharness.debugger.native.edit import NativeEdit
from pyharness.debugger.python.dap_client import RequestError
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.text.code_lines import check_line
from pyharness.prompt.registry import command
from pyharness.prompt.shown.stop_text import value_line
from pyharness.prompt.shown.values import raised

if TYPE_CHECKING:
    from pyharness.prompt.session import Session

_ASSIGNMENT = re.compile(r"(?:var(?:iable)?\s+)?(.+?)\s*(?<![=!<>])=(?!=)\s*(.+)", re.DOTALL)
_GOING = "going on"


@command("set", about="values", takes="NAME = VALUE", needs="change", note="gdb's set var is the same")
def set_(session: Session, rest: str) -> None:
    """Give a variable, an attribute, an element or a register a value, in the language of the frame."""
    found = _ASSIGNMENT.fullmatch(rest)
    if found is None:
        raise UsageError("set takes a name and a value.", "For example: set x = 3")
    name, value = found.groups()
    shown = session.where.shown
    if shown.debugpy is not None and not _is_one_target(name):
        raise UsageError(f"{name!r} is not one name, attribute or element.", "`py` runs a whole statement.")
    with session.record.cannot_unless_it_fails(f"set {rest}"):
        text = _set(session, name, value)
    session.screen.write_lines([value_line(name, text, session.screen.columns())])


def _set(session: Session, name: str, value: str) -> str:
    """What it is then."""
    shown = session.where.shown
    if shown.debugpy is not None:
        asked = {"frameId": shown.debugpy, "expression": name, "value": value}
        try:
            return str(session.shell.python.asking.ask("setExpression", asked)["value"])
        except RequestError as error:
            raise raised(error.message) from error
    if shown.frame.language == "native" and shown.level >= 0:
        return NativeEdit(session.shell.attach()).set(shown.thread, name, value, shown.level)
    raise HarnessError("Python's variables cannot be set at a native stop.", "`out` steps back to Python.")


def _is_one_target(name: str) -> bool:
    try:
        return isinstance(ast.parse(name, mode="eval").body, (ast.Name, ast.Attribute, ast.Subscript))
    except (SyntaxError, ValueError):
        return False


@command("jump", "j", about=_GOING, takes="LINE", needs="change")
def jump(session: Session, rest: str) -> None:
    """Go on at another line of this function: what lies between is not run, or is run again."""
    if not (rest.isascii() and rest.isdecimal() and len(rest) < 10):
        raise UsageError(f"{rest!r} is no line.", "For example: jump 40")
    check_line(int(rest))
    position = session.where
    frame = position.top.frame
    if not frame.file or position.thread != position.stop.thread:
        raise HarnessError("There is no line here to go on at.", "`thread` looks at the thread that stands.")
    with session.record.cannot_unless_it_fails(f"jump {rest}"):
        if position.stop.language == "python":
            _in_python(session, frame.file, int(rest))
        else:
            NativeEdit(session.shell.attach()).jump(position.thread, frame.file, int(rest))
            session.stay(replace(position.stop, reason="goto"))


def _in_python(session: Session, file: str, line: int) -> None:
    asked = {"source": {"path": file}, "line": line}
    targets = session.shell.python.request("gotoTargets", asked).get("targets", [])
    if not targets:
        raise HarnessError(f"Line {line} cannot be gone on at.", "Name a line of this function.")
    thread = session.where.thread
    session.go_by(lambda program: program.jump(thread, targets[0]["id"]), "continue")
