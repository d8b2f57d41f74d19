"""Numbers that a person gives as options: one check for the command line and for Python, before anything starts."""

from __future__ import annotations

import math

from pyharness.model.errors import UsageError

SEEDS = range(-(1 << 63), 1 << 64)
"""What ``torch.manual_seed`` takes."""
_DAY = 86400.0
_LONG = 60


def tolerance(name: str, value: float | None) -> float | None:
    """How near is equal; ``None`` is left to the dtype. Within infinity all numbers are equal: it compares nothing."""
    if value is not None and not (_is_number(value) and 0 <= value < math.inf):
        raise UsageError(f"{name} cannot be {_shown(value)}.", "Give a finite number from 0 on, e.g. 1e-5.")
    return value


def seed(value: int) -> int:
    """Where random numbers begin."""
    return whole("seed", value, SEEDS)


def seconds(name: str, value: float) -> float:
    """How long something may take."""
    if not (_is_number(value) and 0 < value <= _DAY):
        raise UsageError(f"{name} cannot be {_shown(value)} s.", "Give seconds, more than 0 and a day at most.")
    return value


def whole(name: str, value: int, within: range) -> int:
    """A whole number, ``within`` what there can be."""
    if isinstance(value, bool) or not isinstance(value, int) or value not in within:
        remedy = f"Give a whole number from {within.start} to {within.stop - 1}."
        raise UsageError(f"{name} cannot be {_shown(value)}.", remedy)
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        return "so large a number"
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"
