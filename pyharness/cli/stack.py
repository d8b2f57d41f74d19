"""``pyharness stack PID|NAME|CORE``: the merged stack of every thread; nothing is left attached."""

from __future__ import annotations

from pathlib import Path

import click

from pyharness.cli import output
from pyharness.debugger import processes
from pyharness.debugger.stack_dump import MAX_FRAMES, dump_stacks
from pyharness.model.stack_format import Style, format_threads


@click.command()
@click.argument("target", metavar="PID|NAME|CORE")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
@click.option("--full", is_flag=True, help="Show the frames of the interpreter, the dispatcher and pybind11, too.")
@click.option("--locals", "variables", is_flag=True, help="Show local variables.")
@click.option("--thread", type=click.IntRange(min=1), metavar="LWP", help="Only the thread with this kernel id.")
@click.option("--limit", type=click.IntRange(min=1), default=MAX_FRAMES, help="At most so many native frames a thread.")
def command(target: str, *, as_json: bool, full: bool, variables: bool, thread: int | None, limit: int) -> None:
    """Print the merged stack of a running process or a core file: Python and native frames of every thread.

    NAME is a part of one process's command line. The process is stopped for a moment and runs on.
    """
    where = _resolve(target)
    output.progress(f"reading the stacks of {target}")
    threads = dump_stacks(where, thread=thread, limit=limit, variables=variables)
    if as_json:
        output.write_json({"target": str(where), "threads": [one.to_json() for one in threads]})
        return
    color, width = output.terminal()
    output.write("\n".join(format_threads(threads, Style(full=full, color=color, width=width))))


def _resolve(target: str) -> int | Path:
    """A core file where there is a file of that name, else a process."""
    if not target.isdigit() and (Path(target).is_file() or "/" in target):
        return Path(target)
    pid = processes.find(target)
    processes.check(pid)
    return pid
