"""Counts in the program how often a breakpoint's condition held: debugpy stops at either of the two conditions."""

from __future__ import annotations

from collections import Counter

from pyharness.model.conditions.hits import holds

_hits: Counter[int] = Counter()


def due(number: int, condition: str) -> bool:
    """Count a hit of the breakpoint ``number``; whether it is one that the hit condition wants."""
    _hits[number] += 1
    return holds(condition, _hits[number])
