"""Requests that begin and end: initialize, launch, configurationDone, restart, terminate, disconnect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.dap.beginning.core_debuggee import CoreDebuggee
from pyharness.dap.beginning.debuggee import Debuggee
from pyharness.dap.beginning.path_mappings import mappings_of
from pyharness.dap.beginning.plan import attach_plan, launch_plan
from pyharness.dap.beginning.terminal import InTerminal
from pyharness.dap.breaking import exceptions
from pyharness.dap.registry import CAPABILITIES, request
from pyharness.debugger.core.native import IMMOBILE
from pyharness.debugger.core.shell import CoreFile
from pyharness.debugger.starting.launch import Command
from pyharness.model.errors import HarnessError, UsageError

if TYPE_CHECKING:
    from pyharness.dap.arguments import Arguments
    from pyharness.dap.beginning.plan import Plan
    from pyharness.dap.session import Session
    from pyharness.dapwire.wire import Message


@request("initialize", needs="client")
def initialize(session: Session, arguments: Arguments) -> Message:
    """What the client can, for what this adapter can."""
    for name in ("linesStartAt1", "columnsStartAt1"):
        if not arguments.flag(name, default=True):
            raise UsageError(f"{name} must be true: lines and columns are counted from 1 here.")
    if arguments.text("pathFormat", "path") != "path":
        raise UsageError("pathFormat must be 'path'.")
    session.supports = arguments.values
    return {**CAPABILITIES, "exceptionBreakpointFilters": exceptions.FILTERS}


@request("launch", needs="client")
def launch(session: Session, arguments: Arguments) -> None:
    """Start the program; it waits before its first line until the client has configured."""
    _check_free(session, arguments)
    _start(session, launch_plan(_in_our_paths(session, arguments)))


@request("attach", needs="client")
def attach(session: Session, arguments: Arguments) -> None:
    """Debug a program that runs already; it runs on at the end."""
    _check_free(session, arguments)
    _start(session, attach_plan(_in_our_paths(session, arguments)))


def _in_our_paths(session: Session, arguments: Arguments) -> Arguments:
    """From here on the client's paths are translated, those of this request among them."""
    mappings = mappings_of(arguments)
    session.client.paths = mappings or None
    return mappings.start(arguments)


def _start(session: Session, plan: Plan) -> None:
    session.forget()  # of a program before this one, whose threads may have had the same numbers
    if plan.note:
        session.say(f"{plan.note}\n")
    if plan.console != "internalConsole" and isinstance(plan.target, Command):
        if not session.supports.get("supportsRunInTerminalRequest"):
            raise UsageError(f"This client has no {plan.console}.", "Use the console internalConsole.")
        if session.client.paths:
            raise UsageError(
                "The client's terminal is not where the program is (pathMappings).", "Use internalConsole."
            )
        session.terminal = InTerminal(session, plan, plan.target)
    else:
        session.debuggee = (CoreDebuggee if isinstance(plan.target, CoreFile) else Debuggee)(session, plan)
    session.plan = plan


def _check_free(session: Session, arguments: Arguments) -> None:
    token = arguments.text("token", "")
    session.accepted = session.accepted or session.authorized(token)
    if not session.accepted:
        wrong = "That is not this server's token." if token else "This server asks for a token."
        raise HarnessError(wrong, "Give the token that the server printed in the attribute `token`.")
    if session.debuggee is not None:
        raise HarnessError("A program is being debugged already.", "End it first: one session, one program.")


@request("configurationDone", needs="program", supportsConfigurationDoneRequest=True)
def configuration_done(session: Session, _arguments: Arguments) -> None:
    """Let the program begin."""
    shell = session.require_program()
    if session.debuggee and not session.debuggee.configured:
        session.debuggee.configured = True
        if shell.python.alive:  # else it is told when debugpy is there: the client did not wait for `initialized`
            session.afterwards(shell.python.configured)
        session.soon(session.begin)


@request("restart", needs="client", supportsRestartRequest=True)
def restart(session: Session, arguments: Arguments) -> None:
    """End the program and start it again, with the breakpoints as they are."""
    given = arguments.object("arguments", {})
    plan = launch_plan(_in_our_paths(session, given)) if given.values and session.plan else session.plan
    if plan and isinstance(plan.target, CoreFile):
        raise HarnessError(IMMOBILE)
    if plan is None or not isinstance(plan.target, Command):
        raise HarnessError("There is nothing to restart.", "Only what was launched can be started again.")
    if session.debuggee:
        session.forget()
        session.debuggee.terminate()
        session.debuggee = None  # what is left to say of it is nobody's, also while a terminal starts the next
    session.close_terminal()
    session.restarting = True
    _start(session, plan)


@request("cancel", needs="client", supportsCancelRequest=True)
def cancel(_session: Session, _arguments: Arguments) -> None:
    """Answered in its turn, when what it names has ended: see ``dap/cancelling.py``."""


@request("terminate", needs="client", supportsTerminateRequest=True)
def terminate(session: Session, _arguments: Arguments) -> None:
    """Ask the program to end; one that does not want to goes on, and so does the session (``disconnect`` ends it)."""
    session.afterwards(lambda: _terminate(session))


def _terminate(session: Session) -> None:
    if session.debuggee is None:
        session.end()
        return
    session.debuggee.ask_to_end()
    if session.debuggee and session.debuggee.shell.machine.focus:
        session.resume("continue")  # it hears when it runs


@request("disconnect", needs="client", supportTerminateDebuggee=True)
def disconnect(session: Session, arguments: Arguments) -> None:
    """Leave; a program that was launched ends unless the client wants otherwise."""
    if session.debuggee and "terminateDebuggee" in arguments.values:
        session.debuggee.keep = not arguments.flag("terminateDebuggee")
    session.release()
    session.over = True
