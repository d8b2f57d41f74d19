"""Names of native functions without gdb's symbols: by the start of the function, from the library's own tables."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.process import libraries
from pyharness.model.glue import cython_name
from pyharness.model.plumbing import SIGNAL_HANDLER
from pyharness.reading.functions.function_name import bare_name, matches, without_template_arguments
from pyharness.reading.functions.symbol_names import demangled, function_at

if TYPE_CHECKING:
    from pyharness.reading.binaries.elf import Elf
    from pyharness.reading.binaries.symbol_table import Symbol

UNKNOWN = "??"
"""The name of a function that no table names."""

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
    if name:
        return (cython_name(name) if frame.function() else bare_name(name)), path
    if library is None:
        return UNKNOWN, path
    called = frame.level() > 0
    return function_at(library.elf, pc - library.bias - called) or UNKNOWN, path


def address_of_function(name: str) -> list[int]:
    """Addresses of the functions of that name (qualified, or its last part) in any library, read by gdb or not.

    Operators and destructors are not found: their mangled names do not contain what a person types.
    """
    addresses = []
    for library in libraries.libraries():
        addresses += [address + library.bias for address in _addresses(library.elf, name)]
    return list(dict.fromkeys(addresses))


def libraries_with(name: str) -> tuple[str, ...]:
    """The paths of the libraries in which ``address_of_function`` finds such functions."""
    return tuple(library.path for library in libraries.libraries() if _addresses(library.elf, name))


@lru_cache(maxsize=1024)
def _addresses(elf: Elf, name: str) -> tuple[int, ...]:
    last = without_template_arguments(bare_name(name)).rsplit("::", 1)[-1].encode()
    if not last:
        return ()
    found: list[Symbol] = []
    for table in elf.symbol_tables:
        found += table.with_name_containing(
            b"%d%s" % (len(last), last), lambda symbol: matches(demangled(symbol), name)
        )
        if last.decode() == name and (plain := table.named(last)):
            found.append(plain)
    functions = (symbol for symbol in found if symbol.is_function and not _PARTS.search(symbol.name))
    return tuple(symbol.address for symbol in functions)
