"""Ranks as people write them: ``0-2,4-7``."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def in_ranges(numbers: Iterable[int]) -> str:
    """Numbers in order, neighbours as a range."""
    ordered = sorted(set(numbers))
    runs = groupby(enumerate(ordered), lambda item: item[1] - item[0])
    return ",".join(_run([number for _, number in run]) for _, run in runs)


def _run(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return str(numbers[0])
    return f"{numbers[0]}{',' if len(numbers) == 2 else '-'}{numbers[-1]}"


def named(numbers: Iterable[int]) -> str:
    """``rank 3``, or ``ranks 0-2,4``."""
    ordered = sorted(set(numbers))
    return f"rank{'s' * (len(ordered) != 1)} {in_ranges(ordered)}"
