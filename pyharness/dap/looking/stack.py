"""Threads, the merged stack and its scopes."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.dap.looking.tables import Container
from pyharness.dap.looking.variables import of_gdb
from pyharness.dap.registry import request
from pyharness.debugger.merged_stack import StackFrame, python_frames
from pyharness.debugger.native.variables import NativeVariables
from pyharness.model.frozen import frozen
from pyharness.model.source_map import map_of
from pyharness.model.variable import fx_scope

if TYPE_CHECKING:
    from pyharness.dap.arguments import Arguments
    from pyharness.dap.session import Session
    from pyharness.dapwire.wire import Message
    from pyharness.model.frames import Frame


@frozen
class _Row:
    """What is shown as one line."""

    frames: list[StackFrame]
    label: str = ""
    """What is shown in place of them; empty for a frame that is shown."""


@request("threads", needs="program")
def threads(session: Session, _arguments: Arguments) -> Message:
    """Every thread of the program's but those of the debuggers."""
    session.ahead.asked_threads()
    shell = session.require_program()
    tasks = shell.tasks
    names = {**shell.thread_names(tasks), **dict.fromkeys(session.debuggee.own_threads if session.debuggee else (), "")}
    listed = []
    for lwp, command in sorted(tasks.items()):
        name = "MainThread" if lwp == shell.process.pid else names.get(lwp, command or "thread")
        if name and not name.startswith("pydevd"):
            listed.append({"id": lwp, "name": name if lwp == shell.process.pid else f"{name} ({lwp})"})
    return {"threads": listed}


@request("stackTrace", needs="program", supportsDelayedStackTraceLoading=True)
def stack_trace(session: Session, arguments: Arguments) -> Message:
    """Both languages merged, innermost first; runs of plumbing are one line unless the launch asked for all."""
    thread = arguments.integer("threadId")
    start, levels = max(0, arguments.integer("startFrame", 0)), max(0, arguments.integer("levels", 0))
    focus = session.require_program().machine.focus
    if thread not in session.frames.stacks and (start, levels) == (0, 1) and focus and focus.language == "python":
        shown = python_frames(session.require_program(), thread, 8)[:1] if thread == focus.thread else []
        if shown:
            session.require_program().sources.shown(each.frame for each in shown)
            row = _rows(session, shown)[0]
            return {"stackFrames": [_to_dap(session, row)], "totalFrames": len(shown) + 1}  # more, so ask again
    if thread not in session.frames.stacks and focus:
        session.afterwards(session.ahead.read_frame)
    rows = _rows(session, session.stack(thread))
    end = start + levels if levels else len(rows)
    return {"stackFrames": [_to_dap(session, row) for row in rows[start:end]], "totalFrames": len(rows)}


def _rows(session: Session, stack: list[StackFrame]) -> list[_Row]:
    """What is shown as one line: a frame, a run of plumbing, or whose frames follow where they are another thread's."""
    whole = bool(session.debuggee and session.debuggee.plumbing)
    rows: list[_Row] = []
    for (thread, plumbing), run in groupby(stack, key=lambda shown: (shown.thread, shown.frame.plumbing)):
        frames = list(run)
        if rows and thread != rows[-1].frames[0].thread:
            rows.append(_Row(frames[:1], f"[works for {session.require_program().thread_label(thread)}]"))
        if plumbing and not rows and _was_asked_for(session, thread):
            rows.append(_Row([frames.pop(0)]))
        if plumbing and not whole and frames:
            count = f"{len(frames)} frames" if len(frames) > 1 else frames[0].frame.function
            rows.append(_Row(frames, f"[{count} of the interpreter and torch]"))
        else:
            rows += [_Row([shown]) for shown in frames]
    return rows


def _was_asked_for(session: Session, thread: int) -> bool:
    """Whether a thread stands at a native function that the client has named: it may be one of Python's or libc's."""
    focus = session.require_program().machine.focus
    point = focus.breakpoint if focus and focus.thread == thread else None
    return point is not None and point.where.kind == "native"


def _to_dap(session: Session, row: _Row) -> Message:
    shown, frame = row.frames[0], row.frames[0].frame
    body: dict[str, Any] = {"id": session.frames.add(shown), "line": frame.line or 0, "column": 1 if frame.line else 0}
    if row.label:
        return {**body, "name": row.label, "presentationHint": "label", "line": 0, "column": 0}
    body["name"] = _name(frame)
    if frame.file:
        name = Path(frame.file).name
        body["source"] = {"name": name, "path": frame.file, **session.texts.reference(frame.file)}
    if frame.plumbing:
        body["presentationHint"] = "subtle"
    if frame.address:
        body["instructionPointerReference"] = hex(frame.address)
    return body


def _name(frame: Frame) -> str:
    """The function, and what FX or the autograd engine knows of it."""
    if frame.fx:
        return f"{frame.function} [fx {frame.fx.node}{f' of {frame.fx.module}' if frame.fx.module else ''}]"
    if frame.autograd:
        return f"{frame.function} [autograd {frame.autograd.name}]"
    return frame.function


@request("scopes")
def scopes(session: Session, arguments: Arguments) -> Message:
    """What a frame has: its variables, and what FX knows of a generated line."""
    shown = session.frames.get(arguments.integer("frameId"))
    shell = session.require_program()
    found: list[Message] = []
    if shown.debugpy is not None:
        for each in shell.python.scopes(shown.debugpy):
            container = Container("debugpy", each["variablesReference"], shown)
            entry = {key: value for key, value in each.items() if key in {"name", "expensive", "presentationHint"}}
            found.append({**entry, "variablesReference": session.variables.add(container)})
    elif shown.level >= 0:
        session.ahead.opened_frame()
        for scope in NativeVariables(shell.attach()).scopes(shown.thread, shown.level):
            container = Container("gdb", scope.handle, shown)
            hint = {"Arguments": "arguments", "Locals": "locals", "Registers": "registers"}.get(scope.name)
            entry = {"name": scope.name, "expensive": scope.expensive}
            found.append(
                {
                    **entry,
                    **({"presentationHint": hint} if hint else {}),
                    "variablesReference": session.variables.add(container),
                }
            )
    return {"scopes": [*_fx_scope(session, shown.frame), *found]}


def _fx_scope(session: Session, frame: Frame) -> list[Message]:
    if not frame.fx:
        return []
    source_map = map_of(frame.file) if frame.file else None
    rows = fx_scope(frame.fx, source_map.at(frame.line) if source_map and frame.line else None)
    variables = [of_gdb(session, row, None) for row in rows]
    reference = session.variables.add(Container("ready", variables=tuple(variables)))
    return [{"name": "FX", "variablesReference": reference, "expensive": False}]
