"""MI commands for variables: scopes of a frame, children of a variable, setting and evaluating one."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

import gdb

from pyharness.ingdb import ending
from pyharness.ingdb.memory import UnreadableError
from pyharness.ingdb.mi import commands as mi
from pyharness.ingdb.stack import backtrace
from pyharness.ingdb.stack.merge import NativeFrame
from pyharness.ingdb.variables import std_printers
from pyharness.ingdb.variables.expression import evaluate
from pyharness.ingdb.variables.frame import scopes
from pyharness.ingdb.variables.items import Handles, page
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.ingdb.mi.commands import Handler
    from pyharness.ingdb.python.frames import PythonFrame
    from pyharness.ingdb.python.threads import Python

    Frames = tuple[list[NativeFrame | PythonFrame], Python | None]

MAX_FRAMES = 400
"""As many as ``-ph-stack`` gives: the two number them alike."""
_handles = Handles()
_frames: dict[int, tuple[tuple[int, int], Frames]] = {}
"""The merged stack of a thread, with where the thread stood when it was read."""


def _answering(handler: Handler) -> Handler:
    """Say an error of ours as gdb says one: text, then remedy, and no Python traceback."""

    @functools.wraps(handler)
    def answer(request: dict[str, Any]) -> Any:
        try:
            return handler(request)
        except HarnessError as error:
            raise gdb.GdbError(str(error)) from error
        except (UnreadableError, OSError, RuntimeError, ValueError) as error:
            raise gdb.GdbError(f"The variables cannot be read: {error}.\nLook again after the next stop.") from error

    return answer


def _command(name: str) -> Callable[[Handler], Handler]:
    return lambda handler: mi.mi_command(name)(_answering(handler))


def _frame(request: dict[str, Any]) -> tuple[NativeFrame | PythonFrame, Python | None]:
    """The frame of the merged stack that a request names; its thread is selected then."""
    thread = mi.select(request)
    if not thread.is_stopped():
        raise HarnessError(f"Thread {request['thread']} runs.", "Pause it first.")
    std_printers.register()
    frames, python = _stack(thread)
    level = request["level"]
    if not 0 <= level < len(frames):
        raise HarnessError(f"There is no frame {level}: the stack has {len(frames)}.", "Ask for the stack again.")
    frame = frames[level]
    if isinstance(frame, NativeFrame):
        frame = dataclasses.replace(frame, handle=backtrace.handle_of(frame))
        frame.handle.select()
    return frame, python


def _stack(thread: gdb.InferiorThread) -> Frames:
    newest = gdb.newest_frame()
    place = newest.pc(), int(newest.read_register("rsp"))
    known = _frames.get(thread.ptid[1])
    if known is None or known[0] != place or not _valid(known[1]):
        known = _frames[thread.ptid[1]] = place, backtrace.frames_in_order(thread, MAX_FRAMES, handles=False)
    return known[1]


def _valid(frames: Frames) -> bool:
    handles = (frame.handle for frame in frames[0] if isinstance(frame, NativeFrame) and frame.handle)
    return all(handle.is_valid() for handle in handles)


@_command("ph-scopes")
def _scopes(request: dict[str, Any]) -> Any:
    """``{"thread": LWP, "level": I}`` → the scopes of a frame of the merged stack."""
    frame, python = _frame(request)
    return [scope.to_json() for scope in scopes(_handles, request["thread"], frame, python)]


@_command("ph-children")
def _children(request: dict[str, Any]) -> Any:
    """``{"handle": N, "start": 0, "count": 100, "filter": "named" | "indexed"}`` → variables.

    The named children come first, then the counted; with a filter, only those of a kind are counted from ``start`` on.
    """
    thread, content = _handles.get(request["handle"])
    mi.select({"thread": thread})
    items = page(content, request.get("start", 0), request.get("count", 0), request.get("filter"))
    return [_handles.variable(thread, item).to_json() for item in items]


@_command("ph-set-variable")
def _set_variable(request: dict[str, Any]) -> Any:
    """``{"handle": N, "name": ..., "value": ...}`` → the variable as it is then."""
    thread, content = _handles.get(request["handle"])
    mi.select({"thread": thread})
    with ending.possible():
        return _handles.variable(thread, content.assign(request["name"], request["value"])).to_json()


@_command("ph-evaluate-variable")
def _evaluate_variable(request: dict[str, Any]) -> Any:
    """``{"thread": LWP, "level": I, "expression": ...}`` → one variable, in the language of the frame.

    With ``"whole": true`` its text is not cut to a line.
    """
    frame, python = _frame(request)
    with ending.possible():
        item = evaluate(request["expression"], frame, python, request["thread"], whole=bool(request.get("whole")))
    return _handles.variable(request["thread"], item).to_json()


@_command("ph-forget-variables")
def _forget_variables(request: dict[str, Any]) -> Any:
    """All handles are void: the program goes on. With ``{"thread": LWP}``, those of that thread."""
    thread = request.get("thread")
    _handles.forget(thread)
    if thread is None:
        _frames.clear()
    else:
        _frames.pop(thread, None)
    return None
