"""Every function of the user's own native code, with the address at which to stop in it; kept by build-id.

What to step into is asked again and again, so the answer is computed once: from symbols and line table alone.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
from bisect import bisect_right
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pyharness.host.regular_file import read_own
from pyharness.host.state import StateError, state_dir, write_private
from pyharness.model.frozen import frozen
from pyharness.model.glue import glue_family, wrapped_by_pyo3
from pyharness.model.user_code import included, is_user_source
from pyharness.reading.binaries.debug_entries import FOLDER, LINES, unit_at
from pyharness.reading.binaries.line_table import line_table, lines_of_unit
from pyharness.reading.functions.function_name import bare_name
from pyharness.reading.functions.optimization import is_optimized
from pyharness.reading.functions.rust_names import rust_name
from pyharness.reading.functions.symbol_names import demangled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.reading.binaries.elf import Elf
    from pyharness.reading.binaries.line_table import Line, LineTable, Sequence
    from pyharness.reading.binaries.symbol_table import Symbol

_VERSION = 18
_MOST_KEPT = 200
_GENERATED = re.compile(
    rb"^(_GLOBAL__|_Z41__static_initialization_and_destruction_0|__tcf_|__tls_init$|_ZT[hvcWH]|_ZZ?N?.*_FUN$|_init$|_fini$"
    rb"|__cxx_global)"
    rb"|\.(cold|part)\b"
)
_LIBRARY_NAME = re.compile(
    rb"_Z+N?[VKr]*[RO]?(S[tabsiod]|2at|3c10|5torch|6caffe2|8pybind11|8nanobind|9__gnu_cxx|10__cxxabiv1)"
)
"""Linkage names in the namespaces of the libraries whose templates are instantiated in everybody's code."""
_WRAPPER = b"__pyx_pw_"
"""Cython's, around the code of a ``def``, which an optimizing compiler has put into it."""
_ALIGN_STACK = rb"\x48(?:\x83\xe4.|\x81\xe4....)"  # and $-N, %rsp
_PUSH_FRAME = re.compile(
    rb"(?:\xf3\x0f\x1e\xfa)?"  # endbr64
    rb"(?:\x4c\x8d\x54\x24\x08" + _ALIGN_STACK + rb"\x41\xff\x72\xf8)?"  # lea 8(%rsp), %r10; align; push -8(%r10)
    rb"\x55\x48(?:\x89\xe5|\x8b\xec)",  # push %rbp; mov %rsp, %rbp
    re.DOTALL,
)
_ENTRY_BYTES = 32


class _Row(NamedTuple):
    """What is kept: addresses are the file's own."""

    name: str
    linkage_name: str
    file: str
    line: int
    entry: int
    stop_address: int
    stop_line: int
    stops_at_own_line: bool


@frozen
class UserFunction:
    """A function that the user wrote; addresses are in memory (with the load bias)."""

    name: str
    """Qualified C++ name without parameters."""
    linkage_name: str
    file: str
    line: int
    """Where it begins in the source."""
    entry: int
    stop_address: int
    """After the prologue, where its parameters can be read."""
    stop_line: int
    stops_at_own_line: bool
    """Whether that line is in ``file``: in optimized code it may be of what is inlined there."""


@lru_cache(maxsize=64)
def user_functions(elf: Elf, bias: int = 0) -> list[UserFunction]:
    """The user's functions in a library that is loaded at ``bias``."""
    return [
        UserFunction(name, linkage, file, line, entry + bias, stop + bias, stop_line, own)
        for name, linkage, file, line, entry, stop, stop_line, own in _rows(elf)
    ]


def function_around(elf: Elf, bias: int, pc: int) -> UserFunction | None:
    """The user's function that ``pc`` is in; ``None`` where it is in none, or nothing says how long it is."""
    entries = _entries(elf)
    after = bisect_right(entries, pc - bias)
    function = user_functions(elf, bias)[after - 1] if after else None
    symbols = (table.starting_at(function.entry - bias) for table in elf.symbol_tables) if function else ()
    symbol = next(filter(None, symbols), None)
    return function if symbol and pc - bias < symbol.address + symbol.size else None


