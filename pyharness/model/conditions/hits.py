"""Hit conditions: how often a breakpoint has to be reached before it stops the program."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

_FORM = re.compile(r"\s*(==|>=|<=|>|<|%|)\s*(\d{1,18})\s*")
_FORMS = "Write a number, or e.g. >= 3, == 3, % 10."
_LEAST = {"": 1, "==": 1, "<=": 1, "<": 2, "%": 1}
"""The least number with which a condition ever holds."""
_HOLDS: dict[str, Callable[[int, int], bool]] = {
    "": lambda hits, wanted: hits == wanted,
    "==": lambda hits, wanted: hits == wanted,
    ">=": lambda hits, wanted: hits >= wanted,
    "<=": lambda hits, wanted: hits <= wanted,
    ">": lambda hits, wanted: hits > wanted,
    "<": lambda hits, wanted: hits < wanted,
    "%": lambda hits, wanted: wanted > 0 and hits % wanted == 0,
}


def checked(text: str) -> str:
    """``text``, where it is a hit condition that can hold, or empty."""
    found = _FORM.fullmatch(text)
    if text.strip() and not found:
        raise UsageError(f"The hit condition {text!r} is not understood.", _FORMS)
    if found and int(found[2]) < _LEAST.get(found[1], 0):
        raise UsageError(f"The hit condition {text!r} never holds: hits are counted from 1.", _FORMS)
    return text.strip()


def holds(condition: str, hits: int) -> bool:
    """Whether the ``hits``-th time is one that ``condition`` wants."""
    found = _FORM.fullmatch(condition)
    return not found or _HOLDS[found[1]](hits, int(found[2]))
