"""``pyharness stack PID|NAME|CORE``: the merged stack of every thread; nothing is left attached."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyharness.cli.grammar import completers
from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit import output
from pyharness.cli.kit.options import full_option, json_option
from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.model.threads import ThreadStack

_EXAMPLES = (
    ("what a program that hangs is doing", "pyharness stack train.py"),
    ("where a program died, with its variables", "pyharness stack core.4242 --locals"),
    ("what it is doing, for a script", "pyharness stack 4242 --json"),
)
_STATUSES = (("0", "the stacks are shown"), ("1", "the process or the core file cannot be read"))


@click.command(cls=Verb, examples=_EXAMPLES, statuses=_STATUSES)
@click.argument("target", metavar="PID|NAME|CORE", shell_complete=completers.running_or_file)
@json_option
@full_option
@click.option("--locals", "variables", is_flag=True, help="Show local variables.")
@click.option("--thread", type=click.IntRange(min=1), metavar="LWP", help="Only the thread with this kernel id.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="Native frames of a thread at most; 1000 if not given.",
)
def command(target: str, *, as_json: bool, full: bool, variables: bool, thread: int | None, limit: int | None) -> None:
    """Print the merged stack of a running process or a core file: Python and native frames of every thread.

    NAME is a handle of `pyharness run`, or a part of one process's command line. The process is stopped for a moment
    and runs on; nothing is left attached.
    """
    from pyharness.debugger.stack_dump import dump_stacks
    from pyharness.host.surroundings import Surroundings
    from pyharness.model.text.source_line import look_below
    from pyharness.model.text.stack_format import Style, format_threads
    from pyharness.model.text.styled_line import Line
    from pyharness.reading.live.stacks import MAX_FRAMES

    where = _resolve(target)
    output.progress(f"reading the stacks of {target}")
    threads = dump_stacks(where, thread=thread, limit=limit or MAX_FRAMES, variables=variables)
    seen = Surroundings(where) if isinstance(where, int) else None
    changes = _changes(where, seen.root if seen else "", threads)
    if as_json:
        shown = [one.to_json() for one in threads]
        output.write_json({"target": str(where), "threads": shown, "changed_sources": changes})
        return
    if seen:
        look_below(seen.root)
        if seen.number_there:
            output.write_lines([Line(f"Process {where} is {seen.number_there}.")])
    output.write_lines(format_threads(threads, Style(full=full, width=output.columns())))
    for sentence in changes:
        output.note(sentence)


def _changes(where: int | Path, root: str, threads: Sequence[ThreadStack]) -> list[str]:
    """What is to be said of sources that were written since the process, or the core file, was made."""
    from pyharness.debugger.changed_sources import ChangedSources

    said: dict[str, None] = {}
    if isinstance(where, Path):
        sources = ChangedSources.of_core(where, said.setdefault)
    else:
        sources = ChangedSources.of_process(where, root, said.setdefault)
    sources.shown(frame for one in threads for frame in one.frames)
    return list(said)


def _resolve(target: str) -> int | Path:
    """A core file where there is a file of that name, else a process; a script's name is that of who runs it."""
    path = Path(target)
    if not target.isdigit() and path.suffix != ".py" and ("/" in target or _is_there(path)):
        return path
    from pyharness.debugger.starting import processes

    try:
        pid = processes.find(target)
    except UsageError as error:
        if path.suffix == ".py" and path.is_file():
            error.message = f"{target} is not a core file. {error.message}"
        raise
    processes.check(pid)
    return pid


def _is_there(path: Path) -> bool:
    """Whether a file is meant: also where it can be no core, as a pipe, or a link to what has gone."""
    return path.is_symlink() or (path.exists() and not path.is_dir())