@lru_cache(maxsize=64)
def _entries(elf: Elf) -> list[int]:
    """Where they begin, as ``_rows`` has them: in order."""
    return [row.entry for row in _rows(elf)]


@lru_cache(maxsize=64)
def _rows(elf: Elf) -> list[_Row]:
    name = f"functions-{_identity(elf)}{_patterns()}.json"
    rows = _kept(name)
    if rows is None:
        rows = [_Row(bare_name(demangled(row.linkage_name.encode())), *row[1:]) for row in compute(elf)]
        with suppress(OSError, StateError):  # a full disk only costs time
            cache = state_dir("symbols") / name
            write_private(cache, json.dumps({"version": _VERSION, "functions": rows}).encode())
            _forget_oldest(cache.parent)
    return rows


def _forget_oldest(folder: Path) -> None:
    """Every rebuild leaves a file here: keep the newest."""
    files = sorted(folder.glob("functions-*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in files[_MOST_KEPT:]:
        file.unlink(missing_ok=True)


def _identity(elf: Elf) -> str:
    """The build-id; without one, the file's path, size and time."""
    if elf.build_id:
        return elf.build_id
    status = Path(elf.path).stat()
    return hashlib.sha256(f"{elf.path}\0{status.st_size}\0{status.st_mtime_ns}".encode()).hexdigest()


def _patterns() -> str:
    """What else than the user's own was asked for decides what is found."""
    patterns = os.pathsep.join(sorted(included()))
    return f"-{hashlib.sha256(patterns.encode()).hexdigest()[:8]}" if patterns else ""


def _kept(name: str) -> list[_Row] | None:
    """What an earlier session computed; ``None`` where there is nothing or something else."""
    try:
        data = json.loads(read_own(state_dir("symbols") / name))
        if data["version"] != _VERSION:
            return None
        return [_checked(row) for row in data["functions"]]
    except (OSError, StateError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _checked(values: list[Any]) -> _Row:
    row = _Row(*values)
    if [type(value) for value in row] != [str, str, str, int, int, int, int, bool]:
        raise ValueError("not a row of functions")
    return row


def compute(elf: Elf) -> Iterator[_Row]:
    """The functions of a file, in order of address, named by their symbols."""
    table = line_table(elf)
    seen: set[int] = set()
    for symbol in sorted(_functions(elf), key=lambda symbol: symbol.address):
        if symbol.address not in seen and (row := _row(elf, table, symbol)):
            seen.add(symbol.address)
            yield row


def function_at(elf: Elf, entry: int, bias: int = 0) -> UserFunction | None:
    """The user's function that begins at ``entry`` (in memory), by the lines of its unit alone."""
    row = _row_at(elf, entry - bias)
    if row is None:
        return None
    name = bare_name(demangled(row.linkage_name.encode()))
    return UserFunction(name, row.linkage_name, row.file, row.line, entry, row.stop_address + bias, *row[6:])


@lru_cache(maxsize=4096)
def _row_at(elf: Elf, address: int) -> _Row | None:
    symbol = elf.symbol_tables[0].starting_at(address) if elf.symbol_tables else None
    if symbol is None or _GENERATED.search(symbol.name):
        return None
    try:
        table = lines_at(elf, address)
        return _row(elf, table, symbol) if table else None
    except (IndexError, ValueError, KeyError):  # damaged
        return None


def lines_at(elf: Elf, address: int) -> LineTable | None:
    """The line table of the unit whose code an address of the file is in."""
    source = elf.with_section(".debug_line")
    unit = unit_at(source, address) if source else None
    return _lines_of(unit.source, unit.root.number(LINES), unit.text(unit.root, FOLDER)) if unit else None


_lines_of = lru_cache(maxsize=64)(lines_of_unit)


def _functions(elf: Elf) -> Iterator[Symbol]:
    tables = elf.symbol_tables[:1]
    return (symbol for table in tables for symbol in table.functions() if not _GENERATED.search(symbol.name))


def _row(elf: Elf, table: LineTable, symbol: Symbol) -> _Row | None:
    sequence = table.sequence_at(symbol.address)
    if sequence is None:
        return None
    begin, optimized = _first_line(sequence, symbol), is_optimized(elf, symbol.address)
    if begin is None or _is_glue(elf, symbol, begin.file, optimized=optimized):
        return None
    stop = symbol.address if optimized else _at_own_line(sequence, symbol, _after_prologue(elf, sequence, symbol))
    name, own = symbol.name.decode("utf-8", "replace"), _own_line(sequence, sequence.at(stop))
    at_stop = own or sequence.row(sequence.at(stop))
    return _Row(name, name, begin.file, begin.line, symbol.address, stop, at_stop.line, own is not None)


def _is_glue(elf: Elf, symbol: Symbol, file: str, *, optimized: bool) -> bool:
    """Whether a generator of bindings wrote a function, and the user's own is not within it."""
    if optimized and symbol.name.startswith(_WRAPPER):
        return False
    whole = demangled(symbol.name)
    if (wrapped := wrapped_by_pyo3(whole)) and wrapped not in _rust_functions(elf):
        return False
    name = bare_name(whole) if symbol.name.startswith((b"_Z", b"_R")) else whole
    return bool(glue_family(symbol.name.decode("utf-8", "replace")) or glue_family(name, file))


@lru_cache(maxsize=16)
def _rust_functions(elf: Elf) -> frozenset[str]:
    """The names of Rust's functions that have code of their own: optimized code has many in their callers alone."""
    return frozenset(rust_name(symbol.name.decode("utf-8", "replace")) for symbol in _functions(elf))


def _first_line(sequence: Sequence, symbol: Symbol) -> Line | None:
    """Where a function of the user's begins in their source: optimized code may begin with what is inlined into it."""
    index = sequence.at(symbol.address)
    if own := _own_line(sequence, index):
        return own
    if _LIBRARY_NAME.match(symbol.name) or not symbol.size:
        return None
    later = _next_own(sequence, symbol, index)
    return _own_line(sequence, later) if later is not None else None


def _next_own(sequence: Sequence, symbol: Symbol, index: int) -> int | None:
    """The first row of the user's behind ``index`` in that function."""
    end = symbol.address + symbol.size
    inside = itertools.takewhile(
        lambda later: sequence.addresses[later] < end, range(index + 1, len(sequence.addresses) - 1)
    )
    return next((later for later in inside if _own_line(sequence, later)), None)


def _own_line(sequence: Sequence, index: int) -> Line | None:
    """The row of the user's at the address of that row: what is inlined there has rows beside it."""
    address = sequence.addresses[index]
    while index >= 0 and sequence.addresses[index] == address:
        row = sequence.row(index)
        if row.line > 0 and _is_user_source(row.file):
            return row
        index -= 1
    return None


_is_user_source = lru_cache(maxsize=4096)(is_user_source)


def _after_prologue(elf: Elf, sequence: Sequence, symbol: Symbol) -> int:
    """Where gdb would stop: the line row after the one in which the frame is set up."""
    offset = elf.offset_of(symbol.address)
    frame = _PUSH_FRAME.match(elf.data[offset : offset + _ENTRY_BYTES]) if offset is not None else None
    if frame is None:
        return _after_rusts_prologue(sequence, symbol)
    pc = symbol.address + frame.end()
    index = sequence.at(pc)
    if sequence.addresses[index] == pc:
        return pc
    following = sequence.addresses[index + 1] if index + 1 < len(sequence.addresses) else pc
    return following if following < symbol.address + symbol.size else pc


def _after_rusts_prologue(sequence: Sequence, symbol: Symbol) -> int:
    """Where rustc says that the prologue ends; it sets no frame up. Clang may say so of what is inlined first."""
    said = sequence.prologue_end(symbol.address, symbol.address + symbol.size)
    own = _own_line(sequence, said) if said is not None else None
    return own.address if own and own.file.endswith(".rs") else symbol.address


def _at_own_line(sequence: Sequence, symbol: Symbol, stop: int) -> int:
    """Past the default arguments of a first call: g++ 14 gives them the line of the header that declares them."""
    index = sequence.at(stop)
    later = None if _own_line(sequence, index) else _next_own(sequence, symbol, index)
    return stop if later is None else sequence.addresses[later]
