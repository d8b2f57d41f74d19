"""Lines of optimized code where gdb would stop somewhere else, or never.

- GCC puts what it takes to run seldom, as a ``throw``, before its function. gdb sets a breakpoint there where the
  function begins: it takes code before the end of a prologue for a part of it (``skip_prologue_sal``, gdb 13 to 16).
- Where a line begins with what is inlined into it, gdb drops the row that says so. With no other row that begins a
  statement it slides to a later line, out of a ``catch`` for example, though the line has code.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

import gdb

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_LIBRARIES = re.compile(r"(std|__gnu_cxx|__cxxabiv1|pybind11|nanobind)::")


def addresses(file: str, line: int, functions: Iterable[int]) -> list[int]:
    """Where to stop at such a line of a file that has ``functions``; empty where gdb's own way is right."""
    try:
        places: Sequence[gdb.Symtab_and_line] = gdb.decode_line(f'"{file}":{line}')[1] or ()
    except gdb.error:
        places = ()
    if not any(place.line == line for place in places):
        rows = _rows([place.symtab for place in places] + [symtab_of(entry) for entry in functions])
        if not places:  # no later line begins a statement, which gdb would slide to
            line = min((row.line for row in rows if row.line >= line and _shows(row.pc, row.line)), default=line)
        if exact := [row.pc for row in rows if row.line == line and _shows(row.pc, line)]:
            return _stops(exact)
    if not any(_is_cold(place.pc) for place in places):
        return []
    lines = {place.line for place in places}
    rows = _rows(place.symtab for place in places)
    return _stops([place.pc for place in places] + [row.pc for row in rows if row.line in lines])


def _shows(pc: int, line: int) -> bool:
    """Whether a thread that stands there is at that line, to gdb."""
    return gdb.find_pc_line(pc).line == line


def _rows(tables: Iterable[gdb.Symtab | None]) -> list[gdb.LineTableEntry]:
    """All rows of those files that have code."""
    found = {table.fullname(): table.linetable() for table in tables if table}
    return [row for table in found.values() for row in table]


def symtab_of(entry: int) -> gdb.Symtab | None:
    """The file of the function that begins at an address, whatever is inlined there."""
    functions = [function for function, _ in functions_around(entry)]
    return functions[-1].symtab if functions else None


def _stops(rows: Iterable[int]) -> list[int]:
    """The first address in each function, or copy of an inlined one.

    One of a library's that is inlined there counts for what it is inlined into. An address before its function is taken
    where there is no other.
    """
    found: dict[tuple[int, int] | None, int] = {}
    for pc in sorted(rows, key=lambda pc: (_is_cold(pc), pc)):
        extents = [extent for _, extent in functions_around(pc)]
        found.setdefault(next(iter(extents[_libraries_around(pc) :]), None), pc)
    return sorted(found.values())


def _libraries_around(pc: int) -> int:
    """How many functions of libraries an address lies in that are inlined, each into the next."""
    names = [function.print_name for function, _ in functions_around(pc)]
    return sum(1 for _ in itertools.takewhile(is_of_library, names[:-1]))


def is_of_library(name: str) -> bool:
    """Whether a function is one that compilers and generators of bindings bring: no line of the user's is in it."""
    return bool(_LIBRARIES.match(name))


def _is_cold(pc: int) -> bool:
    """Whether code lies before the function that it belongs to, whatever is inlined there."""
    functions = [function for function, _ in functions_around(pc)]
    entry = functions[-1].value().address if functions else None
    return entry is not None and pc < int(entry)


def functions_around(pc: int) -> Iterator[tuple[gdb.Symbol, tuple[int, int]]]:
    """Functions that have an address, inlined ones too, the innermost first, each with where its code lies."""
    block = gdb.block_for_pc(pc)
    while block:
        if block.function:
            yield block.function, (block.start, block.end)
        block = block.superblock
