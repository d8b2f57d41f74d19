"""``pyharness debug SCRIPT|PID|NAME|CORE``: the prompt, at which one program is debugged in both languages."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyharness.cli.grammar import completers
from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit.options import (
    debug_kernels_option,
    eval_timeout_option,
    overwritten_option,
    program_options,
    ranks_option,
)
from pyharness.cli.kit.script import family_of, job_of, runs_python
from pyharness.host.programs import is_program
from pyharness.host.visible import is_there
from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from typing import TextIO

    from pyharness.debugger.starting.job import JobCommand
    from pyharness.prompt.job.session import JobSession
    from pyharness.prompt.plan import Plan
    from pyharness.prompt.session import Session
    from pyharness.prompt.terminal.terminal import Terminal

_EPILOG = """Without --at the first prompt is at the program's first line. `help` at the prompt lists its commands; they
are those of pdb and gdb. Ctrl-C pauses the program wherever it is; the program has the terminal while it runs. From a
file or a pipe commands run until the first error. docs/prompt.md shows a whole session."""
_EXAMPLES = (
    ("stop at a module's line of generated code, and look around", "pyharness debug train.py --at fx:blocks.0.norm"),
    ("a module with its own options", "pyharness debug -m package.train -- --epochs 1"),
    ("where it fails: the frames are still there", "pyharness debug --post-mortem train.py"),
    ("a data loader's workers, too", "pyharness debug --children train.py"),
    ("a program in C++ that embeds Python", "pyharness debug build/app"),
    ("a program that runs already: it runs on when you leave", "pyharness debug train-4242"),
    ("what a program died of", "pyharness debug core.4242"),
    ("the same commands again", "pyharness debug train.py -x commands.txt < /dev/null"),
)
_STATUSES = (
    ("0", "everything was done, and the program ended with 0, or with the prompt"),
    ("the program's", "the last program failed; 128 + N for signal N"),
    ("1", "a command from a file or a pipe failed: the rest was not done; or a debugger failed"),
)
_CORE = b"\x7fELF"
_HANDLE = re.compile(r"[\w.]+-\d+")
"""A script's name and a process id, as `pyharness run` calls a program."""


@click.command(cls=Verb, runs=True, epilog=_EPILOG, examples=_EXAMPLES, statuses=_STATUSES)
@program_options
@click.option(
    "--at", "places", multiple=True, metavar="WHERE", help="Run on to this place.", shell_complete=completers.places
)
@click.option("-c", "commands", multiple=True, metavar="COMMAND", help="Do this before the first prompt.")
@click.option(
    "-x",
    "files",
    multiple=True,
    metavar="FILE",
    help="Do the commands of this file before those that are typed.",
    shell_complete=completers.files,
)
@click.option("--post-mortem", is_flag=True, help="Run on to an exception that nobody catches, or a crash.")
@click.option("--include", multiple=True, metavar="PATTERN", help="Step into library code of this path, too.")
@ranks_option
@click.option("--children", is_flag=True, help="Debug each Python that the program starts, too: workers, forks.")
@debug_kernels_option
@overwritten_option
@eval_timeout_option
@click.option("--in-place", "lifeline", type=int, hidden=True, help="The program itself has opened this prompt.")
@click.option("--no-color", is_flag=True, help="No colours, as with NO_COLOR.")
def command(  # noqa: PLR0913, PLR0917  (one for each option)
    words: tuple[str, ...],
    module: str | None,
    python: str,
    cwd: str | None,
    places: tuple[str, ...],
    commands: tuple[str, ...],
    files: tuple[str, ...],
    include: tuple[str, ...],
    eval_timeout: float,
    lifeline: int | None,
    ranks: str | None,
    *,
    children: bool,
    debug_kernels: bool,
    overwritten: bool,
    post_mortem: bool,
    no_color: bool,
) -> int:
    """Debug SCRIPT, or a program that embeds Python, a process or a core file, at a prompt for Python and C++.

    A process is named by its id or its handle.
    """
    from pyharness.cli.kit import output
    from pyharness.model.evaluation import checked_timeout
    from pyharness.prompt.commands import all as _commands  # noqa: F401  (registers them)
    from pyharness.prompt.lines.sources import Lines, Piped, file_lines
    from pyharness.prompt.session import Session

    if lifeline is not None:
        return _in_place(words[0], lifeline)
    checked_timeout(eval_timeout)
    output.colours.off = no_color
    from_files = [line for file in files for line in file_lines(file)]
    options = {"debug_kernels": debug_kernels, "overwritten": overwritten}
    if ranks is not None or children or runs_python(words, module):
        job = _several(words, module, python, cwd, ranks, children=children, **options)
        wanted = ["continue"] if post_mortem and not places else []
        return _job_session(job, [*commands, *from_files], include, eval_timeout).run(places, wanted)
    plan = _plan(words, module, python, cwd, include, eval_timeout, debug_kernels=debug_kernels)
    plan = _watching(plan) if overwritten else plan
    runs = ["continue"] if places or post_mortem else []
    first = [*runs, *commands]
    if not _is_terminal(sys.stdin):
        piped = Piped(sys.stdin or io.StringIO(), output)
        return Session(plan, output, Lines(piped, output, from_files)).run(first, places)
    return _at_terminal(plan, from_files).run(first, places)


