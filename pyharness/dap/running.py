"""Requests that let the program go on, or stop it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.dap.registry import request
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from pyharness.dap.arguments import Arguments
    from pyharness.dap.session import Session
    from pyharness.dapwire.wire import Message
    from pyharness.debugger.action import Request


@request("continue", needs="change", supportsSingleThreadExecutionRequests=False)
def continue_(session: Session, arguments: Arguments) -> Message:
    """One continue for both halves."""
    _go(session, arguments, "continue")
    return {"allThreadsContinued": True}


@request("next", needs="change", supportsSteppingGranularity=True)
def next_(session: Session, arguments: Arguments) -> None:
    """To the next line."""
    _go(session, arguments, "instruction" if _by_instruction(session, arguments) else "over")


@request("stepIn", needs="change", supportsStepInTargetsRequest=True)
def step_in(session: Session, arguments: Arguments) -> None:
    """Into the first function of the user's that the line runs, in either language, or the one that was chosen."""
    if _by_instruction(session, arguments):
        _go(session, arguments, "into_instruction")
        return
    native_only = arguments.integer("targetId", 0) == _NATIVE_TARGET
    _go(session, arguments, "into_native" if native_only else "into")


@request("stepOut", needs="change")
def step_out(session: Session, arguments: Arguments) -> None:
    """To the caller: another native frame of the user's, or the next line of their Python."""
    _go(session, arguments, "out")


_NATIVE_TARGET = 2


def _by_instruction(session: Session, arguments: Arguments) -> bool:
    """Whether to step one machine instruction; Python has none that a person would step."""
    return arguments.text("granularity", "") == "instruction" and session.focus().language == "native"


@request("stepInTargets")
def step_in_targets(session: Session, arguments: Arguments) -> Message:
    """What a line can be stepped into."""
    if session.frames.get(arguments.integer("frameId")).debugpy is None:
        return {"targets": []}
    return {
        "targets": [
            {"id": 1, "label": "the first function of yours, Python or C++"},
            {"id": _NATIVE_TARGET, "label": "the first C++ function of yours"},
        ]
    }


def _go(session: Session, arguments: Arguments, kind: Request) -> None:
    thread, focus = arguments.integer("threadId"), session.focus()
    if thread != focus.thread:
        raise HarnessError(f"Thread {thread} is not stopped.", f"Thread {focus.thread} is.")
    session.goes_on(kind)


@request("pause", needs="program")
def pause(session: Session, arguments: Arguments) -> None:
    """Stop a thread wherever it is: in Python at its next line, in native code where it stands."""
    shell, thread = session.require_program(), arguments.integer("threadId")
    if shell.machine.focus is not None:
        raise HarnessError(shell.immobile or "The program is stopped already.")
    session.afterwards(lambda: shell.pause(thread))
