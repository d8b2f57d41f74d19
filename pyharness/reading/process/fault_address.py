"""What lies at an address that a program should not have touched: text for a person, from the memory map alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

_NULL = 1 << 16
_NEAR = 1 << 20
_STACK_REACH = 1 << 16
_CANONICAL_LOW, _CANONICAL_HIGH = 1 << 47, (1 << 64) - (1 << 47)


@frozen
class Area:
    """One line of ``/proc/PID/maps``."""

    start: int
    end: int
    permissions: str
    name: str

    def __str__(self) -> str:
        return self.name or "anonymous memory"


def areas(text: str) -> list[Area]:
    """The areas in order of address."""
    found = []
    for line in filter(None, text.split("\n")):
        span, permissions, *rest = line.split(None, 5)
        start, _, end = span.partition("-")
        found.append(Area(int(start, 16), int(end, 16), permissions, rest[3] if len(rest) > 3 else ""))
    return found


def described(address: int, memory: Sequence[Area], stack_pointer: int) -> str:
    """What ``address`` is to a program with that memory, on a thread with that stack pointer."""
    if address < _NULL:
        return (
            "a null pointer" if not address else f"a null pointer and {address} bytes: a member or element of nothing"
        )
    if _CANONICAL_LOW <= address < _CANONICAL_HIGH:
        return "no address at all (not canonical): the pointer is garbage"
    inside = next((area for area in memory if area.start <= address < area.end), None)
    below = -_STACK_REACH <= address - stack_pointer < _STACK_REACH
    if below and (inside is None or inside.permissions.startswith("---")):
        return "just beyond this thread's stack: it has overflowed"
    if inside:
        return _mapped(inside)
    return _unmapped(address, memory)


def _mapped(area: Area) -> str:
    if area.permissions.startswith("---"):
        return f"protected memory that may not be touched ({area})"
    if "w" not in area.permissions:
        return f"read-only memory ({area})"
    return f"writable memory ({area})"


def _unmapped(address: int, memory: Sequence[Area]) -> str:
    before = max((area for area in memory if area.end <= address), key=lambda area: area.end, default=None)
    after = min((area for area in memory if area.start > address), key=lambda area: area.start, default=None)
    if before and address - before.end < _NEAR:
        return f"unmapped: {address - before.end} bytes past the end of {before}"
    if after and after.start - address < _NEAR:
        return f"unmapped: {after.start - address} bytes before the start of {after}"
    return "unmapped memory: freed, or never the program's"
