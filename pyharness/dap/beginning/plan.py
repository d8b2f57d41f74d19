"""What a launch or an attach asks for, read from its arguments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyharness.dap.beginning.core_plan import core_of
from pyharness.dap.beginning.scripts import scripts_of
from pyharness.debugger.starting.attach import Attachment
from pyharness.debugger.starting.launch import Command
from pyharness.host.interpreters import interpreter_for
from pyharness.model.errors import UsageError
from pyharness.model.evaluation import EVAL_TIMEOUT, checked_timeout
from pyharness.model.ranks.named import named_ranks

if TYPE_CHECKING:
    from pyharness.dap.arguments import Arguments
    from pyharness.debugger.core.shell import CoreFile

_EDITORS: tuple[str, ...] = (
    "type",
    "request",
    "name",
    "presentation",
    "preLaunchTask",
    "postDebugTask",
    "internalConsoleOptions",
)
_EDITORS += ("debugServer", "noDebug", "serverReadyAction", "suppressMultipleSessionWarning", "adapterID")
_COMMON = (*_EDITORS, "token", "connect", "include", "crashes", "plumbing", "subProcess", "justMyCode", "pathMappings")
_COMMON += ("evalTimeout", "debugKernels", "ranks", "gdbScripts")
LAUNCH = (
    *_COMMON,
    "program",
    "module",
    "args",
    "cwd",
    "env",
    "python",
    "stopOnEntry",
    "console",
    "coreFile",
    "overwritten",
)
ATTACH = (*_COMMON, "processId", "processName", "handle", "python")
_CONSOLES = ("internalConsole", "integratedTerminal", "externalTerminal")
_CHILDREN = ("leave", "debug")


@dataclass(frozen=True)
class Plan:
    """What a launch or attach asks for."""

    target: Command | Attachment | CoreFile
    include: tuple[str, ...] = ()
    crashes: bool = True
    stop_on_entry: bool = False
    debug: bool = True
    """Whether anything may stop it: an editor can start a program without."""
    plumbing: bool = False
    console: str = _CONSOLES[0]
    eval_timeout: float = EVAL_TIMEOUT
    gdb_scripts: tuple[str, ...] = ()
    """Scripts of the person's own that gdb reads first, by their absolute paths."""
    note: str = ""
    """What a person is to know of it before it starts."""


def launch_plan(arguments: Arguments) -> Plan:
    """The plan of a launch; raises ``UsageError`` for what cannot be meant."""
    _check_names(arguments, LAUNCH)
    core = core_of(arguments)
    if core:
        return _plan(arguments, core)
    module, program = arguments.text("module", ""), arguments.text("program", "")
    if bool(module) == bool(program):
        raise UsageError("launch needs `program` (a Python file) or `module`, and not both.")
    given = arguments.object("env", {}).values  # as VS Code has it, null takes a variable away
    env = {name: str(value) for name, value in given.items() if value is not None}
    python, note = _python(arguments, program)
    command = Command(
        program or module,
        tuple(map(str, arguments.items("args"))),
        module=bool(module),
        python=python,
        cwd=arguments.text("cwd", "") or None,
        env=env,
        unset=tuple(name for name, value in given.items() if value is None),
        children=_children(arguments),
        ranks=_ranks(arguments),
        debug_kernels=_debug_kernels(arguments),
        overwritten=arguments.flag("overwritten", default=False),
    )
    console = _one_of(arguments, "console", _CONSOLES)
    plan = _plan(arguments, command, console, stop_on_entry=arguments.flag("stopOnEntry", default=False))
    return replace(plan, note=note)


def attach_plan(arguments: Arguments) -> Plan:
    """The plan of an attach; raises ``UsageError`` for what cannot be meant."""
    _check_names(arguments, ATTACH)
    given = {
        name: arguments.values[name] for name in ("processId", "processName", "handle") if name in arguments.values
    }
    if len(given) != 1:
        raise UsageError("attach needs one of `processId`, `processName` and `handle`.", "See `pyharness run --list`.")
    target = str(next(iter(given.values()))).strip()
    if not target or ("processId" in given and not target.isdecimal()):
        raise UsageError(
            f"attach: {next(iter(given))!r} is {target!r}: that names no process.", "See `pyharness run --list`."
        )
    kernels, ranks = _debug_kernels(arguments), _ranks(arguments)
    attachment = Attachment(target, children=_children(arguments), ranks=ranks, debug_kernels=kernels)
    return _plan(arguments, attachment)


def _plan(
    arguments: Arguments,
    target: Command | Attachment | CoreFile,
    console: str = _CONSOLES[0],
    *,
    stop_on_entry: bool = False,
) -> Plan:
    debug = not arguments.flag("noDebug", default=False)
    return Plan(
        target,
        tuple(arguments.texts("include")),
        crashes=debug and arguments.flag("crashes", default=True),
        stop_on_entry=debug and stop_on_entry,
        debug=debug,
        plumbing=arguments.flag("plumbing", default=False),
        console=console,
        eval_timeout=checked_timeout(arguments.number("evalTimeout", EVAL_TIMEOUT)),
        gdb_scripts=scripts_of(arguments),
    )


def _check_names(arguments: Arguments, names: tuple[str, ...]) -> None:
    if arguments.text("type", "") == "pyharness":  # another type's client sends attributes of its own
        arguments.known(names)


def _debug_kernels(arguments: Arguments) -> bool:
    return arguments.flag("debugKernels", default=False)


def _children(arguments: Arguments) -> bool:
    """``subProcess``: leave or debug; the type *debugpy* has it as a truth value, and always sends it."""
    if "ranks" in arguments.values:
        return True
    if isinstance(arguments.values.get("subProcess"), bool):
        return False
    return _one_of(arguments, "subProcess", _CHILDREN) == "debug"


def _ranks(arguments: Arguments) -> tuple[int, ...] | None:
    """``ranks``: those of a job that are debugged, as ``3`` or ``0,2-5``, or all."""
    text = arguments.text("ranks", "")
    return named_ranks(text) if text else None


def _one_of(arguments: Arguments, name: str, values: tuple[str, ...]) -> str:
    value = arguments.text(name, values[0])
    if value not in values:
        raise UsageError(f"There is no {name} {value!r}.", f"One of {', '.join(values)}.")
    return value


def _python(arguments: Arguments, program: str) -> tuple[str, str]:
    """The program's interpreter, as it was named or as its environment has it; and a note on a choice of ours."""
    named = _named_python(arguments)
    if named or (found := interpreter_for(arguments.text("cwd", "") or None, program)) is None:
        return named, ""
    return found.path, found.told("`python`")


def _named_python(arguments: Arguments) -> str:
    """The program's Python as the client names it; the type *debugpy* gives it as a command line."""
    value = arguments.values.get("python")
    return str(value[0]) if isinstance(value, list) and value else arguments.text("python", "")
