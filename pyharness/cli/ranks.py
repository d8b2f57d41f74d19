"""``pyharness ranks [PID|NAME]``: all ranks of a distributed job in one tree, and who holds the others up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyharness.cli.grammar import completers
from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit import output
from pyharness.cli.kit.options import json_option
from pyharness.model.errors import HarnessError, UsageError

if TYPE_CHECKING:
    from pyharness.model.ranks.job import Job
    from pyharness.model.ranks.verdict import Verdict

_EXAMPLES = (
    ("which rank hangs, and why", "pyharness ranks"),
    ("of one job among several", "pyharness ranks train.py"),
    ("on several hosts: on each", "pyharness ranks --json > $(hostname).json"),
    ("and then together", "pyharness ranks --merge *.json"),
)
_STATUSES = (
    ("0", "the ranks are shown, and none is to blame"),
    ("1", "a rank is to blame, or the ranks cannot be shown"),
)


@click.command(cls=Verb, examples=_EXAMPLES, statuses=_STATUSES)
@click.argument("targets", metavar="[PID|NAME]", nargs=-1, shell_complete=completers.running_or_file)
@json_option
@click.option("--threads", is_flag=True, help="Show the other threads of the ranks too, and their child processes.")
@click.option(
    "--merge",
    "are_files",
    is_flag=True,
    help="The arguments are files that `pyharness ranks --json` wrote, one for each host: put them together.",
)
def command(targets: tuple[str, ...], *, as_json: bool, threads: bool, are_files: bool) -> None:
    """Show all ranks of a distributed job in one tree, with the collective each waits in, and name who is to blame.

    Name a rank, its launcher (torchrun, mpirun, or a script that spawns), or a part of a command line; nothing where
    there is one job. Each rank stands for some milliseconds; nothing is left attached, and the program needs no
    preparation: torch's flight recorder is read from its memory.
    """
    from pyharness.ranks.shown.text import job_lines
    from pyharness.ranks.shown.threads import thread_lines

    job, verdict = _read([Path(target) for target in targets]) if are_files else _seen(targets)
    if as_json:
        output.write_json({**job.to_json(), "verdict": verdict.to_json()})
    else:
        output.write_lines(job_lines(job, verdict, output.columns()))
        if threads:
            output.write_lines(thread_lines(job, output.columns()))
    if verdict.is_fault:
        raise SystemExit(1)


def _seen(targets: tuple[str, ...]) -> tuple[Job, Verdict]:
    from pyharness.ranks.finding import find
    from pyharness.ranks.seeing import see

    if len(targets) > 1:
        raise UsageError(f"{len(targets)} jobs are named, and one can be shown.", "Files are read with --merge.")
    found = find(targets[0] if targets else None)
    count = len(found.members)
    output.progress(f"looking at {count} ranks of {found.name}")
    return see(found, lambda done: output.progress(f"looking at ranks of {found.name}: {done} of {count}"))


def _read(paths: list[Path]) -> tuple[Job, Verdict]:
    from pyharness.model.ranks.job import merged
    from pyharness.ranks.blame.judging import judge

    if not paths:
        raise UsageError("--merge needs files.", "pyharness ranks --merge HOST1.json HOST2.json")
    job = merged([_job_of(path) for path in paths])
    return job, judge(job)


def _job_of(path: Path) -> Job:
    from pyharness.model.ranks.job import job_from_json

    try:
        return job_from_json(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.", "Name files with JSON.") from error
    except (ValueError, RecursionError) as error:
        raise HarnessError(f"{path} holds no JSON.", "pyharness ranks --json > FILE writes one.") from error
    except HarnessError as error:
        raise HarnessError(f"{path}: {error.message}", error.remedy) from error
