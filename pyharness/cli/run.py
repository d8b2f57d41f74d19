"""``pyharness run SCRIPT``: the program as ``python SCRIPT`` runs it, under a handle by which debuggers find it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyharness.cli import output
from pyharness.model import handles
from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from pyharness.model.handles import Handle

ENTRY = Path(__file__).resolve().parent.parent / "debuggee" / "entry.py"
NAN_ENTRY = ENTRY.with_name("nan_entry.py")
_WITH_VALUE = {"--name", "--python"}


class _ProgramCommand(click.Command):
    """Everything from the script, or from behind ``-m MODULE``, is the program's: its options are not ours."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, with ``--`` put where the program begins."""
        index = 0
        while index < len(args) and args[index].startswith("-") and args[index] not in {"-m", "--"}:
            index += 2 if args[index] in _WITH_VALUE else 1
        if args[index : index + 1] != ["--"]:
            args = [*args[:index], "--", *args[index:]]
        return super().parse_args(ctx, args)


@click.command(cls=_ProgramCommand)
@click.option(
    "--name", default="", metavar="NAME", help="The handle; the script's name and its pid where none is given."
)
@click.option("--python", default="", metavar="PATH", help="The program's interpreter, if not this one.")
@click.option("--nan", is_flag=True, help="End it at the first NaN or Inf, and say where that comes from.")
@click.option("--list", "listing", is_flag=True, help="Show the handles of running programs, and nothing else.")
@click.option("--json", "as_json", is_flag=True, help="With --list: one JSON object.")
@click.argument("words", metavar="SCRIPT|-m MODULE [ARGS]...", nargs=-1, type=click.UNPROCESSED)
def command(*, name: str, python: str, nan: bool, listing: bool, as_json: bool, words: tuple[str, ...]) -> None:
    """Run a program that can be debugged later: it runs as without us, and a debugger attaches by its handle.

    The program is this very process: its exit status, signals, input and output are its own. With --nan the status is 1
    where a bad value was found.
    """
    if listing:
        _print(handles.live(), as_json=as_json)
        return
    _check(words)
    name = _free(name or handles.default_name(words[1] if words[0] == "-m" else words[0], os.getpid()))
    interpreter = shutil.which(python or sys.executable)
    if interpreter is None:
        raise UsageError(f"There is no Python interpreter {python!r}.")
    sys.stdout.flush()
    entry = str(NAN_ENTRY if nan else ENTRY)
    os.execv(interpreter, [interpreter, entry, name, *words])  # noqa: S606  (a list of arguments, no shell)


def _check(words: tuple[str, ...]) -> None:
    if not words or words == ("-m",):
        raise UsageError("Which script?", "pyharness run SCRIPT [ARGS], or pyharness run -m MODULE [ARGS].")
    if words[0] != "-m" and not Path(words[0]).is_file():
        raise UsageError(f"There is no script {words[0]!r}.", "Name a Python file, or use -m for a module.")


def _free(name: str) -> str:
    other = next((handle for handle in handles.live() if handle.name == handles.check_name(name)), None)
    if other:
        raise UsageError(f"There is a program {name!r} already: process {other.pid}.", "Choose another --name.")
    return handles.check_name(name)


def _print(known: list[Handle], *, as_json: bool) -> None:
    if as_json:
        output.write_json({"handles": [handle.to_json() for handle in known]})
        return
    width = max((len(handle.name) for handle in known), default=0)
    lines = [f"{handle.name:<{width}}  {handle.pid:>7}  {handle.command}" for handle in known]
    output.write("\n".join(lines) or "No program of `pyharness run` is running.")
