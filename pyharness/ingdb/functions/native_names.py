"""Names of native functions without gdb's symbols: by the start of the function, from the library's own tables."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.process import libraries
from pyharness.model.glue import cython_name
from pyharness.model.plumbing import SIGNAL_HANDLER
from pyharness.model.user_code import is_user_binary
from pyharness.protocol.mi import FoundFunctions
from pyharness.reading.functions.function_name import (
    UNNAMED,
    bare_name,
    matches,
    matches_in_full,
    without_template_arguments,
)
from pyharness.reading.functions.symbol_names import demangled, function_at, symbols_in_full, with_namespace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyharness.reading.binaries.elf import Elf
    from pyharness.reading.binaries.symbol_table import Symbol
    from pyharness.reading.process.mapped_files import Library

UNKNOWN = "??"
"""The name of a function that no table names."""

_MOST_NAMED = 16
"""Functions of a library that are named to a person who has not named any in full."""
_PARTS = re.compile(rb"\.(cold|part)\b")


def name_of(frame: gdb.Frame) -> tuple[str, str | None]:
    """(function, path of its library) of a native frame; ``??`` where no symbol covers it."""
    pc = frame.pc()
    library = libraries.library_at(pc)
    path = library.path if library else gdb.solib_name(pc)
    name = frame.name()
    if frame.type() == gdb.SIGTRAMP_FRAME:
        return SIGNAL_HANDLER, path
    if name and name.startswith("_Z"):  # so GCC's debug information calls what OpenMP runs in parallel
        return bare_name(demangled(name.removesuffix("(void)").encode())), path
    address = pc - library.bias - (frame.level() > 0) if library else 0
    if name:
        name = cython_name(name) if frame.function() else bare_name(name)
        if library and frame.type() != gdb.INLINE_FRAME:
            name = with_namespace(library.elf, address, name)
        return name, path
    return (function_at(library.elf, address) if library else "") or UNKNOWN, path


def function_for_place(name: str, *, own: bool) -> list[int]:
    """Addresses of the functions that a place means: the user's by any part of their names, others' (if any) in full.

    A library of others has hundreds of ``forward``, and the user's own may be loaded only after it. Operators and
    destructors are not found: their mangled names do not contain what a person types.
    """
    addresses = []
    for library in libraries.libraries():
        if is_user_binary(library.path):
            addresses += [address + library.bias for address in _addresses(library.elf, name)]
        elif not own:
            addresses += [address + library.bias for address in _addresses_in_full(library.elf, name)]
    return list(dict.fromkeys(addresses))


def has_in_full(library: Library, name: str) -> bool:
    """Whether a library has a function of that full name."""
    return bool(_addresses_in_full(library.elf, name))


def libraries_with(name: str) -> tuple[FoundFunctions, ...]:
    """The libraries with functions of that name, or else of its last part, and some of those functions."""
    for part in (name, _last_part(name)):
        named = ((library.path, _names(library.elf, part)) for library in libraries.libraries())
        if found := tuple(FoundFunctions(path, names) for path, names in named if names):
            return found
    return ()


def _last_part(name: str) -> str:
    return without_template_arguments(bare_name(name)).rsplit("::", 1)[-1]


@lru_cache(maxsize=1024)
def _addresses(elf: Elf, name: str) -> tuple[int, ...]:
    return tuple(symbol.address for symbol in _functions(elf, name, lambda symbol: matches(demangled(symbol), name)))


@lru_cache(maxsize=1024)
def _addresses_in_full(elf: Elf, name: str) -> tuple[int, ...]:
    may_be = symbols_in_full(name)

    def is_meant(symbol: bytes) -> bool:
        # A library may have thousands of the last part, with names that take a millisecond each to be read.
        return bool(may_be.match(symbol)) and matches_in_full(demangled(symbol), name)

    return tuple(symbol.address for symbol in _functions(elf, name, is_meant))


def _names(elf: Elf, name: str) -> tuple[str, ...]:
    some = islice(_functions(elf, name, lambda symbol: matches(demangled(symbol), name)), _MOST_NAMED)
    whole = (without_template_arguments(bare_name(demangled(symbol.name))) for symbol in some)
    return tuple(dict.fromkeys(each.replace(UNNAMED, "") for each in whole))


def _functions(elf: Elf, name: str, accept: Callable[[bytes], bool]) -> Iterator[Symbol]:
    last = _last_part(name).encode()
    if not last:
        return
    for table in elf.symbol_tables:
        plain = table.named(last) if last.decode() == name else None
        named = table.with_name_containing(b"%d%s" % (len(last), last), accept)
        for symbol in chain([plain] if plain else [], named):
            if symbol.is_function and not _PARTS.search(symbol.name):
                yield symbol
