"""The rule that grades what a tool said of a fault; it is the same for all tools, and asks the output alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.blaming.cases import Case


class Grade(IntEnum):
    """How much of the answer is there."""

    HIDES = 0
    SHOWS = 1
    NAMES = 2


@dataclass(frozen=True)
class Said:
    """The answer of one tool: the ranks that it blames and with which words, what it prints of each rank, and all."""

    blamed: frozenset[int] = frozenset()
    why: str = ""
    by_rank: dict[int, str] = field(default_factory=dict)
    whole: str = ""


def grade(case: Case, said: Said) -> Grade:
    """The grade of ``said``.

    It *names* where some culprit is blamed, nobody else is, and the reason is among the words. It *shows* where the
    words of the place are in what it prints of the ranks that have them, and of no other: a reader of it all finds it.
    """
    if said.blamed and said.blamed <= case.culprits and (_has(case.reason, said.why) or _has(case.place, said.why)):
        return Grade.NAMES
    seen_at = {rank for rank, text in said.by_rank.items() if _has(case.place, text)}
    return Grade.SHOWS if seen_at == case.seen_at else Grade.HIDES


def places(case: Case, said: Said) -> bool:
    """Whether an answer that names says, too, what the culprit does instead, or where."""
    return grade(case, said) is Grade.NAMES and _has(case.place, said.why)


def _has(words: str, text: str) -> bool:
    return re.search(words, text, re.MULTILINE) is not None
