"""``pyharness doctor [PID]``: what debugging needs, here or of one process, and how to get what is missing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyharness.cli import output
from pyharness.model import diagnosis, diagnosis_text
from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from pyharness.model.diagnosis import Diagnosis


@click.command()
@click.argument("process", metavar="[PID|NAME]", required=False)
@click.option("--extension", "extensions", multiple=True, metavar="PATH|MODULE", help="Look at this extension; repeat.")
@click.option(
    "--project",
    default=".",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Your project; this folder.",
)
@click.option("--python", default=sys.executable, metavar="PATH", help="The interpreter that runs your program.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(process: str | None, *, extensions: tuple[str, ...], project: Path, python: str, as_json: bool) -> int:
    """Look at all that debugging needs: gdb, ptrace, Python, torch, your extensions, VS Code; say how to get it.

    With PID (or a part of a command line) look at that process instead, which is not stopped for it.
    Extensions are found in the project's FOLDER (this one) by what they link to, unless they are named.

    The exit status is 1 where there is a problem; warnings do not count.
    """
    found = _process(process) if process else _machine(extensions, project, python)
    if as_json:
        output.write_json(diagnosis.report(found))
    else:
        output.write_lines(diagnosis_text.lines(found, output.terminal()[1]))
    return 1 if diagnosis.worst(found) == "problem" else 0


def _machine(extensions: tuple[str, ...], project: Path, python: str) -> list[Diagnosis]:
    from pyharness.doctor.examine import examine
    from pyharness.doctor.machine import Wanted, is_file_name

    for name in extensions:
        if is_file_name(name) and not Path(name).is_file():
            raise UsageError(f"There is no extension {name!r}.", "Name its file, or the module that it is imported as.")
    output.progress("asking gdb, Python and torch")
    return examine(Wanted(project, python, extensions))


def _process(process: str) -> list[Diagnosis]:
    from pyharness.doctor.examine_process import examine_process

    output.progress(f"looking at {process}")
    return examine_process(process)