def _several(
    words: tuple[str, ...],
    module: str | None,
    python: str,
    cwd: str | None,
    ranks: str | None,
    *,
    children: bool,
    **options: bool,
) -> JobCommand:
    """The job whose ranks are debugged, or the program with its processes."""
    if ranks is None:
        if module is None and words and (_is_running(words[0]) or _is_core(words[0])):
            raise UsageError(
                f"--children needs a program to start, and {words[0]} is none.", "pyharness debug --children SCRIPT"
            )
        return family_of(words, module, python, cwd, **options)
    if children:
        raise UsageError("--ranks and --children do not go together.", "Ranks of a job, or processes of a program.")
    return job_of(words, module, python, cwd, ranks, **options)


def _job_session(job: JobCommand, first: list[str], include: tuple[str, ...], eval_timeout: float) -> JobSession:
    """The session of a job, at a terminal or of a pipe."""
    from dataclasses import replace

    from pyharness.cli.kit import output
    from pyharness.prompt.job.listing import completed
    from pyharness.prompt.job.session import JobSession
    from pyharness.prompt.lines.edited import Edited, is_possible
    from pyharness.prompt.lines.sources import Lines, Piped, Typed
    from pyharness.prompt.terminal.program_terminal import ProgramTerminal

    if not _is_terminal(sys.stdin):
        job = replace(job, stdin=subprocess.DEVNULL, env={"PYTHONUNBUFFERED": "1"})
        piped = Piped(sys.stdin or io.StringIO(), output)
        return JobSession(job, output, Lines(piped, output, first), None, include, eval_timeout)
    terminal = ProgramTerminal()
    stdin, stdout, stderr = map(terminal.stream, (sys.stdin, sys.stdout, sys.stderr))
    job = replace(job, stdin=stdin, stdout=stdout, stderr=stderr)
    if not (is_possible() and _is_terminal(sys.stdout)):
        return JobSession(job, output, Lines(Typed(output), output, first), terminal, include, eval_timeout)
    editor = Edited(output)
    session = JobSession(job, output, Lines(editor, output, first), terminal, include, eval_timeout)
    editor.complete = lambda text: completed(session, text)
    editor.prepare()
    return session


def _at_terminal(plan: Plan, from_files: list[str]) -> Session:
    from pyharness.prompt.terminal.program_terminal import ProgramTerminal

    return _typed(plan, ProgramTerminal(), from_files)  # before there is any thread: it forks


def _in_place(handle: str, lifeline: int) -> int:
    """A prompt that the program ``handle`` has opened; it lives as long as that keeps the other end of ``lifeline``."""
    import socket

    from pyharness.debugger.starting.attach import Attachment
    from pyharness.prompt.plan import Plan
    from pyharness.prompt.terminal.shared_terminal import SharedTerminal

    program = socket.socket(fileno=lifeline)
    program.set_inheritable(False)
    return _typed(Plan(Attachment(handle), in_place=True), SharedTerminal(program), []).run([])


