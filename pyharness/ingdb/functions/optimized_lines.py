"""Lines of optimized code where gdb would stop somewhere else, or never.

- GCC puts what it takes to run seldom, as a ``throw``, before its function. gdb sets a breakpoint there where the
  function begins: it takes code before the end of a prologue for a part of it (``skip_prologue_sal``, gdb 13 to 16).
- Where a line begins with what is inlined into it, or another line begins at the same address, gdb drops the row that
  says so. With no other row that begins a statement it slides to a later line, out of a ``catch`` for example.
- A line whose code is all inlined, as that of ``map.insert(...)``, has no row at all. gdb slides, into another branch
  for example. The code that is inlined says for which line it is.

So lines of code that GCC has optimized are looked up in the line table, and a stop there is at that line, whatever gdb
says of the address.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import gdb

from pyharness.ingdb.functions.user_functions import lines_at
from pyharness.ingdb.process import libraries
from pyharness.model.user_code import is_user_source
from pyharness.reading.binaries.line_table import Line
from pyharness.reading.functions.function_name import matches
from pyharness.reading.functions.optimization import is_optimized, may_be_optimized
from pyharness.reading.functions.places_at import calls_inlined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyharness.ingdb.functions.user_functions import UserFunction
    from pyharness.reading.binaries.line_table import LineTable
    from pyharness.reading.functions.places_at import InlinedCall

_LIBRARIES = re.compile(r"(std|__gnu_cxx|__cxxabiv1|pybind11|nanobind)::")
_TORCH = re.compile(r"(at|c10|torch|caffe2)::")
_TORCHS_SOURCE = re.compile(r"/(aten|c10|torch)/")


class _Asked:
    """The lines that breakpoints at addresses stand for. A gdb has one program: so they are one for it."""

    lines: ClassVar[dict[int, Line]] = {}
    depths: ClassVar[dict[int, int]] = {}
    """Into how many functions the one is inlined whose line it is, for an address at which its call is inlined."""


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
    if not usual:
        if all(row.line != line for row in rows):
            rows += _calls_from(line, rows, optimized[0].file)
        line = min((row.line for row in rows if row.line >= line), default=line)
        usual = _as_gdb_has_it(file, line)
    of_line = {row.address: row for row in rows if row.line == line}
    found = _stops(of_line, optimized[0].file)
    known = {_block(pc, optimized[0].file) for pc in found}
    # gdb has a place for each block, and also knows copies of a function that were inlined into other files.
    found = sorted({*found, *(pc for pc in usual if _block(pc, optimized[0].file) not in known)})
    if found == usual and not (evaluates and any(_begins_inlined(pc, optimized[0].file) for pc in found)):
        return []
    for pc in found:
        _Asked.lines[pc] = asked = of_line.get(pc) or Line(pc, optimized[0].file, line)
        depth = _depth_of_caller(pc, asked)
        if depth is not None:
            _Asked.depths[pc] = depth
    return found


def may_be_inlined(functions: Iterable[UserFunction]) -> bool:
    """Whether the compiler may have inlined one of the functions somewhere."""
    found = ((libraries.library_at(function.entry), function.entry) for function in functions)
    return any(library and may_be_optimized(library.elf, entry - library.bias) for library, entry in found)


def begins_copy(place: gdb.Symtab_and_line, name: str) -> bool:
    """Whether a function of the user's of that name, inlined into another, begins at a place; a stop there is in it."""
    file = place.symtab.fullname() if place.symtab else None
    around = [function for function, _ in functions_around(place.pc)]
    inside = next((index for index, each in enumerate(around[:-1]) if matches(each.print_name, name)), None)
    if file is None or inside is None or not is_user_source(file):
        return False
    _Asked.lines[place.pc] = Line(place.pc, file, place.line)
    _Asked.depths[place.pc] = len(around) - 1 - inside
    return True


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


def _calls_from(line: int, rows: Sequence[Line], file: str) -> list[Line]:
    """Where the code of inlined calls begins, from a line on to the next one of ``rows``: the first of each function.

    Of the functions that have code before and behind the line.
    """
    before = max((row.line for row in rows if row.line < line), default=0)
    behind = min((row.line for row in rows if row.line > line), default=line + 1)
    first: dict[tuple[int, int, int], int] = {}
    for bias, call in _calls_beside([row for row in rows if row.line in {before, behind}], file):
        if line <= call.line < behind:
            key, pc = (bias, call.within, call.line), call.entry + bias
            first[key] = min(first.get(key, pc), pc, key=lambda each: (_is_cold(each), each))
    return [Line(pc, file, of_line) for (_, _, of_line), pc in first.items()]


def _calls_beside(rows: Sequence[Line], file: str) -> Iterator[tuple[int, InlinedCall]]:
    """The inlined calls in functions that have one of the rows, with where their libraries are loaded."""
    seen: set[tuple[int, int]] = set()
    for row in rows:
        extent = next(reversed([extent for _, extent in functions_around(row.address)]), None)
        library = libraries.library_at(row.address)
        if library is None or extent is None or extent in seen:
            continue
        seen.add(extent)
        for call in calls_inlined(library.elf, row.address - library.bias, file):
            yield library.bias, call


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


def forget() -> None:
    """Forget the lines of addresses: a library has gone."""
    _Asked.lines.clear()
    _Asked.depths.clear()


def is_asked(spec: str) -> bool:
    """Whether a place, ``*0x...`` for an address, is such a line's: gdb may take the function there for another one."""
    return spec.startswith("*") and int(spec[1:], 16) in _Asked.lines


def standing(frame: gdb.Frame) -> tuple[gdb.Frame, str, int] | None:
    """The frame, file and line of a thread whose newest frame is at such a place."""
    asked, depth = _Asked.lines.get(frame.pc()), _Asked.depths.get(frame.pc())
    if asked is None:
        return None
    frames = _inlined_into(frame)
    for inside, each in enumerate(frames, 1):
        outside = len(frames) - inside
        if outside == depth if depth is not None else _is_asked(each, asked.file, is_inlined=outside > 0):
            return each, asked.file, asked.line
    return None


def _inlined_into(frame: gdb.Frame) -> list[gdb.Frame]:
    """The frame, and those that it is inlined into."""
    found = [frame]
    while found[-1].type() == gdb.INLINE_FRAME and (older := found[-1].older()) is not None:
        found.append(older)
    return found


def _is_asked(frame: gdb.Frame, file: str, *, is_inlined: bool) -> bool:
    return not is_of_library(frame.name() or "", file) and file == _file_of(frame, is_inlined=is_inlined)


def _file_of(frame: gdb.Frame, *, is_inlined: bool) -> str:
    """The file of a function: an inlined one's symbol has the file that calls it, its frame that of its line."""
    function = frame.function()
    symtab = frame.find_sal().symtab if is_inlined or function is None else function.symtab
    return symtab.fullname() if symtab else ""


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


def symtab_of(entry: int) -> gdb.Symtab | None:
    """The file of the function that begins at an address, whatever is inlined there."""
    functions = [function for function, _ in functions_around(entry)]
    return functions[-1].symtab if functions else None


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


def is_of_library(name: str, file: str) -> bool:
    """Whether no line of a file is in a function: compilers, generators of bindings or torch bring it."""
    return bool(_LIBRARIES.match(name)) or bool(_TORCH.match(name) and not _TORCHS_SOURCE.search(file))


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
