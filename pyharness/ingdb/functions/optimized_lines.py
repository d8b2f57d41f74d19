"""Lines of optimized code where gdb would stop somewhere else, or never.

- GCC puts what it takes to run seldom, as a ``throw``, before its function. gdb sets a breakpoint there where the
  function begins: it takes code before the end of a prologue for a part of it (``skip_prologue_sal``, gdb 13 to 16).
- Where a line begins with what is inlined into it, or another line begins at the same address, gdb drops the row that
  says so. With no other row that begins a statement it slides to a later line, out of a ``catch`` for example.
- The code of a line may lie among that of others, so that no statement of it begins anywhere. gdb slides, and in some
  instances of a template only. A row within a statement is better than that.
- A line whose code is all inlined, as that of ``map.insert(...)``, has no row at all. gdb slides, into another branch
  for example. The code that is inlined says for which line it is.

So lines of code that GCC has optimized are looked up in the line table, and a stop there is at that line, whatever gdb
says of the address (``asked_places``).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.functions import asked_places
from pyharness.ingdb.functions.around import functions_around, is_of_library, symtab_of
from pyharness.ingdb.functions.user_functions import lines_at
from pyharness.ingdb.process import libraries
from pyharness.reading.binaries.line_table import Line
from pyharness.reading.functions.optimization import is_optimized
from pyharness.reading.functions.places_at import calls_inlined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyharness.ingdb.functions.user_functions import UserFunction
    from pyharness.reading.binaries.line_table import LineTable


def addresses(file: str, line: int, functions: Sequence[UserFunction], *, evaluates: bool) -> list[int]:
    """Where to stop at a line of a file that has ``functions``, or the next line with code; empty: as gdb has it.

    ``evaluates``: whether something is computed there, for which gdb would look no further than a function that is
    inlined.
    """
    optimized = [function for function in functions if _is_optimized(function)]
    if not optimized:
        return []
    rows, usual = list(_rows(optimized)), _as_gdb_has_it(file, line)
    if not any(row.line >= line for row in rows):
        rows = list(_rows_of_gdb(optimized))  # the last lines of a file may begin no statement
    meant = [row for row in rows if row.line == line]
    if not usual and not meant:
        meant = _from(line, rows, optimized)
        line = min((row.line for row in meant), default=line)
    if not usual:
        usual = _as_gdb_has_it(file, line)
    of_line = {row.address: row for row in meant}
    found = _stops(of_line, optimized[0].file)
    known = {_block(pc, optimized[0].file) for pc in found}
    # gdb has a place for each block, and also knows copies of a function that were inlined into other files.
    found = sorted({*found, *(pc for pc in usual if _block(pc, optimized[0].file) not in known)})
    if found == usual and not (evaluates and any(_begins_inlined(pc, optimized[0].file) for pc in found)):
        return []
    for pc in found:
        asked = of_line.get(pc) or Line(pc, optimized[0].file, line)
        asked_places.note(asked, _depth_of_caller(pc, asked))
    return found


def _begins_inlined(pc: int, file: str) -> bool:
    """Whether an address lies in what a library has inlined into the function of its line."""
    around = list(functions_around(pc))
    return len(around) > 1 and is_of_library(around[0][0].print_name, file)


def _depth_of_caller(pc: int, asked: Line) -> int | None:
    """Into how many functions the one is inlined that calls what is inlined at an address; ``None`` for no call.

    gdb gives an inlined function the line of the call, and its file.
    """
    inlined = [function for function, _ in functions_around(pc)][:-1]
    called = ((function.line, function.symtab.fullname()) for function in reversed(inlined))
    return next((depth for depth, place in enumerate(called) if place == (asked.line, asked.file)), None)


def _from(line: int, rows: Sequence[Line], functions: Sequence[UserFunction]) -> list[Line]:
    """The next line with code in each function, or instance of a template, that has code before and behind a line.

    gdb slides in some of the instances only.
    """
    file = functions[0].file
    lacking = {_outermost(pc): pc for pc in _beside(line, rows, functions)}
    calls = _calls(line, lacking.values(), file)
    called = {_outermost(row.address) for row in calls if row.line == line}
    within = [row for row in _rows_of_gdb(functions) if row.line == line and _outermost(row.address) not in called]
    later = [*calls, *within, *(row for row in rows if row.line > line)]
    found: list[Line] = []
    for _, of_line in groupby(sorted(later, key=lambda row: row.line), key=lambda row: row.line):
        new = [row for row in of_line if _outermost(row.address) in lacking]
        for row in new:
            lacking.pop(_outermost(row.address), None)
        found += new
        if not lacking:
            break
    behind = min((row.line for row in rows if row.line > line), default=0)
    return found or [row for row in rows if row.line == behind]  # no function has the line


def _beside(line: int, rows: Sequence[Line], functions: Sequence[UserFunction]) -> Iterator[int]:
    """Addresses in each function that a line may be in: one that begins before it, or has the line before it."""
    begun = max((function.line for function in functions if function.line <= line), default=0)
    yield from (function.entry for function in functions if function.line == begun)
    before = max((row.line for row in rows if row.line < line), default=0)
    yield from (row.address for row in rows if row.line == before)


def _outermost(pc: int) -> tuple[int, int] | None:
    """Where the code of the function lies that an address is in, whatever is inlined there."""
    return next(reversed([extent for _, extent in functions_around(pc)]), None)


def _calls(line: int, functions: Iterable[int], file: str) -> list[Line]:
    """Where the code of inlined calls begins, from a line on: the first of each line and function that has it.

    ``functions``: an address in each of those that are to be searched.
    """
    first: dict[tuple[int, int, int], int] = {}
    for pc in functions:
        library = libraries.library_at(pc)
        for call in calls_inlined(library.elf, pc - library.bias, file) if library else ():
            if library and call.line >= line:
                key, entry = (library.bias, call.within, call.line), call.entry + library.bias
                first[key] = min(first.get(key, entry), entry, key=lambda each: (_is_cold(each), each))
    return [Line(pc, file, of_line) for (_, _, of_line), pc in first.items()]


def _as_gdb_has_it(file: str, line: int) -> list[int]:
    """Where gdb stops at a line, but where it takes the place for a part of a prologue."""
    try:
        places = gdb.decode_line(f'"{file}":{line}')[1] or ()
    except gdb.error:
        return []
    return sorted({place.pc for place in places if place.line == line and not _is_cold(place.pc)})


def _is_optimized(function: UserFunction) -> bool:
    library = libraries.library_at(function.entry)
    return library is not None and is_optimized(library.elf, function.entry - library.bias)


def _rows(functions: Sequence[UserFunction]) -> Iterator[Line]:
    """The rows of the functions' files that begin statements, in the units of the functions; addresses in memory."""
    files = {function.file for function in functions}
    found: list[tuple[int, LineTable]] = []
    for function in functions:
        library = libraries.library_at(function.entry)
        if library is None or any(table.sequence_at(function.entry - bias) for bias, table in found):
            continue
        if table := lines_at(library.elf, function.entry - library.bias):
            found.append((library.bias, table))
    for bias, table in found:
        for file in files:
            yield from (row._replace(address=row.address + bias) for row in _rows_of(table, file))


