"""Times, sizes and counts as people read them: three digits that mean something, and a unit."""

from __future__ import annotations


def duration(nanoseconds: float) -> str:
    """``850 ns``, ``12.3 us``, ``4.56 ms``, ``1.20 s``."""
    return _scaled(nanoseconds, 1000, ("ns", "us", "ms", "s"))


def size(count: float) -> str:
    """``512 B``, ``1.50 KiB``, ``16.0 MiB``."""
    return _scaled(count, 1024, ("B", "KiB", "MiB", "GiB", "TiB"))


def share(part: float, whole: float) -> str:
    """``12.3%``."""
    return f"{100 * part / whole:.1f}%" if whole else ""


def number(count: int, one: str, many: str = "") -> str:
    """``1,234 ops``, ``1 op``."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def _scaled(value: float, step: int, units: tuple[str, ...]) -> str:
    unit = 0
    while value >= step - 0.5 and unit < len(units) - 1:
        value /= step
        unit += 1
    digits = 0 if unit == 0 or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {units[unit]}"
