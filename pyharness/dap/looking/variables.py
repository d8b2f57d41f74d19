"""Variables, and expressions: of Python where debugpy stands, else from memory and by gdb."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pyharness.dap.looking.tables import Container
from pyharness.dap.registry import request
from pyharness.debugger.merged_stack import python_place
from pyharness.debugger.native.edit import NativeEdit
from pyharness.debugger.native.variables import NativeVariables, NoValueError
from pyharness.model.errors import HarnessError, nearest
from pyharness.protocol.agent import NOT_EVALUATED, Evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.dap.arguments import Arguments
    from pyharness.dap.session import Session
    from pyharness.dapwire.wire import Message
    from pyharness.debugger.machine import Stopped
    from pyharness.debugger.merged_stack import StackFrame
    from pyharness.model.variable import Variable

_KINDS: dict[str, Literal["named", "indexed"]] = {"named": "named", "indexed": "indexed"}
_NUMBER = re.compile(r"-?\d{1,40}")
_WHOLE = ("clipboard", "repl")
"""Contexts of `evaluate` in which a value is wanted, and not a line of a view."""
_CXX = "Give a C++ expression of this frame, a register as $rax"
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
    shell, name, value = session.require_program(), arguments.text("name"), arguments.text("value")
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
    expression, value = arguments.text("expression"), arguments.text("value")
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
    language, text = _language_of(expression, shown)
    if language == "python" and shown.debugpy is not None:
        asked: Message = {"expression": text, "frameId": shown.debugpy, "context": arguments.text("context", "watch")}
        asked |= {key: arguments.values[key] for key in ("format",) if key in arguments.values}
        answer = session.require_program().python.asking.ask("evaluate", asked)
        return _of_debugpy(session, answer, shown)
    body = _native(session, shown, language, text, arguments.text("context", ""))
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


def _language_of(expression: str, shown: StackFrame) -> tuple[str, str]:
    for language, prefix in (("python", "py:"), ("native", "native:")):
        if expression.startswith(prefix):
            return language, expression.removeprefix(prefix).strip()
    return shown.frame.language, expression


def _native(session: Session, shown: StackFrame, language: str, text: str, context: str) -> Message:
    """From memory; where that has no answer, by the program itself on the thread that stands.

    What a person types in the console of a native frame may be Python's, as at ``step --print``. A watch or a hover is
    asked for by itself, again and again: it runs nothing of Python's there.
    """
    shell, focus = session.require_program(), session.focus()
    if language != shown.frame.language and language == "native":
        raise HarnessError(f"{text!r}: this frame is Python code.", "Select a frame of native code.")
    known = NativeVariables(shell.attach())
    refused: HarnessError | None = None
    if language == shown.frame.language and shown.level >= 0:
        try:
            found = known.evaluate(shown.thread, shown.level, text, whole=context in _WHOLE)
            return _result(of_gdb(session, found, shown))
        except HarnessError as error:
            refused = error
    may_be_python = language == "python" or (context == "repl" and isinstance(refused, NoValueError))
    if may_be_python and focus.language == "native" and focus.thread == shown.thread and focus.reason != "signal":
        answer = shell.ask_agent(shown.thread, Evaluate(text, *_place(session, shown))) or NOT_EVALUATED
        if answer.prints:
            session.say(answer.prints, category="stdout")
        if answer.text is not None:
            return {"result": answer.text, "variablesReference": 0}
        raise HarnessError(answer.problem) if language == "python" else _neither(refused, answer.problem)
    if language != shown.frame.language:
        raise HarnessError(f"{text!r}: this frame is native code.", "Select a frame of Python code.")
    if language == "native" and isinstance(refused, NoValueError):
        raise HarnessError(refused.message, f"{_CXX}, or Python's with py: before it.") from refused
    raise refused or HarnessError(f"{text!r} cannot be evaluated here.", _why_not(focus, shown))


def _neither(refused: HarnessError | None, problem: str) -> HarnessError:
    """The error of an expression that neither language has a value for."""
    said = refused.message.rstrip(".") if refused else ""
    return HarnessError(f"{said}. In Python: {problem}", f"{_CXX}, or one of Python.")


def _why_not(focus: Stopped, shown: StackFrame) -> str:
    if focus.thread != shown.thread:
        return "Its thread does not stand: select a frame of the one that does."
    if focus.reason == "signal":
        return "Nothing is run on a thread that got a signal; names in memory can be shown in a frame of Python."
    return "Step back to Python first."


def _place(session: Session, shown: StackFrame) -> tuple[str, int, int]:
    """Which of the thread's Python frames is meant, as ``Evaluate`` has it: this one, or a native one's caller."""
    stack = session.frames.stacks.get(shown.thread, [])
    outwards = [each.frame for each in stack[max(shown.level, 0) :] if each.frame.language == "python"]
    if shown.frame.language == "native":
        outwards = [frame for frame in outwards if not frame.plumbing]
    if not outwards:
        return "", 0, 0
    return python_place([each.frame for each in stack], outwards[0])


def _result(body: Message) -> Message:
    body.pop("name")
    body.pop("evaluateName", None)
    return {"result": body.pop("value"), **body}
