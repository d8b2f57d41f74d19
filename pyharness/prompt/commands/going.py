"""Commands that let the program go on: to a place, by a step, to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.debugger.breaking.breakpoint import Breakpoint
from pyharness.debugger.breaking.kernel_element import no_element, places_of
from pyharness.model.element import read
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.text.code_lines import executable_line, function_lines
from pyharness.prompt.commands.breaking import place
from pyharness.prompt.registry import command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.debugger.action import Request
    from pyharness.debugger.merged_stack import StackFrame
    from pyharness.model.frames import Frame
    from pyharness.model.where import Where
    from pyharness.prompt.session import Session

_GOING = "going on"
_MOST = 10_000
"""Steps of one command."""


@command("continue", "c", "cont", about=_GOING, needs="program", repeats=True)
def continue_(session: Session, rest: str) -> None:
    """Run on to the next stop, or to the end."""
    _no_words("continue", rest)
    session.go("continue")


@command("into", "s", "step", about=_GOING, takes="[COUNT]", needs="change", repeats=True)
def into(session: Session, rest: str) -> None:
    """Step into the first function of yours that the line runs, Python or native; else to the next line."""
    _steps(session, "into", rest)


@command(
    "into native",
    "si",
    about=_GOING,
    takes="[COUNT]",
    needs="change",
    repeats=True,
    note="gdb's si is one machine instruction: stepi",
)
def into_native(session: Session, rest: str) -> None:
    """Step into the first native function of yours that the line runs."""
    _steps(session, "into_native", rest)


@command("over", "n", "next", about=_GOING, takes="[COUNT]", needs="change", repeats=True)
def over(session: Session, rest: str) -> None:
    """Step to the next line."""
    _steps(session, "over", rest)


@command(
    "out",
    "finish",
    "fin",
    "return",
    about=_GOING,
    needs="change",
    repeats=True,
    note="pdb's return stops before the function returns, and its r is gdb's here: run",
)
def out(session: Session, rest: str) -> None:
    """Step to the caller: another native frame of yours, or the next line of your Python."""
    _no_words("out", rest)
    session.go("out")


@command("stepi", about=_GOING, takes="[COUNT]", needs="change", repeats=True)
def stepi(session: Session, rest: str) -> None:
    """Run one machine instruction, into calls; in Python a step into."""
    _steps(session, "into_instruction", rest)


@command("nexti", "ni", about=_GOING, takes="[COUNT]", needs="change", repeats=True)
def nexti(session: Session, rest: str) -> None:
    """Run one machine instruction, calls as one; in Python a step over."""
    _steps(session, "instruction", rest)


@command("until", "unt", "advance", about=_GOING, takes="[LINE|WHERE]", needs="change", repeats=True)
def until(session: Session, rest: str) -> None:
    """Run on to a line, or to any place; without one, to a line further down: a loop runs to its end.

    Or to the caller, where the function returns before. A line of the function is that of this call, not of one that
    the function makes of itself.
    """
    if rest and not rest.isdecimal():
        run_to(session, [place(session, rest)], "continue")
        return
    shown = session.where.shown
    places = [place(session, rest)] if rest else _lines_below(session, shown.frame)
    run_to(session, places, within=shown if _is_within(places, shown.frame) else None)


def _is_within(places: Sequence[Where], frame: Frame) -> bool:
    """Whether these lines are of the function of a frame; gdb finds that out for itself."""
    if frame.language == "native" or not frame.file or not frame.line:
        return frame.language == "native"
    lines = function_lines(frame.file, frame.line)
    return all(executable_line(each.file, each.line) in lines for each in places)


@command("element", about=_GOING, takes="[NODE][INDEX, ...]", needs="change", note="[2, 7] is of the line's node")
def element(session: Session, rest: str) -> None:
    """Run on in a kernel of inductor's to where it computes an element of a node, or to the caller."""
    shown = session.where.shown
    at = (session.shell, shown.thread, shown.level, shown.frame)
    wanted = read(rest)
    if wanted is None:
        raise no_element(*at, rest)
    run_to(session, places_of(*at, wanted))


def run_to(
    session: Session, places: Sequence[Where], request: Request = "out", within: StackFrame | None = None
) -> None:
    """Run on to one of these places, or where ``request`` ends otherwise: at the caller, or anywhere.

    Of the function of ``within`` no other call counts.
    """
    points = [session.points.add(Breakpoint(where, within=within), temporary=True) for where in places]
    for point in points:
        point.since, point.is_step = session.record.length, True
    try:
        for point in points:
            session.shell.set_breakpoint(point.breakpoint)
        session.go(request)
    finally:
        for point in points:
            session.points.remove(point)
            if session.debuggee:
                with session.shell.excused():
                    session.shell.breakpoints.remove(point.breakpoint, session.shell.native)


def _lines_below(session: Session, frame: Frame) -> list[Where]:
    """The lines of the function below the one where it stands."""
    if not frame.file or not frame.line:
        raise HarnessError("There are no lines here to run on to.", "`out` goes on to the caller.")
    if frame.language == "native":
        return [place(session, f"native:{frame.file}:{frame.line + 1}")]
    below = [line for line in function_lines(frame.file, frame.line) if line > frame.line]
    return [place(session, f"py:{frame.file}:{line}") for line in below[:100]]


def _steps(session: Session, request: Request, rest: str) -> None:
    """Several steps, as far as each ends by itself."""
    for _ in range(_count(rest)):
        stop = session.go(request)
        if stop is None or stop.reason != "step":
            return


def _count(rest: str) -> int:
    if not rest:
        return 1
    if not (rest.isascii() and rest.isdecimal() and 0 < int(rest) <= _MOST):
        raise UsageError(f"{rest!r} is no number of steps.", f"1 to {_MOST}, for example: next 3")
    return int(rest)


def _no_words(name: str, rest: str) -> None:
    if rest:
        raise UsageError(f"{name} takes no {rest!r}.", "`until WHERE` runs on to a place.")
