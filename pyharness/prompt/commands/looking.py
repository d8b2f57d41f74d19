"""Commands that look at the stack: frames of both languages, threads, the lines around."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.debugger.native.scripts import VARIABLE
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.text.code_functions import lines_of_function
from pyharness.model.text.stack_format import Style as StackStyle
from pyharness.model.text.stack_format import again_line, format_stack, frame_by_frame, without_repeats
from pyharness.model.text.styled_line import Line, in_parts
from pyharness.prompt.commands.breaking import point_lines
from pyharness.prompt.position import Position
from pyharness.prompt.registry import command
from pyharness.prompt.shown.stop_text import fitted, frame_lines
from pyharness.session.transcript_text import source_lines

if TYPE_CHECKING:
    from pyharness.model.frames import Frame
    from pyharness.prompt.session import Session

_STACK = "the stack"
_RANGE = re.compile(r"(\d+)(?:\s*[,-]\s*(\d+))?")
_PAGE = 10
_FULL = ("full", "-f", "--full")


@command("bt", "where", "w", "backtrace", about=_STACK, takes="[full]")
def bt(session: Session, rest: str) -> None:
    """Show the stack, both languages merged; with full, the interpreter's and torch's frames, too.

    Behind the frames of a thread that no Python has called are those of the one for which it works.
    """
    if rest and rest not in _FULL:
        raise UsageError(f"bt takes no {rest!r}.", "bt, or bt full")
    position = session.where
    rows = list(enumerate(position.stack)) if rest else position.rows
    if not rows:
        raise HarnessError("There are no frames.")
    width = len(str(rows[-1][0]))
    frames, columns = [shown.frame for _, shown in rows], session.screen.columns()
    lines = frame_by_frame(format_stack(frames, StackStyle(full=True, width=columns and columns - width - 1)))
    selected = next((index for index, (number, _) in enumerate(rows) if number == position.number), -1)
    thread = rows[0][1].thread
    for each in range(len(rows)) if rest else without_repeats(frames, selected):
        if isinstance(each, str):
            session.screen.write_lines([again_line(each).behind(" " * (width + 1))])
            continue
        if (owner := rows[each][1].thread) != thread:
            session.screen.write_lines([works_for_line(session, owner).behind(" " * (width + 1))])
            thread = owner
        head = f"{'→' if each == selected else ' '}{rows[each][0]:>{width}}"
        first, *others = lines[each]
        session.screen.write_lines([first.behind(head), *(line.behind(" " * (width + 1)) for line in others)])


def works_for_line(session: Session, owner: int) -> Line:
    """What stands before the frames of the thread for which another one works."""
    return Line(f"  works for {session.shell.thread_label(owner)}:", "faint")


@command("up", "u", about=_STACK, takes="[COUNT]", repeats=True, note="gdb's u is until")
def up(session: Session, rest: str) -> None:
    """Look at the frame that called; frames of the interpreter and torch are passed by."""
    _look(session, session.where.move(_number(rest)).frame)


@command("down", "d", about=_STACK, takes="[COUNT]", repeats=True, note="gdb's d is delete: del")
def down(session: Session, rest: str) -> None:
    """Look at the frame that was called."""
    _look(session, session.where.move(-_number(rest)).frame)


@command("frame", "f", about=_STACK, takes="[N]")
def frame(session: Session, rest: str) -> None:
    """Look at frame N of `bt`; without a number, show where you look."""
    if rest:
        session.where.select(_number(rest))
    _look(session, session.where.shown.frame)


def _look(session: Session, shown: Frame) -> None:
    """Show a frame as a stop is shown."""
    session.listed = 0
    if (owner := session.where.shown.thread) != session.where.thread:
        session.screen.write_lines([works_for_line(session, owner)])
    session.screen.write_lines(fitted(frame_lines(session.where.number, shown), session.screen, shown.language))


def _number(rest: str) -> int:
    if not rest:
        return 1
    if not (rest.isascii() and rest.isdecimal() and len(rest) < 10):
        raise UsageError(f"{rest!r} is no number.", "For example: 2")
    return int(rest)


@command("list", "l", about=_STACK, takes="[LINE | FIRST, LAST]", repeats=True)
def list_(session: Session, rest: str) -> None:
    """Show lines of the file that is looked at: the next ten, those around LINE, or from FIRST to LAST."""
    shown = session.where.shown.frame
    _show_lines(session, *_lines(session, _line_of(shown), rest))


@command("longlist", "ll", about=_STACK)
def longlist(session: Session, _rest: str) -> None:
    """Show the whole function that is looked at; of C++, the lines around."""
    shown = session.where.shown.frame
    line = _line_of(shown)
    whole = lines_of_function(shown.file or "", line) if shown.language == "python" else None
    _show_lines(session, *(whole or _lines(session, line, ".")))


def _line_of(frame: Frame) -> int:
    if not frame.file or not frame.line:
        raise HarnessError("The source of this frame is not known.", "`up` looks at the frame that called.")
    return frame.line


def _show_lines(session: Session, first: int, last: int) -> None:
    shown = session.where.shown.frame
    lines = list(source_lines(shown, first, last))
    if not lines:
        raise _no_lines(shown, first)
    session.screen.write_lines(fitted([line.behind("   ") for line in lines], session.screen, shown.language))
    session.listed = last


def _no_lines(frame: Frame, first: int) -> HarnessError:
    """The error of lines that are not shown; a file that is not here may have been compiled elsewhere."""
    if not frame.file or Path(frame.file).exists() or frame.language != "native":
        return HarnessError(f"{frame.file} ends before line {first}, or cannot be read.")
    message = f"{frame.file}, of which {Path(frame.library or 'it').name} was compiled, is not here."
    mapped = f"`set substitute-path {Path(frame.file).parent} FOLDER`"
    return HarnessError(message, f"{mapped} in a file that ${VARIABLE} names has gdb look in FOLDER.")


def _lines(session: Session, line: int, rest: str) -> tuple[int, int]:
    if rest in {"", "."}:
        first = session.listed + 1 if session.listed and not rest else max(1, line - _PAGE // 2)
        return first, first + _PAGE - 1
    found = _RANGE.fullmatch(rest)
    if found is None:
        raise UsageError(f"{rest!r} names no lines.", "For example: list 40, or list 40, 60")
    first, last = int(found[1][:9]), int((found[2] or "0")[:9])
    return (first, max(first, last)) if last else (max(1, first - _PAGE // 2), first + _PAGE // 2)


@command("threads", "info threads", about=_STACK)
def threads(session: Session, _rest: str) -> None:
    """List the threads of the program; → marks the one that is looked at."""
    shell, stop = session.shell, session.where.stop
    tasks = shell.tasks
    names = shell.thread_names(tasks)
    for lwp, kernels in sorted(tasks.items()):
        name = "MainThread" if lwp == shell.process.pid else names.get(lwp, kernels)
        if not name or name.startswith(("pydevd", "pyharness")):
            continue
        mark = "→" if lwp == session.where.thread else " "
        stands = "stands" if lwp in shell.machine.standing or shell.immobile else "runs"
        note = f"  ({stop.reason})" if lwp == stop.thread else ""
        name = " ".join(name.splitlines())
        session.screen.write_lines([in_parts((f"{mark} {lwp}  {name}  ", ""), (f"{stands}{note}", "faint"))])


@command("thread", "t", about=_STACK, takes="[LWP]")
def thread(session: Session, rest: str) -> None:
    """Look at another thread, by its number in `threads`; without one, say which is looked at.

    Steps go on from it if it stands, too.
    """
    shell, position = session.shell, session.where
    if rest:
        number = _number(rest)
        if number not in shell.tasks:
            raise UsageError(f"The program has no thread {number}.", "`threads` lists them.")
        turned = shell.turn_to(number)  # it stands, too: steps go on from there
        position = Position(shell, turned or position.stop, number)
        session.position = position
        position.select_users()
    _look(session, position.shown.frame)


@command("info", "i", about=_STACK, takes="breakpoints | threads | locals | args | frame | display", needs="nothing")
def info(session: Session, rest: str) -> None:
    """Show what gdb shows under this name."""
    known = {"breakpoints": "info breakpoints", "locals": "locals", "args": "args", "threads": "threads"}
    known |= {"frame": "frame", "display": "display", "stack": "bt"}
    begun = [full for name, full in known.items() if rest and name.startswith(rest)]
    if not begun:
        raise UsageError(f"info {rest}: there is no such list." if rest else "info what?", f"{', '.join(known)}.")
    if begun[0] == "info breakpoints":
        session.screen.write_lines(point_lines(session))
    else:
        session.do(begun[0])
