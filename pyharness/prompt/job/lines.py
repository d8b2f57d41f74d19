"""What a line at the prompt of a job means: for this rank, for another, for all, or for the job."""

from __future__ import annotations

import re

from pyharness.model.errors import UsageError
from pyharness.model.frozen import frozen
from pyharness.prompt.registry import found

_RANK = re.compile(r"rank\s+(\S+?)\s*(?::\s*(.*))?")
_ALL = re.compile(r"all\s*:\s*(.*)")
OF_JOBS = {
    "ranks": "List the ranks: who stands where, and who runs.",
    "rank N": "Go to another rank; one that runs is paused.",
    "rank N: COMMAND": "Do one command in another rank, and stay.",
    "all: COMMAND": "Do one command in each rank that stands.",
}
"""What the prompt of a job knows beside the commands of a rank; places are set in all ranks."""
_LEAVING = {"quit": "quit", "detach": "detach"}
_PLACES = {"break", "tbreak", "log", "delete", "disable", "enable", "condition", "catch"}
_NOT_HERE = {"run": "A job is started once: leave, and type the command again.", "kill": "`quit` ends the whole job."}


@frozen
class Spoken:
    """One line."""

    word: str
    """``quit``, ``detach``, ``help``, ``ranks``, ``rank``, ``all``, ``places`` for what all ranks get, or empty."""
    line: str = ""
    """What a rank is to do."""
    rank: int = 0


def spoken(line: str) -> Spoken:
    """What a line means; ``UsageError`` where it means nothing."""
    if line in {"ranks", "help", "h", "?"}:
        return Spoken("help" if line != "ranks" else line, "help")
    if said := _ALL.fullmatch(line):
        return Spoken("all", _of_a_rank(said[1]))
    if said := _RANK.fullmatch(line):
        if not (said[1].isascii() and said[1].isdecimal()):
            raise UsageError(f"{said[1]!r} is no rank.", "For example: rank 3, or rank 3: bt")
        return Spoken("rank", _of_a_rank(said[2]) if said[2] else "", int(said[1]))
    if not line or line.startswith("#"):
        return Spoken("", line)
    if line.partition(" ")[0].rstrip(":") in {"rank", "all"}:
        raise UsageError(f"{line!r} names no rank, or no command.", "For example: rank 3, or rank 3: bt, or all: next")
    name = found(line)[0].name
    if name in _NOT_HERE:
        raise UsageError(f"`{name}` is of one program.", _NOT_HERE[name])
    if name in _LEAVING:
        return Spoken(_LEAVING[name])
    return Spoken("places" if name in _PLACES else "", line)


def _of_a_rank(line: str) -> str:
    """A line that is for ranks; ``UsageError`` for one that is not."""
    name = found(line)[0].name if line else ""
    if not name or name in _NOT_HERE or name in _LEAVING:
        raise UsageError(f"{line!r} is nothing that a rank does.", "For example: all: next")
    return line
