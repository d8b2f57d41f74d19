"""Commands about what stops the program beside places: exceptions, signals, values that change."""

from __future__ import annotations

from signal import Signals
from typing import TYPE_CHECKING

from pyharness.debugger.native.watchable import watchable
from pyharness.model.errors import UsageError, nearest
from pyharness.model.text.styled_line import Line
from pyharness.prompt.registry import command

if TYPE_CHECKING:
    from pyharness.prompt.session import Session

_PLACES = "places"
_KINDS = {"raise": "raised", "throw": "cxxThrow", "catch": "cxxCatch", "signal": "signals"}
_HOW = "catch raise [TYPE], catch throw [TYPE], catch catch [TYPE], catch signal NAME, or catch off"
_NEVER = {"SIGKILL"}
_OVER = "  (its frame has returned: it is over)"


@command("catch", about=_PLACES, takes="raise|throw|catch [TYPE] | signal NAME | off", needs="nothing")
def catch(session: Session, rest: str) -> None:
    """Stop where Python raises, C++ throws or catches, or a signal comes; `catch off` forgets them all.

    TYPE is a pattern of the exception's type or of a base of it, as ValueError, torch.*Error or c10::*Error. An
    exception that nobody catches, and a signal that ends the program, stop it in any case.
    """
    kind, _, types = rest.partition(" ")
    if rest == "off":
        session.catches.clear()
    elif kind in _KINDS:
        types = _signals(types) if kind == "signal" else types.strip()
        session.catches[_KINDS[kind]] = types
    elif kind:
        raise UsageError(f"catch knows no {kind!r}.", nearest(kind, _KINDS) or _HOW)
    if session.debuggee:  # else from its start on
        session.debuggee.catch(session.catches)
    shown = [
        f"catch {name} {session.catches[each]}".strip() for name, each in _KINDS.items() if each in session.catches
    ]
    session.screen.write_lines(map(Line, shown or ["Nothing but uncaught exceptions and fatal signals stops."]))


def _signals(words: str) -> str:
    names = [word.upper() if word.upper().startswith("SIG") else f"SIG{word.upper()}" for word in words.split()]
    unknown = [name for name in names if name not in Signals.__members__]
    if unknown or not names:
        wanted = unknown[0] if unknown else ""
        raise UsageError(f"There is no signal {wanted!r}.", nearest(wanted, Signals.__members__) or _HOW)
    if never := [name for name in names if name in _NEVER]:
        raise UsageError(f"Nothing stops at {never[0]}: the kernel tells no debugger of it.", _HOW)
    return " ".join(names)


@command("watch", about=_PLACES, takes="[EXPR]", needs="change")
def watch(session: Session, rest: str) -> None:
    """Stop when a value changes: an element of a tensor, a variable of C++; without one, list what is watched.

    The hardware watches: four values at most, of eight bytes each.
    """
    watched = session.program.watch
    if rest:
        target = watchable(session.shell.python, watched, session.where.shown, rest)
        found = watched.watch(session.where.thread, target)
        session.record.cannot(f"watch {rest}")
        session.screen.write_lines([Line(f"watch {found.number}  {found.description} = {found.value}")])
        return
    over = watched.over(session.where.thread)
    shown = [
        f"watch {number}  {each.description}{_OVER if number in over else ''}"
        for number, each in watched.targets.items()
    ]
    session.screen.write_lines(map(Line, shown or ["Nothing is watched: `watch EXPR` does."]))


@command("unwatch", about=_PLACES, takes="[N ...]", needs="change")
def unwatch(session: Session, rest: str) -> None:
    """Watch these no more, or nothing."""
    watched = session.program.watch
    for word in rest.split() or list(map(str, watched.targets)):
        if not (word.isascii() and word.isdecimal() and int(word) in watched.targets):
            raise UsageError(f"Nothing is watched as {word!r}.", "`watch` lists what is.")
        watched.unwatch(int(word))
