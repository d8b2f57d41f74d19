"""The command line: ``pyharness VERB ...``, and the one place that turns errors into a message and an exit status."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import click

from pyharness.cli.lazy_group import LazyGroup
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Sequence

# A verb's module is imported when the verb is used: `pyharness --help` answers at once.
VERBS = {
    "run": "run a program under a handle, by which a debugger finds it later",
    "step": "run a script to a place and step on: Python, C++ and back",
    "trace": "run a program, record its ops and autograd nodes, show what took the time",
    "fx": "look at what torch.fx and torch.compile make: graphs, generated code, provenance",
    "session": "play a session file, check what it expects",
    "stack": "print the merged stack of a running process or a core file",
    "attach": "open gdb here on a running process, with our commands loaded",
    "dap": "serve the Debug Adapter Protocol, for VS Code and other editors",
    "doctor": "look at what debugging needs, here or in a process, and say what is missing",
    "vscode": "write a launch.json: debugpy and gdb side by side in VS Code",
    "gdb-script": "print the path that plain gdb is to source",
}
_BUG = "This is a bug in pyharness. PYHARNESS_TRACEBACK=1 shows where."


def _version(ctx: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001  (click calls it)
    if not value or ctx.resilient_parsing:
        return
    from pyharness.cli import output, version

    output.write("\n".join(version.lines()))
    ctx.exit()


@click.group(
    cls=LazyGroup,
    package=__name__,
    summaries=VERBS,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show versions.")
def command() -> None:
    """Debug PyTorch programs that are half Python and half C++."""


def main() -> None:
    """Entry point of ``pyharness``."""
    signal.signal(signal.SIGINT, _ended)
    signal.signal(signal.SIGTERM, _ended)
    status = run(sys.argv[1:])
    sys.exit(status)


def run(arguments: Sequence[str]) -> int:
    """Run one command line; its exit status."""
    try:
        return _status(command.main(list(arguments), prog_name="pyharness", standalone_mode=False))
    except (KeyboardInterrupt, click.Abort):
        return 130
    except (click.ClickException, HarnessError) as error:
        _say(error)
        return error.exit_code
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if os.environ.get("PYHARNESS_TRACEBACK"):
            raise
        _say(HarnessError(f"{type(error).__name__}: {error}", _BUG))
        return 1


def _say(error: click.ClickException | HarnessError) -> None:
    from pyharness.cli import output

    if isinstance(error, HarnessError):
        output.error(error.message, error.remedy)
    else:
        error.show()


def _status(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _ended(number: int, _frame: object) -> None:
    """Leave through every ``with``, so that the program and the debuggers end; impatience cannot cut that short."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(128 + number)
