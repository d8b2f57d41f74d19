"""``pyharness ranks [PID|NAME]``: all ranks of a distributed job in one tree, and who holds the others up."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    from collections.abc import Iterator

    from pyharness.model.ranks.job import Job
    from pyharness.model.ranks.verdict import Verdict
    from pyharness.ranks.finding import FoundJob
    from pyharness.ranks.store.asking import Asked

    Look = tuple[Job, Verdict, tuple[str, ...]]
    """The job, who is to blame, and why something of it is not there: a sentence each."""

_EXAMPLES = (
    ("which rank hangs, and why", "pyharness ranks"),
    ("of one job among several", "pyharness ranks train.py"),
    ("again and again, every ten seconds", "pyharness ranks --watch 10"),
    ("on several hosts: on each", "pyharness ranks --json > $(hostname).json"),
    ("and then together", "pyharness ranks --merge *.json"),
    ("of all hosts at once, where `pyharness run --store` runs the ranks", "pyharness ranks --store node0:29500"),
    ("the same again and again", "pyharness ranks --store node0:29500 --watch 10"),
    ("where all ranks left core files", "pyharness ranks --core core.*"),
)
_OPTIONS = {"are_files": "--merge", "are_cores": "--core"}
_PATIENCE = 20.0
"""Seconds for the answers of all hosts."""
_STATUSES = (
    ("0", "the ranks are shown, and none is to blame"),
    ("1", "a rank is to blame, or ranks cannot be shown"),
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
@click.option(
    "--store",
    metavar="HOST:PORT",
    help="Ask all hosts of a job whose ranks run under `pyharness run --store`: MASTER_ADDR:MASTER_PORT of the ranks,"
    " or torchrun's --rdzv-endpoint.",
)
@click.option("--job", metavar="ID", help="With --store: one of several jobs there, as torchrun's --rdzv-id names it.")
@click.option(
    "--timeout",
    type=Seconds(min=0.1, max=280),
    metavar="SECONDS",
    help=f"With --store: wait for so long for the hosts' answers, not for {_PATIENCE:g} s.",
)
@click.option("--html", "html_file", metavar="FILE", help="Write a page to look at in a browser.")
@click.option("--core", "are_cores", is_flag=True, help="The arguments are core files of ranks.")
def command(
    targets: tuple[str, ...],
    *,
    as_json: bool,
    threads: bool,
    watch: float | None,
    html_file: str | None,
    **source: Any,
) -> None:
    """Show all ranks of a distributed job in one tree, with the collective each waits in, and name who is to blame.

    Name a rank, its launcher (torchrun, mpirun, srun, a script that spawns), or a part of a command line; nothing where
    there is one job. Each rank stands for some milliseconds; nothing is left attached, and the program needs no
    preparation: torch's flight recorder is read from its memory. With --store, those of all hosts are asked.
    """
    from pyharness.ranks.shown.page import page

    check_outputs({"--html": html_file}, targets if source["are_files"] or source["are_cores"] else ())
    asked = _asked_through(targets, **source)
    if watch:
        files = {_OPTIONS[name]: source[name] for name in _OPTIONS}
        _refuse_with("--watch shows the tree", {"--json": as_json, "--threads": threads, **files, "--html": html_file})
        _watch(_asked_again(asked) if asked else _seen_again(targets), watch)
        return
    job, verdict, notes = _answered(asked) if asked else _looked_at(targets, **source)
    if as_json:
        output.write_json({**job.to_json(), "verdict": verdict.to_json()})
    else:
        _show(job, verdict, threads=threads)
    if html_file is not None:
        written = write_file(html_file, page(job, verdict), "open it in a browser")
        if not as_json:
            output.write_lines([Line(""), written])
    for note in notes:
        output.note(note)
    if verdict.is_fault or notes:
        raise SystemExit(1)


def _show(job: Job, verdict: Verdict, *, threads: bool) -> None:
    from pyharness.ranks.shown.text import job_lines
    from pyharness.ranks.shown.threads import thread_lines

    output.write_lines(job_lines(job, verdict, output.columns()))
    if threads:
        output.write_lines(thread_lines(job, output.columns()))


def _looked_at(targets: tuple[str, ...], *, are_files: bool, are_cores: bool, **_of_store: object) -> Look:
    """What is on this host, or in files."""
    return *(_read(targets, are_cores=are_cores) if are_files or are_cores else _seen(targets)), ()


def _refuse_with(what: str, given: dict[str, object]) -> None:
    if wrong := next((name for name, value in given.items() if value), ""):
        raise UsageError(f"{what}, and takes no {wrong}.", "Leave one of them out.")


def _asked_through(
    targets: tuple[str, ...],
    *,
    are_files: bool,
    are_cores: bool,
    store: str | None,
    job: str | None,
    timeout: float | None,
) -> Asked | None:
    """Whom to ask; ``None`` where nobody is."""
    if store is None:
        if wrong := "--timeout" if timeout is not None else "--job" if job is not None else "":
            raise UsageError(f"{wrong} is for hosts that are asked, and none is.", "--store HOST:PORT asks them.")
        return None
    from pyharness.ranks.store.asking import Asked
    from pyharness.ranks.store.rendezvous import address_of

    given = {"--merge": are_files, "--core": are_cores, targets[0] if targets else "": targets}
    _refuse_with("--store shows the job of that store", given)
    return Asked(*address_of(store), timeout or _PATIENCE, job, _tell_of_hosts)


def _answered(asked: Asked) -> Look:
    from pyharness.ranks.blame.judging import judge
    from pyharness.ranks.store.asking import ask

    answered = ask(asked)
    return answered.job, judge(answered.job), answered.notes


def _tell_of_hosts(done: int, count: int) -> None:
    output.progress(f"{done} of {count} hosts have answered")


def _watch(looks: Iterator[Look | HarnessError], seconds: float) -> None:
    """Show one look after another; on a terminal each takes the place of the one before."""
    from pyharness.ranks.shown.text import job_lines
    from pyharness.ranks.watching import Watch

    watched, said = Watch(), ""
    for look in looks:
        if isinstance(look, HarnessError):
            if look.message != said:
                output.note(look.message)
            said = look.message
        else:
            (job, verdict, notes), said = look, ""
            output.new_page()
            output.write_lines([*job_lines(job, verdict, output.columns()), *watched.lines(job), Line("")])
            for note in notes:
                output.note(note)
        time.sleep(seconds)
    output.write("The job has ended.")


def _seen_again(targets: tuple[str, ...]) -> Iterator[Look]:
    living = [member.process.pid for member in _found(targets).members]
    while living:
        job, verdict = _seen((str(living[0]),))
        yield job, verdict, ()
        living = [rank.pid for rank in job.ranks if not process_state.has_ended(rank.pid)]


def _asked_again(asked: Asked) -> Iterator[Look | HarnessError]:
    from pyharness.ranks.blame.judging import judge
    from pyharness.ranks.store.again import ask_again

    for found in ask_again(asked):
        yield found if isinstance(found, HarnessError) else (found.job, judge(found.job), found.notes)


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


def _read(targets: tuple[str, ...], *, are_cores: bool) -> tuple[Job, Verdict]:
    from pyharness.model.ranks.job import merged
    from pyharness.ranks.blame.judging import judge
    from pyharness.ranks.cores import look_at_cores

    paths = [Path(target) for target in targets]
    if not paths:
        option, example = ("--core", "core.*") if are_cores else ("--merge", "HOST1.json HOST2.json")
        raise UsageError(f"{option} needs files.", f"pyharness ranks {option} {example}")
    if are_cores:
        output.progress(f"reading {len(paths)} core files")
    job = look_at_cores(paths) if are_cores else merged([_job_of(path) for path in paths])
    return job, judge(job)


def _job_of(path: Path) -> Job:
    from pyharness.model.ranks.job import job_from_text

    try:
        return job_from_text(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.", "Name files with JSON.") from error
    except ValueError as error:
        raise HarnessError(f"{path} holds no JSON.", "pyharness ranks --json > FILE writes one.") from error
    except HarnessError as error:
        raise HarnessError(f"{path}: {error.message}", error.remedy) from error