@lru_cache(maxsize=256)
def _rows_of(table: LineTable, file: str) -> list[Line]:
    """The rows of a file in a unit; breakpoints are looked up again whenever a library is loaded."""
    found: list[Line] = []
    for sequence in table.sequences:
        numbers = {number for number, name in enumerate(sequence.names) if name == file}
        indices = range(len(sequence.addresses) - 1)
        found += [sequence.row(index) for index in indices if sequence.files[index] in numbers]
    return found


def _rows_of_gdb(functions: Sequence[UserFunction]) -> Iterator[Line]:
    """All rows that gdb keeps of the functions' files, those within statements, too."""
    tables = {each.fullname(): each.linetable() for function in functions if (each := symtab_of(function.entry))}
    return (Line(row.pc, file, row.line) for file, table in tables.items() for row in table)


def _stops(rows: Iterable[int], file: str) -> list[int]:
    """The first address of a line of a file in each function, or copy of an inlined one.

    One of a library's that is inlined there counts for what it is inlined into. An address before its function is taken
    where there is no other.
    """
    found: dict[tuple[int, int] | None, int] = {}
    for pc in sorted(rows, key=lambda pc: (_is_cold(pc), pc)):
        around = list(functions_around(pc))
        while len(around) > 1 and is_of_library(around[0][0].print_name, file):
            del around[0]
        found.setdefault(around[0][1] if around else None, pc)
    return sorted(found.values())


def _block(pc: int, file: str) -> tuple[int, int] | None:
    """Where the block lies that an address is in, or in which what a library has there is inlined."""
    found = gdb.block_for_pc(pc)
    for function, _ in list(functions_around(pc))[:-1]:
        if not is_of_library(function.print_name, file):
            break
        while found and found.function != function:
            found = found.superblock
        found = found.superblock if found else None
    return (found.start, found.end) if found else None


def _is_cold(pc: int) -> bool:
    """Whether code lies before the function that it belongs to, whatever is inlined there."""
    functions = [function for function, _ in functions_around(pc)]
    entry = functions[-1].value().address if functions else None
    return entry is not None and pc < int(entry)
