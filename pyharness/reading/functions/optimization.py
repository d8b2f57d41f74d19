"""Which code of a library was compiled with optimization: the compiler says so for each unit."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING

from pyharness.reading.binaries.debug_entries import PRODUCER, units

if TYPE_CHECKING:
    from pyharness.reading.binaries.elf import Elf

_GNU = b"GNU "
_LEVEL = re.compile(rb" -O(\d|s|g|z|fast|)(?= |$)")
_OPTIMIZING = {b"", b"1", b"2", b"3", b"s", b"z", b"g", b"fast"}


def is_optimized(elf: Elf, address: int) -> bool:
    """Whether the code at an address is: then rows after a function's first may lie on a branch that is not taken.

    Only GCC says it. A library may have code of both kinds: one file that is to be debugged, among others.
    """
    levels = _levels(elf)
    return address in _Optimized.of(elf) if len(levels) > 1 else True in levels


def may_be_optimized(elf: Elf, address: int) -> bool:
    """Whether the code at an address is, or was made by a compiler that does not say so, as Clang and rustc."""
    return is_optimized(elf, address) or not _levels(elf)


@lru_cache(maxsize=64)
def _levels(elf: Elf) -> frozenset[bool]:
    """What the units of a file say, without reading them: most files are of one kind."""
    source = elf.with_section(".debug_str")
    strings = bytes(source.section_data(".debug_str")) if source else b""
    found: set[bool] = set()
    at = strings.find(_GNU)
    while at >= 0:
        end = strings.find(b"\0", at)
        if at == 0 or strings[at - 1] == 0:
            found.add(_optimizes(strings[at:end]))
        at = strings.find(_GNU, end)
    return frozenset(found)


def _optimizes(producer: bytes) -> bool:
    levels = _LEVEL.findall(producer)
    return bool(levels) and levels[-1] in _OPTIMIZING  # the last one counts


class _Optimized:
    """The addresses of a file whose unit says that it is optimized."""

    def __init__(self, elf: Elf) -> None:
        source = elf.with_section(".debug_info")
        found = (
            code
            for unit in (units(source) if source else ())
            if _optimizes(unit.text(unit.root, PRODUCER).encode())
            for code in unit.ranges(unit.root)
        )
        self._ranges = sorted(found)

    def __contains__(self, address: int) -> bool:
        index = bisect_right(self._ranges, (address, 1 << 64)) - 1
        return index >= 0 and address < self._ranges[index][1]

    @staticmethod
    @lru_cache(maxsize=16)
    def of(elf: Elf) -> _Optimized:
        """The addresses of a file, which are looked for once."""
        return _Optimized(elf)
