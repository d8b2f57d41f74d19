"""What a line at the prompt may go on with: commands, places, and names of the frame in either language."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.debugger.native.edit import NativeEdit
from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen
from pyharness.model.where import KINDS
from pyharness.prompt.functions import names_here
from pyharness.prompt.registry import COMMANDS, found, names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyharness.prompt.session import Session

_MOST = 200
_PLACES = {"break", "tbreak", "log", "until"}
_VALUES = {"p", "pp", "whatis", "tensor", "display", "py"}
_NUMBERS = {"delete", "disable", "enable", "condition"}


@frozen
class Candidate:
    """A text that could stand in place of the last ``length`` characters."""

    text: str
    length: int
    about: str = ""


def candidates(session: Session, line: str) -> list[Candidate]:
    """All for a line that is typed up to here; none where nobody can be asked."""
    word, blank, _ = line.partition(" ")
    if not blank and not line.startswith("!"):
        return [Candidate(name, len(word), _summary(name)) for name in names() if name.startswith(word)]
    try:
        command, _ = found(line)
        rest = line.lstrip("!") if line.startswith("!") else line.partition(" ")[2]
        return list(_of(session, command.name, rest))[:_MOST]
    except HarnessError:
        return []


def _summary(name: str) -> str:
    command = found(name)[0]
    return command.summary if command.name == name else f"= {command.name}"


def _of(session: Session, name: str, rest: str) -> Iterable[Candidate]:
    if name in _PLACES and " if " not in rest:
        return _places(session, rest)
    if name in _VALUES or name in _PLACES:
        return _expressions(session, rest.rpartition(" if ")[2])
    last = rest.rpartition(" ")[2]
    known = _words(session).get(name)
    return [Candidate(each, len(last)) for each in (known() if known else ()) if each.startswith(last)]


def _words(session: Session) -> dict[str, Callable[[], list[str]]]:
    """Command → the words that it takes."""
    numbers = dict.fromkeys(_NUMBERS, lambda: [str(point.number) for point in session.points])
    return {
        **numbers,
        "help": lambda: [*COMMANDS, "places"],
        "info": lambda: ["args", "breakpoints", "display", "frame", "locals", "stack", "threads"],
        "thread": lambda: list(map(str, session.shell.tasks)),
        "signal": lambda: [each.name.removeprefix("SIG") for each in signal.Signals],
        "undisplay": lambda: list(map(str, session.displays.expressions)),
        "bt": lambda: ["full"],
    }


def _places(session: Session, rest: str) -> Iterator[Candidate]:
    kind, colon, begun = rest.partition(":")
    if not colon:
        yield from (Candidate(f"{each}:", len(kind)) for each in KINDS if each.startswith(kind))
        yield from (Candidate(each, len(kind)) for each in names_here(session) if each.startswith(kind))
    elif kind == "py":
        yield from (Candidate(each, len(begun)) for each in _files(begun))
    elif kind in {"fx", "op"}:
        known = session.shell.breakpoints.names(kind)
        yield from (Candidate(each, len(begun)) for each in known if each.startswith(begun))
    elif kind == "native" and session.shell.native:
        yield from _natives(session, begun, functions=True)


def _files(begun: str) -> list[str]:
    folder, slash, name = begun.rpartition("/")
    try:
        entries = sorted(Path(f"{folder}{slash}" or ".").iterdir())
    except OSError:
        return []
    shown = [each for each in entries if each.name.startswith(name) and (name or not each.name.startswith("."))]
    folders = [f"{folder}{slash}{each.name}/" for each in shown if each.is_dir()]
    return [f"{folder}{slash}{each.name}:" for each in shown if each.suffix == ".py"] + folders


def _expressions(session: Session, text: str) -> Iterator[Candidate]:
    shown = session.where.shown
    if shown.debugpy is None or text.startswith("native:"):
        yield from _natives(session, text.removeprefix("native:"), functions=False)
        return
    asked = {"text": text, "column": len(text) + 1, "frameId": shown.debugpy}
    last = len(text) - len(text.rstrip("_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    for each in session.shell.python.asking.ask("completions", asked)["targets"]:
        label, length = str(each["label"]), int(each.get("length", last))
        if label.startswith(text[len(text) - length :]):
            yield Candidate(label, length)


def _natives(session: Session, text: str, *, functions: bool) -> Iterator[Candidate]:
    shown = session.where.shown
    if shown.level < 0:
        return
    for each in NativeEdit(session.shell.attach()).complete(shown.thread, text, shown.level):
        if not functions or each.kind == "function":
            yield Candidate(each.label, each.length)
