"""``pyharness trace SCRIPT``: runs a program, records its ops and autograd nodes, shows where the time went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit import output
from pyharness.cli.kit.files import check_outputs, write_file
from pyharness.cli.kit.options import program_json_option, program_options
from pyharness.cli.kit.script import command_of
from pyharness.model.errors import UsageError
from pyharness.model.results.trace import MAX_CAPACITY
from pyharness.report import perfetto, tables
from pyharness.report.html import page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.results.trace import Trace
    from pyharness.model.text.styled_line import Line
    from pyharness.report.summary import By

_EPILOG = """What follows -- belongs to the program. Ctrl-C goes to the program; what it did until then is shown."""
_EXAMPLES = (
    (
        "which modules, ops and nodes take the time, and a page for the browser",
        "pyharness trace train.py --html trace.html",
    ),
    (
        "ops only, apart by shape, of a program with options of its own",
        "pyharness trace train.py --by op --shapes -- --epochs 1",
    ),
)
_STATUSES = (
    ("the program's", "recorded; 128 + N for signal N"),
    ("1", "the program ended with 0 and left no trace"),
)


@click.command(cls=Verb, runs=True, epilog=_EPILOG, examples=_EXAMPLES, statuses=_STATUSES)
@program_options
@click.option("--html", "html_file", metavar="FILE", help="Write a page to look at in a browser.")
@click.option("-o", "--perfetto", "perfetto_file", metavar="FILE", help="Write a trace for ui.perfetto.dev.")
@click.option(
    "--by",
    type=click.Choice(["module", "op", "kernel", "node"]),
    multiple=True,
    help="Show this table only; may be repeated.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=tables.Manner.limit,
    show_default=True,
    metavar="N",
    help="Rows of a table at most.",
)
@click.option("--shapes", is_flag=True, help="Record shapes, and keep them apart in the tables.")
@click.option("--memory", is_flag=True, help="Record how many bytes outputs brought.")
@click.option("--inner-ops", is_flag=True, help="Record the ops that backward nodes run, too.")
@click.option(
    "--capacity", type=click.IntRange(1, MAX_CAPACITY), metavar="N", help="Keep the last N events of each thread."
)
@click.option("--regions", is_flag=True, help="Only what the program's own pyharness.record() blocks record.")
@program_json_option
def command(  # noqa: PLR0913  (one for each option)
    *,
    words: tuple[str, ...],
    module: str | None,
    python: str,
    cwd: str | None,
    html_file: str | None,
    perfetto_file: str | None,
    by: tuple[By, ...],
    limit: int,
    capacity: int | None,
    shapes: bool,
    memory: bool,
    inner_ops: bool,
    regions: bool,
    as_json: bool,
) -> int:
    """Run SCRIPT and record every op and autograd node from its import of torch to its end.

    Shows which modules, ops and nodes took the time, forward and backward.
    """
    options: dict[str, Any] = {"shapes": shapes, "memory": memory, "inner_ops": inner_ops, "capacity": capacity}
    asked = {name: value for name, value in options.items() if value}
    if regions and asked:
        option = f"--{next(iter(asked)).replace('_', '-')}"
        raise UsageError(f"{option} does not go with --regions.", "Each pyharness.record() has its own options.")
    from pyharness.cli.kit.recorded_run import run

    program = command_of(words, module, python, cwd)
    check_outputs({"--html": html_file, "--perfetto": perfetto_file}, program.files())
    trace, status = run(program, {"options": asked, "regions": regions}, to_stderr=as_json)
    written = list(
        _write_files(trace, html_file, perfetto_file)
    )  # first: our reader may have seen enough of the tables
    if as_json:
        output.write_json(trace.to_json())
    else:
        manner = tables.Manner(by or tables.Manner.by, limit, shapes, memory, output.columns())
        output.write_lines([*tables.lines(trace, manner), *written])
    return status


def _write_files(trace: Trace, html_file: str | None, perfetto_file: str | None) -> Iterator[Line]:
    if html_file is not None:
        output.progress(f"writing {html_file}")
        yield write_file(html_file, page(trace), "open it in a browser")
    if perfetto_file is not None:
        output.progress(f"writing {perfetto_file}")
        yield write_file(perfetto_file, perfetto.text(trace), "open it at https://ui.perfetto.dev")
