"""MI command for completions, from debug information and memory: nothing is evaluated that has effects."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.functions.known_functions import known_functions
from pyharness.ingdb.mi.commands import handles
from pyharness.ingdb.mi.merged_frame import Place
from pyharness.ingdb.settings import temporarily
from pyharness.ingdb.stack.locals import live_symbols
from pyharness.ingdb.tensors.address import plain_type
from pyharness.ingdb.variables.complete import completions
from pyharness.protocol import mi

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Found = tuple[str, Iterable[tuple[str, str]]]

MAX_COMPLETIONS = 100
_MEMBER = re.compile(r"(?:\.|->)(?P<start>\w*)$")
_OBJECT = re.compile(r"[\w$.\->\[\]*&:() ]")
_NAME = re.compile(r"(?P<start>\$?(?:[\w]|::)*)$")
_MAX_BASES = 12


@handles(mi.Complete)
def _complete(request: mi.Complete) -> tuple[mi.Completion, ...]:
    place, text = Place(request.thread, request.level), request.text
    start, found = _native(place.native, text) if place.native else _python(place, text)
    unique = {label: kind for label, kind in found if label.startswith(start)}
    return tuple(mi.Completion(label, kind, len(start)) for label, kind in islice(unique.items(), MAX_COMPLETIONS))


def _python(place: Place, text: str) -> Found:
    frame, python = place.python
    return completions(text, frame, python, place.thread.ptid[1]) if frame and python else ("", [])


def _native(frame: gdb.Frame, text: str) -> Found:
    member = _MEMBER.search(text)
    name = _NAME.search(text)
    if member:
        return member["start"], _members(_object(text[: member.start()]), member["start"])
    start = name["start"] if name else ""
    return start, _registers(frame, start) if start.startswith("$") else _names(frame, start)


def _object(text: str) -> str:
    """The expression at the end of a text that may be unfinished: not beyond a bracket that is still open."""
    depth, at = 0, len(text)
    while at and _OBJECT.match(text[at - 1]):
        depth += (text[at - 1] in ")]") - (text[at - 1] in "([")
        if depth < 0 or (not depth and text[at - 1] == " "):
            break
        at -= 1
    return text[at:]


def _names(frame: gdb.Frame, start: str) -> Iterator[tuple[str, str]]:
    """Variables of the frame, members of ``this``, then functions."""
    for symbol in live_symbols(frame):
        yield symbol.name, "variable"
        if symbol.name == "this":
            yield from _members("this", start)
    if start:
        yield from _functions(frame, start)


def _functions(frame: gdb.Frame, start: str) -> Iterator[tuple[str, str]]:
    """The user's functions, as the frame's function may call them: without the namespaces that both share."""
    function = frame.function()
    spaces = (function.name.partition("(")[0] if function else "").split("::")[:-1]
    prefixes = ["::".join(spaces[:count]) + "::" for count in range(len(spaces), 0, -1)]
    for known in known_functions():
        for prefix in ("", *prefixes):
            if known.name.startswith(prefix + start):
                yield known.name.removeprefix(prefix), "function"


def _registers(frame: gdb.Frame, start: str) -> Iterator[tuple[str, str]]:
    names = (f"${register}" for register in frame.architecture().registers("general"))
    return ((name, "register") for name in names if name.startswith(start))


def _members(expression: str, start: str) -> Iterator[tuple[str, str]]:
    """Data members of what an expression is, and of its bases."""
    with temporarily("may-call-functions", "off"):
        try:
            kind = plain_type(gdb.parse_and_eval(expression).type)
        except gdb.error:
            return
    if kind.code == gdb.TYPE_CODE_PTR:
        kind = plain_type(kind.target())
    yield from _fields(kind, start, 0)


def _fields(kind: gdb.Type, start: str, depth: int) -> Iterator[tuple[str, str]]:
    if kind.code not in {gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION} or depth > _MAX_BASES:
        return
    for field in kind.fields():
        inherited = field.is_base_class or not field.name
        if inherited and field.type:
            yield from _fields(field.type.strip_typedefs(), start, depth + 1)
        elif field.name and field.name.startswith(start):
            yield field.name, "field"
