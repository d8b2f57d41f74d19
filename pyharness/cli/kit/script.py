"""The program that was typed: a script or a module, and what belongs to it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pyharness.cli.kit.interpreter import python_of
from pyharness.debugger.starting.job import JobCommand
from pyharness.debugger.starting.launch import Command
from pyharness.host.descriptors import inherited
from pyharness.host.missing import check_named_from
from pyharness.host.programs import is_program
from pyharness.model.errors import UsageError
from pyharness.model.ranks.named import named_ranks


def command_of(words: tuple[str, ...], module: str | None, python: str, cwd: str | None) -> Command:
    """What ``SCRIPT [-- ARGS]``, or ``-m MODULE [-- ARGS]``, means."""
    python = python_of(python, cwd, "" if module is not None or not words else words[0])
    if module is not None:
        if not module.strip():
            raise UsageError("-m names no module.", "-m MODULE [-- ARGS], or SCRIPT [-- ARGS] without -m.")
        return Command(module, words, module=True, python=python, cwd=cwd, pass_fds=inherited())
    if not words:
        path = click.get_current_context().command_path
        raise UsageError("Which script?", f"{path} SCRIPT [-- ARGS], or {path} -m MODULE. See {path} --help.")
    script = words[0]
    check_named_from(Path(cwd or "", script))
    if cwd and Path(script).is_file():  # named from here, as every other file on a command line
        script = str(Path(script).absolute())
    return Command(script, words[1:], python=python, cwd=cwd, pass_fds=inherited())


def family_of(words: tuple[str, ...], module: str | None, python: str, cwd: str | None, **options: bool) -> JobCommand:
    """The script or module that ``--children`` means: a program whose child processes are debugged, too.

    It may be one that Python does not run, and that runs Python itself, or starts it.
    """
    if runs_python(words, module):
        return _program_of(words, python, cwd, _wanted(options))
    if option := _wanted(options):
        raise UsageError(
            f"--children takes no {option}.", f"Debug one process with it: pyharness debug SCRIPT {option}"
        )
    command = command_of(words, module, python, cwd)
    command.check()
    front = [command.python or sys.executable, *(["-m"] if command.module else [])]
    return JobCommand((*front, command.script, *command.arguments), cwd=cwd, children=True)


def runs_python(words: tuple[str, ...], module: str | None) -> bool:
    """Whether a program was typed that Python does not run, such as one that embeds it."""
    return module is None and bool(words) and is_program(words[0])


def _wanted(options: dict[str, bool]) -> str:
    """The option that is wanted, as it is typed; empty for none."""
    return next((f"--{name.replace('_', '-')}" for name, wanted in options.items() if wanted), "")


def _program_of(words: tuple[str, ...], python: str, cwd: str | None, option: str) -> JobCommand:
    program = words[0]
    if python or option:
        option = "--python" if python else option
        raise UsageError(f"{program} is a program, and no Python file: it takes no {option}.", "Leave that away.")
    command = JobCommand((str(Path(program).absolute()), *words[1:]), cwd=cwd, children=True)
    command.check()
    return command


def job_of(
    words: tuple[str, ...], module: str | None, python: str, cwd: str | None, ranks: str, **options: bool
) -> JobCommand:
    """The distributed job that ``--ranks RANKS -- COMMAND ...`` means."""
    wanted = named_ranks(ranks)
    if option := _wanted(options):
        raise UsageError(f"Ranks take no {option}.", "Debug one process with it: pyharness debug SCRIPT.")
    if python and module is None:
        raise UsageError("--python names the interpreter of -m MODULE here.", f"Write it behind --: -- {python} ...")
    if module is not None:
        words = (python_of(python, cwd, "") or sys.executable, "-m", module, *words)
    command = JobCommand(words, wanted, cwd=cwd)
    command.check()
    return command
