"""Libraries with very many functions: to know where to stop in each takes seconds, where each begins a blink.

A trap at the beginning of a function is enough to step into it from Python: the function that the thread comes to is
looked up then, by the lines of its unit.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING

from pyharness.ingdb.functions.user_functions import function_at
from pyharness.reading.binaries.debug_entries import code_ranges

if TYPE_CHECKING:
    from pyharness.ingdb.functions.user_functions import UserFunction
    from pyharness.reading.binaries.elf import Elf

MANY = 20_000
"""Functions that are looked up in half a second."""
_MOST_PASSED = 200
"""Functions of others that a thread may come to before it is quicker to know all of the user's."""


def has_many(elf: Elf) -> bool:
    """Whether a library has so many that they are not all looked up before a step."""
    return bool(elf.symbol_tables) and len(elf.symbol_tables[0]) > MANY


@lru_cache(maxsize=16)
def entries(elf: Elf) -> list[int]:
    """Where the functions begin that have debug information: addresses of the file's own, in order."""
    source = elf.with_section(".debug_line")
    addresses = elf.symbol_tables[0].function_addresses() if source else []
    found: list[int] = []
    for low, high in code_ranges(source) if source else []:
        found += addresses[bisect_left(addresses, low) : bisect_left(addresses, high)]
    return found


class Entries:
    """The functions of such libraries in one process, as far as a thread has come to them."""

    def __init__(self) -> None:
        self._seen: dict[int, int | None] = {}
        """Where one begins → where to stop in it; ``None`` for one that is not the user's."""

    @property
    def is_tired(self) -> bool:
        """Whether too many were not the user's."""
        return sum(stop is None for stop in self._seen.values()) > _MOST_PASSED

    def traps(self, elf: Elf, bias: int) -> set[int]:
        """Where to stop in the functions that were seen, and where the others begin."""
        begins = {address + bias for address in entries(elf)}
        for entry in begins & self._seen.keys():
            begins.discard(entry)
            stop = self._seen[entry]
            begins |= set() if stop is None else {stop}
        return begins

    def enter(self, elf: Elf, bias: int, address: int) -> int | None:
        """Where to stop in the function that begins at ``address``; ``None`` where that is not the user's."""
        function = function_at(elf, address, bias)
        self._seen[address] = function.stop_address if function else None
        return self._seen[address]

    def is_entry(self, elf: Elf, bias: int, address: int) -> bool:
        """Whether a function begins at ``address`` that was not seen yet."""
        return address not in self._seen and _before(elf, address - bias) == address - bias


def stopping_at(elf: Elf, bias: int, pc: int) -> UserFunction | None:
    """The user's function in which a thread stops at ``pc``."""
    start = _before(elf, pc - bias)
    function = None if start is None else function_at(elf, start + bias, bias)
    return function if function and function.stop_address == pc else None


def _before(elf: Elf, address: int) -> int | None:
    """Where the function begins that is at ``address``, or the last before it."""
    starts = entries(elf)
    index = bisect_right(starts, address)
    return starts[index - 1] if index else None
