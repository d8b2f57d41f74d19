"""Variables, and expressions: of Python where debugpy stands, else from memory and by gdb."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pyharness.dap.looking.tables import Container
from pyharness.dap.registry import request
from pyharness.debugger.expressions import Expression, value_of
from pyharness.debugger.native.edit import NativeEdit
from pyharness.debugger.native.variables import NativeVariables
from pyharness.model.errors import HarnessError, nearest
from pyharness.model.evaluation import checked_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.dap.arguments import Arguments
    from pyharness.dap.session import Session
    from pyharness.dapwire.wire import Message
    from pyharness.debugger.merged_stack import StackFrame
    from pyharness.model.variable import Variable

_KINDS: dict[str, Literal["named", "indexed"]] = {"named": "named", "indexed": "indexed"}
_NUMBER = re.compile(r"-?\d{1,40}")
_MANNERS: dict[str, Literal["glance", "copy", "whole"]] = {"clipboard": "copy", "repl": "whole"}
"""Contexts of `evaluate` in which a value is wanted, and not a line of a view."""
_PAGE = 1000
"""Variables of one answer where the client names no count."""


@request("variables")
def variables(session: Session, arguments: Arguments) -> Message:
    """What is in a scope or a variable."""
    reference = arguments.integer("variablesReference")
    container = session.variables.get(reference)
    if container.side == "ready":
        return {"variables": list(container.variables)}
    found = (
        _debugpys(session, arguments, container)
        if container.side == "debugpy"
        else _gdbs(session, arguments, container)
    )
    session.variables.remember(reference, found)
    return {"variables": found}


def _debugpys(session: Session, arguments: Arguments, container: Container) -> list[Message]:
    asked: Message = {
        key: arguments.values[key] for key in ("filter", "start", "count", "format") if key in arguments.values
    }
    answer = session.require_program().python.asking.ask("variables", {**asked, "variablesReference": container.handle})
    return [_of_debugpy(session, entry, container.frame) for entry in answer["variables"]]


def _gdbs(session: Session, arguments: Arguments, container: Container) -> list[Message]:
    start, count = arguments.integer("start", 0), arguments.integer("count", 0)
    kind = _KINDS.get(arguments.text("filter", ""))
    known = NativeVariables(session.require_program().attach())
    entries = known.children(container.thread, container.handle, start, count or _PAGE, kind)
    shown = [of_gdb(session, entry, container.frame) for entry in entries]
    return [{**entry, "value": _formatted(arguments, entry["value"])} for entry in shown]


def _formatted(arguments: Arguments, value: str) -> str:
    """A whole number in hexadecimal, where the client wants that."""
    if arguments.object("format", {}).flag("hex", default=False) and _NUMBER.fullmatch(value):
        return hex(int(value))
    return value


def _of_debugpy(session: Session, entry: Message, frame: StackFrame | None) -> Message:
    reference = entry.get("variablesReference", 0)
    if reference:
        entry = {**entry, "variablesReference": session.variables.add(Container("debugpy", reference, frame))}
    return entry


def of_gdb(session: Session, entry: Variable, frame: StackFrame | None) -> Message:
    """A variable as the debug adapter protocol has it."""
    container = Container("gdb", entry.handle, frame)
    body: dict[str, Any] = {
        "name": entry.name,
        "value": f"{entry.value} <{entry.note}>".strip() if entry.note else entry.value,
        "type": entry.type,
        "variablesReference": session.variables.add(container) if entry.handle else 0,
    }
    optional = {
        "namedVariables": entry.named,
        "indexedVariables": entry.indexed,
        "memoryReference": entry.memory,
        "evaluateName": entry.evaluate,
    }
    body |= {key: value for key, value in optional.items() if value}
    if entry.link:
        body["valueLocationReference"] = session.variables.add_link(entry.link)
    return body


@request("locations")
def locations(session: Session, arguments: Arguments) -> Message:
    """The source line that a value names."""
    file, line = session.variables.link(arguments.integer("locationReference"))
    return {"source": {"name": Path(file).name, "path": file}, "line": line}


@request("setVariable", needs="change", supportsSetVariable=True)
def set_variable(session: Session, arguments: Arguments) -> Message:
    """Assign to a variable."""
    container = session.variables.get(arguments.integer("variablesReference"))
    shell, name, value = session.require_program(), arguments.text("name"), checked_text(arguments.text("value"))
    if container.side == "ready":
        raise HarnessError(f"{name!r} cannot be set: it is what FX has recorded.")
    if container.side == "debugpy":
        _check_is_there(
            name, shell.python.asking.ask("variables", {"variablesReference": container.handle})["variables"]
        )
        asked = {"variablesReference": container.handle, "name": name, "value": value}
        return _of_debugpy(session, shell.python.asking.ask("setVariable", asked), container.frame)
    entry = NativeVariables(shell.attach()).assign(container.thread, container.handle, name, value)
    body = of_gdb(session, entry, container.frame)
    return {key: body[key] for key in ("value", "type", "variablesReference")}


def _check_is_there(name: str, variables: Sequence[Message]) -> None:
    """Raise for a name that is none of the container's: debugpy would put it into the globals of the user's module."""
    names = [entry["name"] for entry in variables]
    if name not in names:
        raise HarnessError(f"There is no variable {name!r} here to set.", nearest(name, names))


@request("setExpression", needs="change", supportsSetExpression=True)
def set_expression(session: Session, arguments: Arguments) -> Message:
    """Assign to what an expression names: in native code, or in a Python frame that debugpy can look into."""
    shown = _frame(session, arguments)
    expression, value = (checked_text(arguments.text(key)) for key in ("expression", "value"))
    if shown.frame.language == "native" and shown.level >= 0:
        native = NativeEdit(session.require_program().attach())
        return {"value": native.set(shown.thread, expression, value, shown.level)}
    if shown.debugpy is None:
        raise HarnessError(
            "Python's variables cannot be set at a native stop: the thread may hold the GIL.", "Step back to Python."
        )
    asked = {"frameId": shown.debugpy, "expression": expression, "value": value}
    return _of_debugpy(session, session.require_program().python.asking.ask("setExpression", asked), shown)


@request("evaluate", supportsEvaluateForHovers=True, supportsClipboardContext=True, supportsValueFormattingOptions=True)
def evaluate(session: Session, arguments: Arguments) -> Message:
    """An expression in the language of its frame; the prefixes ``py:`` and ``native:`` choose."""
    expression = arguments.text("expression").strip()
    shown = _frame(session, arguments)
    asked = Expression.of(expression, shown.frame.language)
    context = arguments.text("context", "")
    if asked.language == "python" and shown.debugpy is not None:
        message: Message = {"expression": asked.text, "frameId": shown.debugpy, "context": context or "watch"}
        message |= {key: arguments.values[key] for key in ("format",) if key in arguments.values}
        answer = session.require_program().python.asking.ask("evaluate", message)
        return _of_debugpy(session, answer, shown)
    stacks = session.frames.stacks.values()
    stack = next((stack for stack in stacks if any(each is shown for each in stack)), [])
    found = value_of(session.require_program(), stack, shown, asked, manner=_MANNERS.get(context, "glance"))
    if found.prints:
        session.say(found.prints, category="stdout")
    body = _result(of_gdb(session, found.variable, shown))
    return {**body, "result": _formatted(arguments, body["result"])}


def _frame(session: Session, arguments: Arguments) -> StackFrame:
    """The frame that is named, or the one where the program stands."""
    number = arguments.integer("frameId", 0)
    if number:
        return session.frames.get(number)
    stack = session.stack(session.focus().thread)
    if not stack:
        raise HarnessError("There is no frame to evaluate in.", "Pause the program: its frames are shown then.")
    return next((shown for shown in stack if not shown.frame.plumbing), stack[0])


def _result(body: Message) -> Message:
    body.pop("name")
    body.pop("evaluateName", None)
    return {"result": body.pop("value"), **body}
