"""Numbers as people write them, neighbours as a range: ``0-2,4``."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_DIGITS = 7


def in_ranges(numbers: Iterable[int], between: str = ",") -> str:
    """The numbers in order, each once, with ``between`` between ranges; empty for none."""
    runs = groupby(enumerate(sorted(set(numbers))), lambda item: item[1] - item[0])
    return between.join(_run([number for _, number in run]) for _, run in runs)


def _run(numbers: list[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"


def numbers_in(text: str) -> tuple[int, ...] | None:
    """The numbers that such a text means, in order; ``None`` where it means none."""
    found: set[int] = set()
    for part in text.replace(" ", "").split(","):
        first, dash, last = part.partition("-")
        ends = (first, last) if dash else (first, first)
        if not all(end.isascii() and end.isdecimal() and len(end) < _DIGITS for end in ends):
            return None
        found.update(range(int(ends[0]), int(ends[1]) + 1))
    return tuple(sorted(found)) or None
