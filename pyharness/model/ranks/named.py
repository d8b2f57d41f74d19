"""Ranks as a person names them, for those that are debugged."""

from __future__ import annotations

from pyharness.model.errors import UsageError
from pyharness.model.text.ranges import numbers_in


def named_ranks(text: str) -> tuple[int, ...]:
    """The ranks that ``3``, ``0,2-5`` or ``all`` means, none of them for all; ``UsageError`` where it means nothing."""
    if text.strip() == "all":
        return ()
    if (found := numbers_in(text)) is None:
        raise UsageError(f"{text!r} names no ranks.", "For example: 3, or 0,2-5, or all.")
    return found
