"""``pyharness fx compiled SCRIPT``: what torch.compile made of a program, and why it broke off or compiled again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit import output
from pyharness.cli.kit.entry_run import exchange, left_nothing, run_entry
from pyharness.cli.kit.options import program_json_option, program_options
from pyharness.cli.kit.script import command_of
from pyharness.host.exit_status import of_program
from pyharness.model.codec import decode
from pyharness.model.errors import HarnessError
from pyharness.model.results.compiled import CompileReport
from pyharness.model.results.compiled_text import report_lines
from pyharness.model.results.kernels_text import wrapper_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.debugger.starting.launch import Command
    from pyharness.model.text.styled_line import Line

_EPILOG = "What follows -- belongs to the program."
_EXAMPLES = (
    ("graphs, graph breaks with your lines, guards, recompilations", "pyharness fx compiled train.py -- --epochs 1"),
    ("each line of inductor's kernels with its node", "pyharness fx compiled train.py --lines"),
    ("of a program that compiles with another backend", "pyharness fx compiled train.py --replace-backend --guards"),
)
_STATUSES = (("the program's", "shown; 128 + N for signal N"), ("1", "torch.compile made nothing"))
_NOTHING = """Has the program called what torch.compile gave it? Name the backend in the program, \
torch.compile(model, backend="pyharness"), or have it replace what the program names: --replace-backend."""


@click.command(cls=Verb, runs=True, epilog=_EPILOG, examples=_EXAMPLES, statuses=_STATUSES)
@program_options
@click.option(
    "--replace-backend", "replace", is_flag=True, help="Use the backend pyharness whatever the program names."
)
@click.option("--guards", is_flag=True, help="Show each guard, and the line that made torch depend on it.")
@click.option("--lines", is_flag=True, help="Show each line of inductor's kernels, and the node that it works for.")
@program_json_option
def command(  # noqa: PLR0913  (one for each option)
    *,
    words: tuple[str, ...],
    module: str | None,
    python: str,
    cwd: str | None,
    replace: bool,
    guards: bool,
    lines: bool,
    as_json: bool,
) -> int:
    """Run SCRIPT and show what torch.compile made of it: inductor's kernels, or the graphs of the backend pyharness.

    Of inductor, the default backend: for each graph its kernels, with their nodes, modules, lines and loops. Of the
    backend pyharness: for each compilation the function, its graphs with their files, where the graph broke off and
    why, how many guards must hold, and which guard failed where it was compiled again.
    """
    program = command_of(words, module, python, cwd)
    report, status = _run(program, replace=replace, to_stderr=as_json)
    if as_json:
        output.write_json(report.to_json())
    else:
        output.write_lines(_shown(report, guards=guards, lines=lines))
    if not report.compilations and not report.not_compiled and not report.wrappers:
        error = HarnessError(f"torch.compile made nothing of {program.script}.", _NOTHING)
        error.exit_code = status or 1
        raise error
    return status


def _shown(report: CompileReport, *, guards: bool, lines: bool) -> Iterator[Line]:
    if report.compilations or report.not_compiled:
        yield from report_lines(report, guards=guards)
    yield from wrapper_lines(report.wrappers, each_line=lines)


def _run(program: Command, *, replace: bool, to_stderr: bool) -> tuple[CompileReport, int]:
    program.check()
    with exchange("compiled") as folder:
        request = {"replace": replace}
        code = run_entry("compiled", program, folder, request, to_stderr=to_stderr, so_far=lambda: "the program runs")
        try:
            data = json.loads((folder / "compiled.json").read_bytes())
            return decode(CompileReport, data, "the report"), of_program(code)
        except FileNotFoundError:
            usual = HarnessError(
                f"The program ended with exit status {of_program(code)} and left no report.",
                "It is written when Python ends; sys.exit and exceptions are fine, os._exit and signals are not.",
            )
            raise left_nothing(folder, code, usual) from None
