"""Where a thread goes on, and how a half-typed expression does: in the language of the frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.dap.registry import request
from pyharness.debugger.native.edit import NativeEdit
from pyharness.model.errors import HarnessError
from pyharness.model.text.code_lines import check_line

if TYPE_CHECKING:
    from pyharness.dap.arguments import Arguments
    from pyharness.dap.session import Session
    from pyharness.dapwire.wire import Message
    from pyharness.debugger.merged_stack import StackFrame

_KINDS = {"variable": "variable", "field": "field", "function": "function", "register": "variable"}
_NATIVE = 1 << 30
"""Native targets are lines, counted from here on; debugpy numbers its own."""


@request("completions", supportsCompletionsRequest=True, completionTriggerCharacters=["."])
def completions(session: Session, arguments: Arguments) -> Message:
    """What a text may go on with."""
    text, column = arguments.text("text"), arguments.integer("column")
    shown = session.frames.get(arguments.integer("frameId")) if arguments.integer("frameId", 0) else None
    if shown is None:
        return {"targets": []}
    if shown.debugpy is not None:
        asked = {"text": text, "column": column, "frameId": shown.debugpy}
        return session.require_program().python.asking.ask("completions", asked)
    return {"targets": _native(session, shown, text[: max(0, column - 1)])}


def _native(session: Session, shown: StackFrame, text: str) -> list[Message]:
    if shown.level < 0:
        return []
    found = NativeEdit(session.require_program().attach()).complete(shown.thread, text, shown.level)
    return [
        {
            "label": each.label,
            "type": _KINDS.get(each.kind, "text"),
            "start": len(text) - each.length,
            "length": each.length,
        }
        for each in found
    ]


@request("gotoTargets", needs="change", supportsGotoTargetsRequest=True)
def goto_targets(session: Session, arguments: Arguments) -> Message:
    """The line, if the frame can go on there."""
    focus, line = session.focus(), arguments.integer("line")
    check_line(line)
    source = arguments.object("source")
    path = source.path("path")
    if focus.language == "python":
        return session.require_program().python.request("gotoTargets", {"source": source.values, "line": line})
    address = NativeEdit(session.require_program().attach()).jump(focus.thread, path, line, check=True)
    session.goto = path, line
    target = {"id": _NATIVE + line, "label": f"line {line}", "line": line, "instructionPointerReference": hex(address)}
    return {"targets": [target]}


@request("goto", needs="change")
def goto(session: Session, arguments: Arguments) -> None:
    """Go on at another line of the same function, and stand there."""
    focus, shell, target = session.focus(), session.require_program(), arguments.integer("targetId")
    if focus.language == "python":
        shell.jump(focus.thread, target)
        session.forget()
        return
    file, line = session.goto
    if target != _NATIVE + line:
        raise HarnessError(f"There is no target {target}.", "Ask for gotoTargets at this stop first.")
    NativeEdit(shell.attach()).jump(focus.thread, file, line)
    session.forget()
    session.afterwards(
        lambda: session.client.event(
            "stopped", {"reason": "goto", "threadId": focus.thread, "allThreadsStopped": False}
        )
    )
