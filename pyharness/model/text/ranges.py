"""Numbers as people write them, neighbours as a range: ``0-2,4``."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def in_ranges(numbers: Iterable[int], between: str = ",") -> str:
    """The numbers in order, each once, with ``between`` between ranges; empty for none."""
    runs = groupby(enumerate(sorted(set(numbers))), lambda item: item[1] - item[0])
    return between.join(_run([number for _, number in run]) for _, run in runs)


def _run(numbers: list[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"
