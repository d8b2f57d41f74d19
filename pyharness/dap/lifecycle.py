"""Requests that begin and end: initialize, launch, configurationDone, restart, terminate, disconnect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.dap import exceptions
from pyharness.dap.debuggee import Debuggee, Plan
from pyharness.dap.registry import CAPABILITIES, request
from pyharness.debugger.launch import Command
from pyharness.model.errors import HarnessError, UsageError

if TYPE_CHECKING:
    from pyharness.dap.arguments import Arguments
    from pyharness.dap.session import Session
    from pyharness.model.dap_wire import Message

_COMMON: tuple[str, ...] = (
    "type",
    "request",
    "name",
    "presentation",
    "preLaunchTask",
    "postDebugTask",
    "internalConsoleOptions",
)
_COMMON += ("debugServer", "noDebug", "token", "serverReadyAction", "suppressMultipleSessionWarning", "adapterID")
_LOOKS = ("include", "crashes", "plumbing", "subProcess", "justMyCode")
_LAUNCH = ("program", "module", "args", "cwd", "env", "python", "stopOnEntry", "console", "coreFile")
_CONSOLES = ("internalConsole", "integratedTerminal", "externalTerminal")


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
    if arguments.text("type", "") == "pyharness":  # another type's client sends attributes of its own
        arguments.known([*_COMMON, *_LOOKS, *_LAUNCH])
    plan = plan_of(arguments)
    session.debuggee = Debuggee(session, plan)
    session.plan = plan


def _check_free(session: Session, arguments: Arguments) -> None:
    if not session.authorized(arguments.text("token", "")):
        raise HarnessError("Another client uses this server.", "Give the server's token in the attribute `token`.")
    if session.debuggee is not None:
        raise HarnessError("A program is being debugged already.", "End it first: one session, one program.")


def plan_of(arguments: Arguments) -> Plan:
    """What a launch asks for; raises ``UsageError`` for what cannot be meant."""
    module = arguments.text("module", "")
    program = arguments.text("program", "")
    if bool(module) == bool(program):
        raise UsageError("launch needs `program` (a Python file) or `module`, and not both.")
    console = arguments.text("console", _CONSOLES[0])
    if console not in _CONSOLES:
        raise UsageError(f"There is no console {console!r}.", f"One of {', '.join(_CONSOLES)}.")
    env = {name: str(value) for name, value in arguments.object("env", {}).values.items() if value is not None}
    command = Command(
        program or module,
        tuple(map(str, arguments.values.get("args") or ())),
        module=bool(module),
        python=_interpreter(arguments),
        cwd=arguments.text("cwd", "") or None,
        env=env,
    )
    debug = not arguments.flag("noDebug", default=False)
    return Plan(
        command,
        tuple(arguments.texts("include")),
        crashes=debug and arguments.flag("crashes", default=True),
        stop_on_entry=debug and arguments.flag("stopOnEntry", default=False),
        debug=debug,
        plumbing=arguments.flag("plumbing", default=False),
        console=console,
    )


def _interpreter(arguments: Arguments) -> str:
    """The program's Python; the type *debugpy* gives it as a command line."""
    value = arguments.values.get("python")
    return str(value[0]) if isinstance(value, list) and value else arguments.text("python", "")


@request("configurationDone", needs="program", supportsConfigurationDoneRequest=True)
def configuration_done(session: Session, _arguments: Arguments) -> None:
    """Let the program begin."""
    shell = session.require_program()
    if session.debuggee and not session.debuggee.configured:
        session.debuggee.configured = True
        session.afterwards(shell.python.configured)


@request("restart", needs="client", supportsRestartRequest=True)
def restart(session: Session, arguments: Arguments) -> None:
    """End the program and start it again, with the breakpoints as they are."""
    given = arguments.object("arguments", {})
    plan = plan_of(given) if given.values else session.plan
    if plan is None:
        raise HarnessError("There is nothing to restart.", "Send launch first.")
    if session.debuggee:
        session.forget()
        session.debuggee.terminate()
    session.plan = plan
    session.debuggee = Debuggee(session, plan)
    session.debuggee.shell.configure = session.breakpoints.again
    session.debuggee.configured = True


@request("cancel", needs="client", supportsCancelRequest=True)
def cancel(_session: Session, _arguments: Arguments) -> None:
    """Nothing here takes so long that it is better left: requests are handled one by one, each at once."""


@request("terminate", needs="client", supportsTerminateRequest=True)
def terminate(session: Session, _arguments: Arguments) -> None:
    """End the program; the session stays for the client to leave."""
    session.afterwards(lambda: _terminate(session))


def _terminate(session: Session) -> None:
    if session.debuggee:
        session.debuggee.terminate()
    else:
        session.end()


@request("disconnect", needs="client", supportTerminateDebuggee=True)
def disconnect(session: Session, arguments: Arguments) -> None:
    """Leave; a program that was launched ends unless the client wants otherwise."""
    if session.debuggee and "terminateDebuggee" in arguments.values:
        session.debuggee.keep = not arguments.flag("terminateDebuggee")
    session.release()
    session.over = True
