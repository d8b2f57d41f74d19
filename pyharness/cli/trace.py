"""``pyharness trace SCRIPT``: runs a program, records its ops and autograd nodes, shows where the time went."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit import output
from pyharness.cli.kit.options import program_json_option, program_options
from pyharness.cli.kit.script import command_of
from pyharness.cli.kit.trace_files import Files
from pyharness.host.regular_file import read_regular
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.ranks.launchers import rank_of_several, restarts_of
from pyharness.model.results import trace_file
from pyharness.model.results.trace import MAX_CAPACITY
from pyharness.model.results.trace_of_ranks import merged
from pyharness.model.text.styled_line import Line
from pyharness.report import tables, units

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyharness.model.results.trace import Trace
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
    ("a rank of a job, behind `torchrun --nproc-per-node 4 --no-python`", "pyharness trace --save out.trace train.py"),
    ("all ranks on one axis", "pyharness trace --merge out-rank*.trace --html ranks.html"),
)
_MOST = 4 << 30
"""Bytes of a recording that is read."""
_STATUSES = (
    ("the program's", "recorded; 128 + N for signal N"),
    ("1", "the program ended with 0 and left no trace"),
)


@click.command(cls=Verb, runs=True, epilog=_EPILOG, examples=_EXAMPLES, statuses=_STATUSES)
@program_options
@click.option("--html", "html_file", metavar="FILE", help="Write a page to look at in a browser.")
@click.option("-o", "--perfetto", "perfetto_file", metavar="FILE", help="Write a trace for ui.perfetto.dev.")
@click.option(
    "--save",
    "saved_file",
    metavar="FILE",
    help="Write the recording, for --merge: of a rank, with the ops that backward nodes run.",
)
@click.option("--merge", "are_files", is_flag=True, help="Run nothing: show the recordings of a job's ranks as one.")
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
    saved_file: str | None,
    are_files: bool,
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

    Shows which modules, ops and nodes took the time, forward and backward. Of a job each rank is run so, under its
    launcher: the names of its files get its number. With --merge the arguments are files that --save has written.
    """
    manner = tables.Manner(by or tables.Manner.by, limit, shapes, memory)
    recorded = {"inner_ops": inner_ops, "capacity": capacity}
    if are_files:
        only = {"-m": module, "--python": python, "--cwd": cwd, "--save": saved_file, "--regions": regions, **recorded}
        _refuse_with_merge(only)
        _merge(words, Files(html_file, perfetto_file), manner, as_json=as_json)
        return 0
    rank = rank_of_several(os.environ)
    # DDP's collectives are some; a region has its own options.
    recorded["inner_ops"] = inner_ops or (rank is not None and saved_file is not None and not regions)
    options: dict[str, Any] = {"shapes": shapes, "memory": memory, **recorded}
    asked = {name: value for name, value in options.items() if value}
    if regions and asked:
        raise UsageError(
            f"{_option(next(iter(asked)))} does not go with --regions.", "Each pyharness.record() has its own options."
        )
    from pyharness.cli.kit.recorded_run import run

    program = command_of(words, module, python, cwd)
    files = Files(html_file, perfetto_file, saved_file).of_rank(rank, restarts_of(os.environ))
    files.check(program.files())
    trace, status = run(program, {"options": asked, "regions": regions}, to_stderr=as_json)
    if rank is not None and files.saved is not None:
        trace = _timed(trace)
    written = list(files.written(trace))  # first: our reader may have seen enough of the tables
    if as_json:
        output.write_json(trace.to_json())
    elif rank is not None and written:  # the others print theirs
        output.write_lines([Line(f"rank {rank}: {tables.headline(trace)}"), *written])
    else:
        output.write_lines([*tables.lines(trace, replace(manner, width=output.columns())), *written])
    return status


def _option(name: str) -> str:
    return name if name.startswith("-") else f"--{name.replace('_', '-')}"


def _timed(trace: Trace) -> Trace:
    """The trace of a rank with what its host's clock differs by from that of the first rank's host."""
    from pyharness.ranks.store.clocks import measured

    output.progress("comparing the clocks of the hosts")
    clock = measured(os.environ)
    if clock is None:
        return trace
    if not clock.within:
        return replace(trace, behind=clock.behind)
    by = f"{units.duration(abs(clock.behind))} {'behind' if clock.behind > 0 else 'ahead'}"
    note = f"the clock of {trace.host} is {by}, measured to within {units.duration(clock.within)}."
    return replace(trace, behind=clock.behind, notes=(note,))


def _refuse_with_merge(given: Mapping[str, object]) -> None:
    if wrong := next((name for name, value in given.items() if value), ""):
        raise UsageError(f"--merge runs nothing, and takes no {_option(wrong)}.", "Leave one of them out.")


def _merge(names: tuple[str, ...], files: Files, manner: tables.Manner, *, as_json: bool) -> None:
    if not names:
        raise UsageError("Which files?", "pyharness trace --merge FILE..., which --save has written.")
    files.check(names)
    output.progress(f"reading {len(names)} recordings")
    traces = [_read(name) for name in names]
    alone = [name for name, trace in zip(names, traces, strict=True) if trace.rank is None]
    if alone and len(names) > 1:
        raise UsageError(f"{alone[0]} is of no rank of a job.", "Look at it alone, or name recordings of ranks only.")
    trace = merged(traces)
    written = list(files.written(trace))
    if as_json:
        output.write_json(trace.to_json())
    else:
        output.write_lines([*tables.lines(trace, replace(manner, width=output.columns())), *written])


def _read(name: str) -> Trace:
    try:
        return trace_file.load(read_regular(name, _MOST))
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}.", "Name files that --save has written.") from error
    except HarnessError as error:
        raise UsageError(f"{name}: {error.message}", "Name files that --save has written.") from error
