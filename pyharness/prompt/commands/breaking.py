"""Commands about places: where the program stops, or logs and runs on."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.debugger.breaking.breakpoint import Breakpoint
from pyharness.debugger.starting.launch import Command
from pyharness.model.conditions import log_message
from pyharness.model.errors import UsageError
from pyharness.model.text.styled_line import Line, in_parts
from pyharness.model.where import FORMS, Where, folders_of, parse
from pyharness.prompt.functions import resolved
from pyharness.prompt.registry import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.prompt.points import Point
    from pyharness.prompt.session import Session

_PLACES = "places"
_LINE = re.compile(r"(\+?\d+)(?=\s|$)")
_HAS_CONDITION = re.compile(r"\s(if|when|hits)\s")
_IN_QUOTES = re.compile(r"""(.*\S)\s+(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')""", re.DOTALL)
_ESCAPED_QUOTE = re.compile(r"""\\(["'])""")
"""A place and its condition, as pdb has them."""
_NO_MESSAGE = 'For example: log py:train.py:30 "loss={loss.item()}"'


@command("break", "b", "br", about=_PLACES, takes="[WHERE [if CONDITION] [hits N]]", needs="nothing")
def break_(session: Session, rest: str) -> None:
    """Stop at a place whenever a thread comes to it.

    WHERE is fx:NODE, fx:MODULE.PATH, fx:NODE[INDEX, ...], op:NAMESPACE::NAME, node:NAME, py:FILE:LINE,
    py:FILE:FUNCTION, native:FUNCTION or native:FILE:LINE, a line of the file that is looked at, or a function's name:
    one of Python's that the frame or the program's files know, else one of native code. It may name code that is not
    loaded yet. Without WHERE: the line that is looked at.
    """
    _add(session, rest)


@command("tbreak", "tb", about=_PLACES, takes="[WHERE ...]", needs="nothing")
def tbreak(session: Session, rest: str) -> None:
    """Stop at a place once."""
    _add(session, rest, temporary=True)


@command("log", "dprintf", about=_PLACES, takes='WHERE "MESSAGE"', needs="nothing")
def log(session: Session, rest: str) -> None:
    """Print a message whenever a thread comes to a place, and run on.

    Each {EXPRESSION} in it is evaluated there, in the place's language.
    """
    found = _IN_QUOTES.fullmatch(rest)
    if found is None:
        raise UsageError("A log point has a place and a message in quotes.", _NO_MESSAGE)
    where = place(session, found[1])
    quoted = found[2] if found[2] is not None else found[3]
    message = log_message.required(_ESCAPED_QUOTE.sub(r"\1", quoted), python=where.is_python)
    set_point(session, Breakpoint(where, message))
    session.record.logged(where, message)


def place(session: Session, text: str) -> Where:
    """The place that a person names, as seen from where they look."""
    script = session.plan.target.file
    if session.debuggee is None and session.plan.starts:
        return parse(_whole(session, text), folders_of(script))
    root = session.shell.breakpoints.root  # as it was at the start: the program may be gone by now
    folders = [Path(session.shell.process.surroundings.folder)] if root else folders_of(script)
    if session.position and (file := session.position.shown.frame.file) and not root:
        folders.append(Path(file).parent)
    return parse(_whole(session, text), folders, root)


def _whole(session: Session, text: str) -> str:
    """A place with what the frame that is looked at says of it: its file, and its language."""
    frame = session.position.shown.frame if session.position else None
    text = text or (f"{frame.line}" if frame and frame.line else "")
    if not text:
        raise UsageError("Where?", FORMS)
    if not (found := _LINE.match(text)):
        return resolved(session, text)
    if frame is None and (script := _script(session)):
        return f"py:{script}:{found[1].lstrip('+')}{text[found.end() :]}"
    if frame is None or not frame.file:
        raise UsageError(f"Line {found[1]} of which file?", f"For example: b py:train.py:{found[1].lstrip('+')}")
    number = int(found[1]) + (frame.line or 0) * found[1].startswith("+")
    kind = "py" if frame.language == "python" else "native"
    return f"{kind}:{frame.file}:{number}{text[found.end() :]}"


def _script(session: Session) -> str:
    """The script that is to run, where none of it has yet; empty where there is none."""
    target = session.plan.target
    return target.file if isinstance(target, Command) else ""


def _add(session: Session, text: str, *, temporary: bool = False) -> None:
    set_point(session, Breakpoint(place(session, _without_comma(text))), temporary=temporary)


def _without_comma(text: str) -> str:
    """A place as pdb has it, ``WHERE, CONDITION``, in our words; a comma in brackets is a part of the place."""
    depth = 0
    for index, letter in enumerate(text):
        depth += (letter in "([{<") - (letter in ")]}>")
        if letter == "," and not depth:
            where, condition = text[:index].strip(), text[index + 1 :].strip()
            return f"{where} if {condition}" if where and condition and not _HAS_CONDITION.search(where) else text
    return text


def set_point(session: Session, new: Breakpoint, *, temporary: bool = False) -> None:
    """Set a place from now on, in this program and in the next, and show it."""
    if session.debuggee and session.shell.immobile:
        raise UsageError(session.shell.immobile)
    point = session.points.add(new, temporary=temporary)
    point.since = session.record.length
    if session.debuggee:  # else `run` sets it
        _set_in_program(session, point)
    if point in list(session.points) and point.enabled:
        session.screen.write_lines([point_line(session, point)])


def _set_in_program(session: Session, point: Point) -> None:
    try:
        with session.shell.excused():
            session.program.set(point.breakpoint)
    except BaseException:
        session.points.remove(point)
        raise


def point_line(session: Session, point: Point) -> Line:
    """One point in a list: its number, its kind, its place, and what is known of it."""
    where = point.breakpoint.where
    shown = replace(where, file=_short(where.file)) if where.file else where
    notes = [f"stopped {point.hits} time{'s' * (point.hits > 1)}"] if point.hits else []
    notes += ["disabled"] if not point.enabled else []
    if point.enabled and session.debuggee and not point.breakpoint.is_bound:
        notes.append("nothing that is loaded has it yet")
    message = f' "{point.breakpoint.log}"' if point.breakpoint.log else ""
    note = f"  ({', '.join(notes)})" if notes else ""
    return in_parts((f"{point.number}  {point.kind}  ", ""), (f"{shown.written}{message}", "place"), (note, "faint"))


def _short(file: str) -> str:
    from pyharness.model.text.source_line import short_path

    return short_path(file)


@command(
    "delete",
    "del",
    "clear",
    "cl",
    about=_PLACES,
    takes="[N ...]",
    needs="nothing",
    note="gdb's d is delete; here d is pdb's: down",
)
def delete(session: Session, rest: str) -> None:
    """Stop there no more: these numbers, or all of them."""
    for point in session.points.named(rest):
        _unset(session, point)
        session.points.remove(point)


@command("disable", about=_PLACES, takes="[N ...]", needs="nothing")
def disable(session: Session, rest: str) -> None:
    """Keep these places, and stop there no more until they are enabled."""
    for point in session.points.named(rest):
        if point.enabled:
            _unset(session, point)
            point.enabled = False


@command("enable", about=_PLACES, takes="[N ...]", needs="nothing")
def enable(session: Session, rest: str) -> None:
    """Stop again at places that were disabled; hits are counted anew."""
    for point in session.points.named(rest):
        if not point.enabled:
            if session.debuggee:
                session.shell.set_breakpoint(point.breakpoint)
            point.enabled = True


@command("condition", about=_PLACES, takes="N [CONDITION]", needs="nothing")
def condition(session: Session, rest: str) -> None:
    """Stop at place N only where a condition holds, or always."""
    number, _, text = rest.partition(" ")
    if not number:
        raise UsageError("Which place?", "For example: condition 1 x > 2")
    (point,) = session.points.named(number)
    where = point.breakpoint.where
    hits = f" hits {where.hits}" if where.hits else ""
    word = "when" if where.is_native_op else "if"
    changed = place(session, f"{where}{f' {word} {text.strip()}' if text else ''}{hits}")
    _unset(session, point)
    point.breakpoint = Breakpoint(changed, point.breakpoint.log)
    if point.enabled and session.debuggee:
        session.shell.set_breakpoint(point.breakpoint)
    session.screen.write_lines([point_line(session, point)])


def _unset(session: Session, point: Point) -> None:
    if session.debuggee and point.enabled:
        with session.shell.excused():
            session.shell.breakpoints.remove(point.breakpoint, session.shell.native)


def point_lines(session: Session) -> Iterator[Line]:
    """All of them."""
    points = list(session.points)
    if not points:
        yield Line("No places are set: `break WHERE` sets one.", "faint")
    for point in points:
        yield point_line(session, point)
