"""``pyharness run SCRIPT``: the program as ``python SCRIPT`` runs it, under a handle by which debuggers find it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pyharness.cli.grammar import completers
from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit import output
from pyharness.cli.kit.files import check_name, check_new_folder
from pyharness.cli.kit.interpreter import python_of
from pyharness.cli.kit.options import Seconds, overwritten_option, python_option
from pyharness.debugger.starting.interpreter import check_version
from pyharness.host import handles
from pyharness.host.missing import check_module, check_script, no_interpreter
from pyharness.host.state import state_dir
from pyharness.model.errors import UsageError
from pyharness.model.text.visible import in_one_line
from pyharness.protocol.store import VARIABLE
from pyharness.reading.sanitized.runtimes import (
    SANITIZERS,
    check_start,
    environment_for,
    keep_addresses,
    python_path_of,
)

if TYPE_CHECKING:
    from pyharness.host.handles import Handle

START = Path(__file__).resolve().parent.parent / "debuggee" / "start.py"
HARNESS_PYTHON = "PYHARNESS_PROMPT"
"""Tells the program whose Python has the debugger: `breakpoint()` in it starts one, and takes this away."""
SEARCHES = ("nan", "overwritten")
"""Options that are a program of ours each, of the same name."""
_WITH_VALUE = {"--name", "--python", "--report", "--hang", "--runtime"}


class _ProgramCommand(Verb):
    """Everything from the script, or from behind ``-m MODULE``, is the program's: its options are not ours."""

    def own_words(self, args: list[str]) -> list[str]:
        """What comes before the script."""
        index = 0
        while index < len(args) and args[index].startswith("-") and not _begins_program(args[index]):
            index += 2 if args[index] in _WITH_VALUE else 1
        return args[:index]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does, with ``--`` put where the program begins."""
        index = len(self.own_words(args))
        program = args[index:]
        if program and program[0].startswith("-m") and program[0] != "-m":  # -mMODULE, as Python takes it
            program = ["-m", program[0][2:], *program[1:]]
        if program[:1] != ["--"]:
            args = [*args[:index], "--", *program]
        return super().parse_args(ctx, args)


def _begins_program(word: str) -> bool:
    return word == "--" or word.startswith("-m")


_EXAMPLES = (
    (
        "as `python train.py --epochs 1`; a debugger may come later, by the handle",
        "pyharness run --name train train.py --epochs 1",
    ),
    ("who can be attached to?", "pyharness run --list"),
    ("where does the first NaN come from?", "pyharness run --nan train.py"),
    ("who overwrites what backward needs, in C++ too?", "pyharness run --overwritten train.py"),
    (
        "a report of its crash, its exception, or of a hang of ten minutes",
        "pyharness run --report out --hang 600 train.py",
    ),
    ("who writes behind a tensor? (the extension is built with -fsanitize=address)", "pyharness run --asan train.py"),
)
_STATUSES = (
    ("the program's", "it is this very process"),
    ("0", "--list, and nothing else"),
    ("1", "--nan, and a bad value was found; --overwritten, and a tensor was"),
)


@click.command(cls=_ProgramCommand, examples=_EXAMPLES, statuses=_STATUSES)
@click.option(
    "--name", default="", metavar="NAME", help="The handle; the script's name and its pid where none is given."
)
@python_option
@click.option("--nan", is_flag=True, help="End it at the first NaN or Inf, and say where that comes from.")
@overwritten_option
@click.option(
    "--report",
    "folder",
    metavar="DIR",
    help="Where it crashes or raises, write both languages' stacks with values into files of this folder.",
)
@click.option(
    "--hang",
    type=Seconds(min=1, max=10_000_000),
    metavar="SECONDS",
    help="With --report: write one, too, when the main thread has stood at one place for so long. It runs on.",
)
@click.option(
    "--asan", is_flag=True, help="Under AddressSanitizer: tell an error of memory with both languages and its tensor."
)
@click.option("--ubsan", is_flag=True, help="Under UndefinedBehaviorSanitizer.")
@click.option("--tsan", is_flag=True, help="Under ThreadSanitizer: races in the user's extension.")
@click.option(
    "--runtime",
    metavar="FILE",
    help="With a sanitizer: its runtime, such as libasan.so.8, where none is found that an extension was built for.",
)
@click.option(
    "--store", is_flag=True, help="A rank of a job: `pyharness ranks --store` may ask it through the job's own store."
)
@click.option("--list", "listing", is_flag=True, help="Show the handles of running programs, and nothing else.")
@click.option("--json", "as_json", is_flag=True, help="With --list: print one JSON object instead of text.")
@click.argument(
    "words",
    metavar="SCRIPT|-m MODULE [ARGS]...",
    nargs=-1,
    type=click.UNPROCESSED,
    shell_complete=completers.files,
)
def command(
    *,
    name: str,
    python: str,
    store: bool,
    listing: bool,
    as_json: bool,
    words: tuple[str, ...],
    **report: Any,
) -> None:
    """Run a program that can be debugged later: it runs as without us, and a debugger attaches by its handle.

    The program is this very process: its exit status, signals, input and output are its own. What follows SCRIPT
    belongs to it, and needs no --, as with `python`.
    """
    if listing:
        state_dir("run")  # says why there can be none
        _print(handles.live(), as_json=as_json)
        return
    _check(words)
    search = _search({name: report.pop(name) for name in SEARCHES})
    sanitizer = _sanitizer(search, **{name: report.pop(name) for name in SANITIZERS})
    runtime = report.pop("runtime")
    if runtime and not sanitizer:
        raise UsageError("--runtime is for a sanitizer, and none is named.", "--asan, --ubsan or --tsan.")
    before = _report_words(**report, search=search, sanitized=bool(sanitizer))
    name = _free(name or handles.default_name(words[1] if words[0] == "-m" else words[0], os.getpid()))
    python = python_of(python, None, "" if words[0] == "-m" else words[0])
    interpreter = shutil.which(python or sys.executable)
    if interpreter is None:
        raise no_interpreter(python)
    if python:
        check_version(interpreter)
    if search:
        from pyharness.cli.kit.engine_progress import have_engine

        have_engine(interpreter)
    if sanitizer:
        script = "." if words[0] == "-m" else words[0]
        os.environ |= environment_for(sanitizer, runtime, script, python_path_of(interpreter), os.environ)
        keep_addresses(sanitizer)
        check_start(sanitizer, interpreter, os.environ)
    sys.stdout.flush()
    os.environ[HARNESS_PYTHON] = sys.executable
    if store:
        os.environ[VARIABLE] = "1"
    entry = search or ("report" if before else "run")
    os.execv(interpreter, [interpreter, str(START), entry, name, *before, *words])  # noqa: S606  (a list of arguments, no shell)


def _check(words: tuple[str, ...]) -> None:
    if not words or words == ("-m",) or (words[0] == "-m" and not words[1].strip()):
        raise UsageError("Which script?", "pyharness run SCRIPT [ARGS], or pyharness run -m MODULE [ARGS].")
    if words[0] == "-m":
        check_module(words[1])
    else:
        check_script(words[0], once=True)


def _search(named: dict[str, bool]) -> str:
    """What is looked for; empty for nothing."""
    wanted = [name for name, wants in named.items() if wants]
    if len(wanted) > 1:
        raise UsageError(f"--{wanted[0]} and --{wanted[1]} are two searches.", "Leave out one.")
    return wanted[0] if wanted else ""


def _sanitizer(search: str, **named: bool) -> str:
    """The one that is wanted; empty for none."""
    wanted = [name for name, wants in named.items() if wants]
    if len(wanted) > 1:
        raise UsageError(f"--{wanted[0]} and --{wanted[1]}: a program runs under one sanitizer.", "Leave out one.")
    if wanted and search:
        raise UsageError(f"--{search} and --{wanted[0]} both report the program's end.", "Leave out one.")
    return wanted[0] if wanted else ""


def _report_words(folder: str | None, hang: float | None, *, search: str, sanitized: bool) -> tuple[str, ...]:
    """What the program is told of a report: folder, seconds, whether a sanitizer tells, too; nothing for no report."""
    if folder is None:
        if hang is not None:
            raise UsageError("--hang writes a report, and no folder is named for it.", "--report DIR names one.")
        return ("", "0", "1") if sanitized else ()
    if search:
        raise UsageError(f"--{search} has a report of its own.", f"Leave out --{search} or --report.")
    check_name("--report", folder)
    check_new_folder(folder)
    return os.path.realpath(folder), str(hang or 0), str(int(sanitized))


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
    lines = [f"{handle.name:<{width}}  {handle.pid:>7}  {in_one_line(handle.command)}" for handle in known]
    output.write("\n".join(lines) or "No program of `pyharness run` is running.")
