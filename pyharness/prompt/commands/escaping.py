"""Commands that lead elsewhere: to a file, to gdb, to a shell."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.debugger.merged_stack import merged_stack
from pyharness.debugger.native.code import NativeCode
from pyharness.debugger.native.scripts import VARIABLE
from pyharness.host.regular_file import read_text
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.text.stack_format import Style, format_threads
from pyharness.model.text.styled_line import Line
from pyharness.model.threads import ThreadStack
from pyharness.prompt.record import HEADING
from pyharness.prompt.registry import command

if TYPE_CHECKING:
    from pyharness.prompt.session import Session

_SESSION = "the session"
_OURS = {
    "run", "start", "continue", "c", "step", "s", "stepi", "si", "next", "n", "nexti", "ni", "finish", "fin", "until",
    "u", "advance", "jump", "j", "kill", "k", "detach", "attach", "quit", "q", "exit", "signal", "file", "exec-file",
    "target", "interrupt", "thread", "t", "source", "python", "py", "pi", "starti", "delete", "d", "clear",
    "disable", "enable", "inferior", "add-inferior", "clone-inferior", "remove-inferiors", "checkpoint", "restart",
}  # fmt: skip
"""Commands of gdb's that would let the program go on, or end, behind our back; those of ours do the same."""

_NO_END = {
    "while", "if", "edit", "e", "define", "define-prefix", "document", "commands", "tui", "layout", "refresh", "focus",
    "winheight", "shell", "!", "make", "pipe", "|", "compile", "expression", "alias",
}  # fmt: skip
"""Commands that take more lines, draw on the terminal, or start a program of their own: gdb would not come back."""


_WATCHES = {"watch": "watch", "rwatch": "watch", "awatch": "watch", "catch": "catch", "tcatch": "catch"}
"""Commands that set stops of which the prompt would not know what they are → the ones here."""

_HIDES = {"with", "w", "eval", "faas", "tfaas", "taas", "interpreter-exec", "frame apply", "f apply"}
"""Commands that do another one, which may be any of these."""

_WHOLE = {"gcore", "generate-core-file"}
"""Commands that look into every thread."""

_LEAST, _OTHERS = 3, {"inf", "int"}
"""Letters of a command's name that are enough to be it, and beginnings that gdb takes for another command."""


@command("save", about=_SESSION, takes="FILE", needs="nothing")
def save(session: Session, rest: str) -> None:
    """Write what was done as a session file that checks itself: `pyharness session run` plays it."""
    if not rest:
        raise UsageError("Save to which file?", "For example: save norm.toml")
    text = "\n".join(session.record.lines(session.plan)) + "\n"
    path = Path(rest).expanduser()
    try:
        if not _may_replace(path):
            raise UsageError(f"{rest} is there, and was not written by `save`.", "Name another file, or remove it.")
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise HarnessError(f"{rest} cannot be written: {error.strerror}.", "Name a file of yours.") from error
    session.screen.write_lines([Line(f"{rest}: `pyharness session run {rest}` does this again.")])


def _may_replace(path: Path) -> bool:
    """Whether there is nothing of the person's to lose."""
    try:
        text = read_text(path)
    except FileNotFoundError:
        return True
    except ValueError:  # no text
        return False
    return not text.strip() or text.startswith(HEADING)


@command("source", about=_SESSION, takes="FILE", needs="nothing")
def source(session: Session, rest: str) -> None:
    """Do the commands of a file, until the first error."""
    if not rest:
        raise UsageError("Which file?", "For example: source commands.txt")
    session.lines.put_first(rest)


@command("stack", about="the stack", takes="[full]")
def stack(session: Session, rest: str) -> None:
    """Show the merged stack of every thread."""
    shell = session.shell
    shell.attach()
    threads = [
        ThreadStack(lwp, name, tuple(each.frame for each in merged_stack(shell, lwp) if each.thread == lwp))
        for lwp, name in sorted(shell.tasks.items())
        if not name.startswith(("pydevd", "pyharness"))
    ]
    style = Style(full=rest == "full", width=session.screen.columns())
    session.screen.write_lines(format_threads(threads, style))


@command("gdb", about=_SESSION, takes="COMMAND", needs="stop")
def gdb(session: Session, rest: str) -> None:
    """Have gdb do a command of its own, as `gdb info registers`, at the thread that is looked at.

    What lets the program go on, changes or ends it is done by the commands here.
    """
    word = word_of(rest)
    if not word:
        raise UsageError("Which command of gdb's?", "For example: gdb info registers")
    if word in _WATCHES:
        remedy = f"`{_WATCHES[word]}` does it here, and `help {_WATCHES[word]}` says for what."
        raise UsageError(f"gdb's {word} would stop the program, and the prompt would not know of it.", remedy)
    if word in _HIDES:
        raise UsageError(f"gdb's {word} does another command, and that may go on.", "Give that command alone.")
    if word == "set":
        remedy = "`set NAME = VALUE` does it here."
        raise UsageError("gdb's set may change what the debugger here has set.", remedy)
    if word == "source":
        remedy = f"Name it in ${VARIABLE}, which gdb reads as it starts; `source` does the commands of the prompt."
        raise UsageError("gdb's source would do what the prompt does not know of.", remedy)
    if word in _OURS:
        raise UsageError(f"gdb's {word} would go on behind the prompt's back.", "`help` lists what does that here.")
    if word in _WHOLE:
        process = session.shell.process.pid
        raise UsageError(
            f"gdb's {word} needs a program all of whose threads stand; here the others run.",
            f"`detach`, then in a shell: gcore {process}",
        )
    if word in _NO_END:
        raise UsageError(
            f"gdb's {word} needs a terminal, or lines, of its own.", "Do it in a gdb of its own, after `detach`."
        )
    said = NativeCode(session.shell.attach()).command(session.where.thread, rest)
    session.screen.write_lines(map(Line, said.splitlines()))


def word_of(rest: str) -> str:
    """Which command of gdb's it is, where that is one of those above; else its first word as it was typed."""
    words = rest.split()
    both = " ".join(words[:2])
    if both in _HIDES:
        return both
    word = words[0] if words else ""
    known = {*_OURS, *_NO_END, *_WATCHES, *_HIDES, *_WHOLE}
    if word in known or len(word) < _LEAST or word in _OTHERS:
        return word
    return next((each for each in sorted(known) if each.startswith(word) and " " not in each), word)


@command("shell", about=_SESSION, takes="COMMAND", needs="nothing")
def shell_(session: Session, rest: str) -> None:
    """Run a command of the shell, and come back."""
    if not rest:
        raise UsageError("Which command?", "For example: shell git diff --stat")
    status = subprocess.run(rest, shell=True, check=False).returncode  # noqa: S602  (that is what was asked for)
    if status:
        session.screen.note(f"The command ended with status {status}.")
