"""``pyharness doctor [PID]``: what debugging needs, here or of one process, and how to get what is missing."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyharness.cli.grammar import completers
from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit import output
from pyharness.cli.kit.interpreter import python_of
from pyharness.cli.kit.options import json_option, python_option
from pyharness.host.exit_status import ExitStatus
from pyharness.model.errors import UsageError
from pyharness.model.results import diagnosis, diagnosis_text

if TYPE_CHECKING:
    from pyharness.model.results.diagnosis import Diagnosis


_EXAMPLES = (
    ("what is missing on this machine, for the project in this folder", "pyharness doctor"),
    ("is this extension built so that it can be debugged?", "pyharness doctor --extension my_ops._C"),
    ("why can this process not be debugged?", "pyharness doctor 4242"),
)
_STATUSES = (("0", "there is no problem; there may be warnings"), ("1", "there is at least one problem"))


@click.command(cls=Verb, examples=_EXAMPLES, statuses=_STATUSES)
@click.argument("process", metavar="[PID|NAME]", required=False, shell_complete=completers.running)
@click.option(
    "--extension",
    "extensions",
    multiple=True,
    metavar="PATH|MODULE",
    help="Look at this extension; may be repeated.",
    shell_complete=completers.files,
)
@click.option(
    "--project",
    default=".",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Your project, if not this folder.",
)
@python_option
@json_option
def command(process: str | None, *, extensions: tuple[str, ...], project: Path, python: str, as_json: bool) -> int:
    """Look at all that debugging needs: gdb, ptrace, Python, torch, your extensions, VS Code; say how to get it.

    With PID or NAME (a handle, or a part of a command line) look at that process instead, which is not stopped for it.
    Extensions are found in the project's FOLDER by what they link to, unless they are named.
    """
    found = _process(process) if process else _machine(extensions, project, python)
    if as_json:
        output.write_json(diagnosis.report(found))
    else:
        output.write_lines(diagnosis_text.lines(found, output.columns()))
    return ExitStatus.FAILED if diagnosis.worst(found) == "problem" else ExitStatus.OK


def _machine(extensions: tuple[str, ...], project: Path, python: str) -> list[Diagnosis]:
    from pyharness.doctor.examine import examine
    from pyharness.doctor.machine import Wanted, is_file_name

    for name in extensions:
        if is_file_name(name) and not Path(name).is_file():
            raise UsageError(f"There is no extension {name!r}.", "Name its file, or the module that it is imported as.")
    if not os.access(project, os.X_OK):
        raise UsageError(f"{project} cannot be entered: no permission.", "Name your project's folder with --project.")
    output.progress("asking gdb, Python and torch")
    return examine(Wanted(project, python_of(python, str(project), "") or sys.executable, extensions))


def _process(process: str) -> list[Diagnosis]:
    from pyharness.doctor.process.examine_process import examine_process

    output.progress(f"looking at {process}")
    return examine_process(process)
