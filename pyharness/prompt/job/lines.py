"""What a line at the prompt of several programs means: for this one, for another, for all, or for the whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.model.errors import UsageError
from pyharness.model.frozen import frozen
from pyharness.prompt.registry import found

if TYPE_CHECKING:
    from pyharness.prompt.job.members import Members

_ALL = re.compile(r"all\s*:\s*(.*)")
_LEAVING = {"quit": "quit", "detach": "detach"}
_PLACES = {"break", "tbreak", "log", "delete", "disable", "enable", "condition", "catch"}
_NOT_HERE = {"run", "kill"}


@frozen
class Spoken:
    """One line."""

    word: str
    """``quit``, ``detach``, ``help``, ``list``, ``one``, ``all``, ``places`` for what all get, or empty."""
    line: str = ""
    """What a member is to do."""
    number: int = 0


def usages(members: Members) -> dict[str, str]:
    """What the prompt of several knows beside the commands of one; places are set in all."""
    one, many = members.one, members.many
    return {
        many: f"List the {many}: who stands where, and who runs.",
        f"{one} N": f"Go to another {one}; one that runs is paused.",
        f"{one} N: COMMAND": f"Do one command in another {one}, and stay.",
        "all: COMMAND": f"Do one command in each {one} that stands.",
    }


def spoken(line: str, members: Members) -> Spoken:
    """What a line means; ``UsageError`` where it means nothing."""
    one = members.one
    if line in {members.many, "help", "h", "?"}:
        return Spoken("list" if line == members.many else "help", "help")
    if said := _ALL.fullmatch(line):
        return Spoken("all", _of_a_member(said[1], members))
    if said := re.fullmatch(rf"{one}\s+(\S+?)\s*(?::\s*(.*))?", line):
        if not (said[1].isascii() and said[1].isdecimal()):
            raise UsageError(f"{said[1]!r} is no {one}.", f"For example: {one} 3, or {one} 3: bt")
        return Spoken("one", _of_a_member(said[2], members) if said[2] else "", int(said[1]))
    if not line or line.startswith("#"):
        return Spoken("", line)
    if line.partition(" ")[0].rstrip(":") in {one, "all"}:
        example = f"For example: {one} 3, or {one} 3: bt, or all: next"
        raise UsageError(f"{line!r} names no {one}, or no command.", example)
    name = found(line)[0].name
    if name in _NOT_HERE:
        instead = f"`quit` ends the whole {members.whole}."
        once = f"The {members.whole} is started once: leave, and type the command again."
        raise UsageError(f"`{name}` is of one program.", once if name == "run" else instead)
    if name in _LEAVING:
        return Spoken(_LEAVING[name])
    return Spoken("places" if name in _PLACES else "", line)


def _of_a_member(line: str, members: Members) -> str:
    """A line that is for members; ``UsageError`` for one that is not."""
    name = found(line)[0].name if line else ""
    if not name or name in _NOT_HERE or name in _LEAVING:
        raise UsageError(f"{line!r} is nothing that a {members.one} does.", "For example: all: next")
    return line
