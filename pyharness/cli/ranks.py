"""``pyharness ranks [PID|NAME]``: all ranks of a distributed job in one tree, and who holds the others up."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyharness.cli.grammar import completers
from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit import output
from pyharness.cli.kit.files import check_outputs, write_file
from pyharness.cli.kit.options import Seconds, json_option
from pyharness.host import process_state
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.text.styled_line import Line

if TYPE_CHECKING:
    from pyharness.model.ranks.job import Job
    from pyharness.model.ranks.verdict import Verdict
    from pyharness.ranks.finding import FoundJob

_EXAMPLES = (
    ("which rank hangs, and why", "pyharness ranks"),
    ("of one job among several", "pyharness ranks train.py"),
    ("again and again, every ten seconds", "pyharness ranks --watch 10"),
    ("on several hosts: on each", "pyharness ranks --json > $(hostname).json"),
    ("and then together", "pyharness ranks --merge *.json"),
    ("where all ranks left core files", "pyharness ranks --core core.*"),
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
@click.option(
    "--watch",
    type=Seconds(min=0.5, max=86400),
    metavar="SECONDS",
    help="Look again and again, so many seconds apart, and say which ranks have moved; until Ctrl-C or the job's end.",
)
@click.option("--html", "html_file", metavar="FILE", help="Write a page to look at in a browser.")
@click.option("--core", "are_cores", is_flag=True, help="The arguments are core files of ranks.")
def command(
    targets: tuple[str, ...],
    *,
    as_json: bool,
    threads: bool,
    are_files: bool,
    are_cores: bool,
    watch: float | None,
    html_file: str | None,
) -> None:
    """Show all ranks of a distributed job in one tree, with the collective each waits in, and name who is to blame.

    Name a rank, its launcher (torchrun, mpirun, or a script that spawns), or a part of a command line; nothing where
    there is one job. Each rank stands for some milliseconds; nothing is left attached, and the program needs no
    preparation: torch's flight recorder is read from its memory.
    """
    from pyharness.ranks.shown.page import page
    from pyharness.ranks.shown.text import job_lines
    from pyharness.ranks.shown.threads import thread_lines

    check_outputs({"--html": html_file}, targets if are_files or are_cores else ())
    if watch:
        given = {"--json": as_json, "--threads": threads, "--merge": are_files, "--core": are_cores}
        _refuse_with_watch({**given, "--html": html_file is not None})
        _watch(targets, watch)
        return
    if are_files or are_cores:
        job, verdict = _read([Path(target) for target in targets], are_cores=are_cores)
    else:
        job, verdict = _seen(targets)
    if as_json:
        output.write_json({**job.to_json(), "verdict": verdict.to_json()})
    else:
        output.write_lines(job_lines(job, verdict, output.columns()))
        if threads:
            output.write_lines(thread_lines(job, output.columns()))
    if html_file is not None:
        written = write_file(html_file, page(job, verdict), "open it in a browser")
        if not as_json:
            output.write_lines([Line(""), written])
    if verdict.is_fault:
        raise SystemExit(1)


def _refuse_with_watch(given: dict[str, bool]) -> None:
    if wrong := next((name for name, is_given in given.items() if is_given), ""):
        raise UsageError(f"--watch shows the tree, and takes no {wrong}.", "Leave one of them out.")


def _watch(targets: tuple[str, ...], seconds: float) -> None:
    """Show one look after another; on a terminal each takes the place of the one before."""
    from pyharness.ranks.shown.text import job_lines
    from pyharness.ranks.watching import Watch

    watched = Watch()
    living = [member.process.pid for member in _found(targets).members]
    while living:
        job, verdict = _seen((str(living[0]),))
        output.new_page()
        output.write_lines([*job_lines(job, verdict, output.columns()), *watched.lines(job), Line("")])
        time.sleep(seconds)
        living = [rank.pid for rank in job.ranks if not process_state.has_ended(rank.pid)]
    output.write("The job has ended.")


def _found(targets: tuple[str, ...]) -> FoundJob:
    from pyharness.ranks.finding import find

    if len(targets) > 1:
        raise UsageError(f"{len(targets)} jobs are named, and one can be shown.", "Files are read with --merge.")
    return find(targets[0] if targets else None)


def _seen(targets: tuple[str, ...]) -> tuple[Job, Verdict]:
    from pyharness.ranks.seeing import see

    found = _found(targets)
    count = len(found.members)
    output.progress(f"looking at {count} ranks of {found.name}")
    return see(found, lambda done: output.progress(f"looking at ranks of {found.name}: {done} of {count}"))


def _read(paths: list[Path], *, are_cores: bool) -> tuple[Job, Verdict]:
    from pyharness.model.ranks.job import merged
    from pyharness.ranks.blame.judging import judge
    from pyharness.ranks.cores import look_at_cores

    if not paths:
        option, example = ("--core", "core.*") if are_cores else ("--merge", "HOST1.json HOST2.json")
        raise UsageError(f"{option} needs files.", f"pyharness ranks {option} {example}")
    if are_cores:
        output.progress(f"reading {len(paths)} core files")
    job = look_at_cores(paths) if are_cores else merged([_job_of(path) for path in paths])
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
