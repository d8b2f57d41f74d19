"""Where to stop in a kernel of inductor's: in its loops, at the code of the lines that work for nodes.

In optimized code, which is the default, a line has little code of its own: most of it is vector operations, inlined
from torch's headers. The debug information says which line of the kernel each was inlined into.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING

from pyharness.ingdb.functions.user_functions import function_around, user_functions
from pyharness.model.kernel_files import is_cxx
from pyharness.model.kernel_frames import mapped_lines
from pyharness.reading.binaries.debug_entries import unit_at
from pyharness.reading.binaries.line_table import line_table
from pyharness.reading.functions.places_at import inlined_calls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.ingdb.functions.user_functions import UserFunction
    from pyharness.reading.binaries.elf import Elf


def stops_in(elf: Elf, bias: int) -> set[int]:
    """The addresses at which to stop in a library: behind each function's prologue, in kernels in their loops.

    A kernel that runs in parallel has its loops in a function of their own, behind which its beginning is no place.
    """
    functions = user_functions(elf, bias)
    loops = {each.entry: _loops(elf, bias, each) for each in functions}
    kernels = {each.file for each in functions if loops[each.entry]}
    beginnings = {each.stop_address for each in functions if each.file not in kernels}
    return beginnings.union(*loops.values())


@lru_cache(maxsize=64)
def has_kernels(elf: Elf) -> bool:
    """Whether a library may have kernels, by what its files are called."""
    return any(is_cxx(function.file) for function in user_functions(elf))


def lines_around(elf: Elf, bias: int, pc: int) -> set[int]:
    """Where to stop in the kernel, or the wrapper in C++, that ``pc`` is in; empty for every other function."""
    function = function_around(elf, bias, pc)
    return _loops(elf, bias, function) if function else set()


def _loops(elf: Elf, bias: int, function: UserFunction) -> set[int]:
    lines = mapped_lines(function.file)
    found = _addresses(elf, function.entry - bias, function.file, lines) if lines else ()
    return {address + bias for address in found}


@lru_cache(maxsize=256)
def _addresses(elf: Elf, entry: int, file: str, lines: frozenset[int]) -> frozenset[int]:
    try:
        return frozenset((*_own(elf, entry, file, lines), *_inlined(elf, entry, lines)))
    except (IndexError, ValueError, KeyError):  # damaged
        return frozenset()


def _own(elf: Elf, entry: int, file: str, lines: frozenset[int]) -> list[int]:
    """Where the line table has a line of the kernel itself."""
    symbol = elf.symbol_tables[0].starting_at(entry) if elf.symbol_tables else None
    found = _rows(elf, file, lines)
    return found[bisect_left(found, entry) : bisect_left(found, entry + symbol.size)] if symbol else []


@lru_cache(maxsize=64)
def _rows(elf: Elf, file: str, lines: frozenset[int]) -> list[int]:
    """Where some code of the library begins that belongs to one of the lines, in order."""
    rows = (row for sequence in line_table(elf).sequences for row in sequence.rows())
    return sorted(row.address for row in rows if row.line in lines and row.file == file)


def _inlined(elf: Elf, entry: int, lines: frozenset[int]) -> Iterator[int]:
    """Where code begins that is inlined into a line of the kernel."""
    source = elf.with_section(".debug_line")
    unit = unit_at(source, entry) if source else None
    for line, addresses in inlined_calls(unit, entry) if unit else ():
        if line in lines:
            yield from addresses
