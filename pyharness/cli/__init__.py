"""The command line: ``pyharness VERB ...``, and the one place that turns errors into a message and an exit status."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import click

from pyharness.cli.grammar.lazy_group import LazyGroup
from pyharness.cli.grammar.wrong_words import usage_error
from pyharness.cli.kit.exits import ToldToEnd
from pyharness.host.exit_status import ExitStatus
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Sequence

# A verb's module is imported when the verb is used: `pyharness --help` answers at once.
VERBS = {
    "init": "add a debug build, a session and VS Code configurations to your project",
    "run": "run a program under a handle, by which a debugger finds it later",
    "debug": "a prompt at a program, a running process or a core file: step, look, change in Python and C++",
    "step": "run a program to a place and step on: Python, C++ and back",
    "trace": "run a program, record its ops and autograd nodes, show what took the time",
    "fx": "look at what torch.fx and torch.compile make: graphs, generated code, provenance",
    "session": "play a session file, check what it expects",
    "ranks": "show all ranks of a distributed job, and who holds the others up",
    "stack": "print the merged stack of a running process or a core file",
    "attach": "open gdb here on a running process, with our commands loaded",
    "dap": "serve the Debug Adapter Protocol, for VS Code and other editors",
    "mcp": "serve the debugger to an agent, by the Model Context Protocol",
    "engine": "keep the native part that watches torch: list, build or remove it",
    "doctor": "look at what debugging needs, here or in a process, and say what is missing",
    "vscode": "write a launch.json: debugpy and gdb side by side in VS Code",
    "gdb-script": "print the path that plain gdb is to source",
    "completion": "print what makes a shell complete verbs, options, programs and places",
}
_EXAMPLES = (
    ("is all there that debugging needs?", "pyharness doctor"),
    ("into the C++ that a module runs, and back", "pyharness step train.py --at fx:blocks.0.norm --into-native --out"),
    ("where does the first NaN come from?", "pyharness run --nan train.py"),
)
_EPILOG = "Each verb has --help with examples and its exit status; docs/cli.md has all of it on one page."
COMPLETE = "_PYHARNESS_COMPLETE"
"""Set by a shell that completes: what it wants to know."""
_JSON = "pyharness.json"
_BUG = "This is a bug in pyharness. PYHARNESS_TRACEBACK=1 shows where."


def _version(ctx: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001  (click calls it)
    if not value or ctx.resilient_parsing:
        return
    from pyharness.cli import version
    from pyharness.cli.kit import output

    found = version.versions()
    if ctx.meta.get(_JSON):
        output.write_json(found)
    else:
        output.write("\n".join(version.lines(found)))
    ctx.exit()


def _note_json(ctx: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001  (click calls it)
    ctx.meta[_JSON] = value


@click.group(cls=LazyGroup, package=__name__, summaries=VERBS, examples=_EXAMPLES, epilog=_EPILOG)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    callback=_version,
    help="Print the versions of all that works together; with --json, as one object.",
)
@click.option("--json", is_flag=True, is_eager=True, expose_value=False, hidden=True, callback=_note_json)
def command() -> None:
    """Debug PyTorch programs that are half Python and half C++."""


def main(*, went_over: bool = False) -> None:
    """Entry point of ``pyharness``; ``went_over`` where another environment's handed its command line over."""
    from pyharness.cli.kit import streams

    signal.signal(signal.SIGINT, _ended)
    signal.signal(signal.SIGTERM, _ended)
    signal.signal(signal.SIGQUIT, _ended)  # whoever has a program under a debugger means both
    streams.prepare()
    status = execute(sys.argv[1:], went_over=went_over)
    if sys.flags.inspect:  # PYTHONINSPECT is the program's: Python would go on at a prompt here, too
        import ctypes

        ctypes.pythonapi.Py_Exit(status)
    sys.exit(status)


def execute(arguments: Sequence[str], *, went_over: bool = False) -> int:
    """Run one command line; its exit status."""
    try:
        return _run(list(arguments), went_over=went_over)
    except click.exceptions.Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, click.Abort):
        return ExitStatus.INTERRUPTED
    except (click.UsageError, HarnessError) as error:
        return _failed(error)
    except BrokenPipeError:  # the reader of our output has seen enough
        from pyharness.cli.kit import output

        output.drop()
        return ExitStatus.UNREAD
    except Exception as error:
        if os.environ.get("PYHARNESS_TRACEBACK"):
            raise
        return _failed(_unforeseen(error))


def _run(arguments: list[str], *, went_over: bool) -> int:
    asked = os.environ.get(COMPLETE)
    if asked:  # a shell asks what could come next
        from pyharness.cli.grammar import shells

        return shells.answer(command, asked)
    with command.make_context("pyharness", arguments, obj=went_over) as ctx:
        value = command.invoke(ctx)
        return value if isinstance(value, int) else ExitStatus.OK


def _unforeseen(error: Exception) -> HarnessError:
    from pyharness.model.system_errors import of_the_system

    return of_the_system(error) or HarnessError(f"{type(error).__name__}: {error}", _BUG)


def _failed(error: click.UsageError | HarnessError) -> int:
    from pyharness.cli.kit import output

    error = usage_error(error) if isinstance(error, click.UsageError) else error
    output.error(error.message, error.remedy)
    return error.exit_code


def _ended(number: int, _frame: object) -> None:
    """Leave through every ``with``, so that the program and the debuggers end; impatience cannot cut that short."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # the terminal is put back from behind as well
    raise ToldToEnd(128 + number)
