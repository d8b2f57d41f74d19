"""Ranks as people name them: ``rank 3``, ``ranks 0-2,4``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.text.ranges import in_ranges

if TYPE_CHECKING:
    from collections.abc import Iterable


def named(numbers: Iterable[int]) -> str:
    """One rank, or several."""
    ordered = sorted(set(numbers))
    return f"rank{'s' * (len(ordered) != 1)} {in_ranges(ordered)}"