def _typed(plan: Plan, terminal: Terminal, from_files: list[str]) -> Session:
    from pyharness.cli.kit import output
    from pyharness.prompt.completion import candidates
    from pyharness.prompt.lines.edited import Edited, is_possible
    from pyharness.prompt.lines.sources import Lines, Typed
    from pyharness.prompt.session import Session

    if not (is_possible() and _is_terminal(sys.stdout)):
        return Session(plan, output, Lines(Typed(output), output, from_files), terminal)
    editor = Edited(output)
    session = Session(plan, output, Lines(editor, output, from_files), terminal)
    editor.complete = lambda text: candidates(session, text)
    editor.prepare()
    return session


def _plan(
    words: tuple[str, ...],
    module: str | None,
    python: str,
    cwd: str | None,
    include: tuple[str, ...],
    eval_timeout: float,
    *,
    debug_kernels: bool,
) -> Plan:
    from dataclasses import replace

    from pyharness.cli.kit.script import command_of
    from pyharness.debugger.core.shell import CoreFile
    from pyharness.debugger.starting.attach import Attachment
    from pyharness.prompt.plan import Plan

    if module is None and len(words) == 1 and _is_running(words[0]):
        return Plan(Attachment(words[0], debug_kernels=debug_kernels), include, eval_timeout)
    if module is None and words and _is_core(words[0]):
        if len(words) > 1:
            raise UsageError(f"A core file takes no {words[1]!r}.", "pyharness debug CORE")
        if debug_kernels:
            raise UsageError("A core file compiles nothing: it takes no --debug-kernels.", "pyharness debug CORE")
        return Plan(CoreFile(words[0]), include, eval_timeout)
    if module is None and words and not is_there(words[0]):
        _name_the_nearest(words[0])
    target = replace(command_of(words, module, python, cwd), apart=True, debug_kernels=debug_kernels)
    if not _is_terminal(sys.stdin):  # what is read from there are commands
        target = replace(target, stdin=subprocess.DEVNULL)
    if not _is_terminal(sys.stdout):  # what it prints comes between the commands
        target = replace(target, env={"PYTHONUNBUFFERED": "1"})
    return Plan(target, include, eval_timeout)


def _watching(plan: Plan) -> Plan:
    """The plan, with saved tensors watched."""
    from dataclasses import replace

    from pyharness.cli.kit.engine_progress import have_engine
    from pyharness.debugger.starting.launch import Command

    if not isinstance(plan.target, Command):
        raise UsageError("--overwritten needs a program to start.", "pyharness debug --overwritten SCRIPT")
    plan.target.check()
    have_engine(plan.target.python, plan.target.env)
    return replace(plan, target=replace(plan.target, overwritten=True))


def _is_running(word: str) -> bool:
    """Whether a process is meant: by its number, or by a handle that no file has the name of."""
    if word.isascii() and word.isdecimal():
        return True
    if is_there(word):
        return False
    from pyharness.host import handles

    return any(handle.name == word for handle in handles.live())


def _name_the_nearest(word: str) -> None:
    """Raise where a handle may have been meant: one that is mistyped, or of a program that has ended."""
    from pyharness.host import handles
    from pyharness.model.errors import nearest

    if near := nearest(word, [handle.name for handle in handles.live()]):
        raise UsageError(f"There is no script {word!r}, nor a program that is called so.", near)
    if _HANDLE.fullmatch(word):
        raise UsageError(
            f"There is no script {word!r}, and no program that is called so runs: it has ended, perhaps.",
            "`pyharness run --list` shows those that run.",
        )


def _is_core(word: str) -> bool:
    try:
        if not Path(word).is_file() or is_program(word):  # a pipe would keep whoever opens it
            return False
        with Path(word).open("rb") as file:
            return file.read(4) == _CORE
    except OSError:
        return False


def _is_terminal(stream: TextIO | None) -> bool:
    """Whether it is one; ``None`` is a stream that was closed before this program began."""
    return stream is not None and stream.isatty()
