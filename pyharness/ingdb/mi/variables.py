"""MI commands for variables: scopes of a frame, children of a variable, setting and evaluating one."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, TypeVar

import gdb

from pyharness.ingdb.calls import ending
from pyharness.ingdb.mi.commands import handles, select
from pyharness.ingdb.printers import known
from pyharness.ingdb.stack import backtrace
from pyharness.ingdb.stack.held_levels import HELD_LEVELS
from pyharness.ingdb.variables.expression import evaluate
from pyharness.ingdb.variables.frame import scopes
from pyharness.ingdb.variables.items import Handles, page
from pyharness.ingdb.variables.kernels.element_lines import lines_of_element
from pyharness.ingdb.variables.kernels.frame import kernel_frame
from pyharness.ingdb.variables.kernels.kernel import kernel_scopes
from pyharness.model.errors import HarnessError
from pyharness.protocol import mi
from pyharness.reading.process.memory import UnreadableError
from pyharness.reading.stack.merge import NativeFrame

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.model.variable import Scope, Variable
    from pyharness.reading.python.frames import PythonFrame
    from pyharness.reading.python.threads import Python

Request = TypeVar("Request")
Answer = TypeVar("Answer")
_handles = Handles()


def _answering(handler: Callable[[Request], Answer]) -> Callable[[Request], Answer]:
    """Say an error of ours as gdb says one: text, then remedy, and no Python traceback."""

    @functools.wraps(handler)
    def answer(request: Request) -> Answer:
        try:
            return handler(request)
        except HarnessError as error:
            raise gdb.GdbError(str(error)) from error
        except (UnreadableError, OSError, RuntimeError, ValueError) as error:
            raise gdb.GdbError(f"The variables cannot be read: {error}.\nLook again after the next stop.") from error

    return answer


def _frame(lwp: int, level: int) -> tuple[NativeFrame | PythonFrame, Python | None]:
    """A frame of the merged stack of a thread, which is selected then."""
    thread = select(lwp)
    if not thread.is_stopped():
        raise HarnessError(f"Thread {lwp} is running.", "Pause it first.")
    known.register()
    frames, python = backtrace.frames_in_order(thread, mi.MAX_FRAMES, handles=False)
    if not 0 <= level < len(frames):
        raise HarnessError(f"There is no frame {level}: the stack has {len(frames)}.", "Ask for the stack again.")
    frame = frames[HELD_LEVELS.now(lwp, level, frames)]
    if isinstance(frame, NativeFrame):
        frame = dataclasses.replace(frame, handle=backtrace.handle_of(frame))
        frame.handle.select()
    return frame, python


@handles(mi.Scopes)
@_answering
def _scopes(request: mi.Scopes) -> tuple[Scope, ...]:
    frame, python = _frame(request.thread, request.level)
    own = kernel_scopes(frame.handle) if isinstance(frame, NativeFrame) else ()
    kernels = [_handles.scope(request.thread, name, content) for name, content in own]
    found = (*kernels, *scopes(_handles, request.thread, frame, python))
    return tuple(_opened(scope) if scope is found[0] and not scope.expensive else scope for scope in found)


def _opened(scope: Scope) -> Scope:
    try:
        return dataclasses.replace(scope, variables=_children(mi.Children(scope.handle)))
    except gdb.GdbError:
        return scope  # who opens it is told why


@handles(mi.Children)
@_answering
def _children(request: mi.Children) -> tuple[Variable, ...]:
    thread, content = _handles.get(request.handle)
    select(thread)
    items = page(content, request.start, request.count, request.filter)
    return tuple(_handles.variable(thread, item) for item in items)


@handles(mi.SetVariable)
@_answering
def _set_variable(request: mi.SetVariable) -> Variable:
    thread, content = _handles.get(request.handle)
    select(thread)
    with ending.possible():
        return _handles.variable(thread, content.assign(request.name, request.value))


@handles(mi.EvaluateVariable)
@_answering
def _evaluate_variable(request: mi.EvaluateVariable) -> Variable:
    frame, python = _frame(request.thread, request.level)
    with ending.possible():
        item = evaluate(request.expression, frame, python, request.thread, whole=request.whole)
    return _handles.variable(request.thread, item)


@handles(mi.FindElement)
@_answering
def _find_element(request: mi.FindElement) -> mi.KernelLines:
    frame, _python = _frame(request.thread, request.level)
    kernel = kernel_frame(frame.handle) if isinstance(frame, NativeFrame) else None
    return lines_of_element(kernel, request.node, request.element)


@handles(mi.ForgetVariables)
@_answering
def _forget_variables(request: mi.ForgetVariables) -> None:
    _handles.forget(request.thread)
