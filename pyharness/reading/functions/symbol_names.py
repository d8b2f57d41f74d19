"""Names of functions by an address in their library: by where the function starts, from the library's own tables."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pyharness.reading.binaries.dwarf_cfi import call_frames
from pyharness.reading.functions.cxx_class import demangle
from pyharness.reading.functions.function_name import bare_name, without_template_arguments
from pyharness.reading.functions.rust_names import rust_name

if TYPE_CHECKING:
    from pyharness.reading.binaries.elf import Elf


@lru_cache(maxsize=8192)
def function_at(elf: Elf, pc: int) -> str:
    """Name of the function that contains ``pc`` (an address of the file's own), empty where no table has it."""
    entry = call_frames(elf).entry(pc)
    return _name(elf, entry.start if entry else None, pc)


def with_namespace(elf: Elf, pc: int, name: str) -> str:
    """The name of the function that contains ``pc`` as symbols have it, where ``name`` is its last part alone.

    Clang's debug information without types (``-gline-tables-only``) has no other.
    """
    if "::" in name:
        return name
    whole, last = function_at(elf, pc), f"::{without_template_arguments(name)}"
    return whole if without_template_arguments(whole).endswith(last) else name


@lru_cache(maxsize=8192)
def _name(elf: Elf, start: int | None, pc: int) -> str:
    if start is not None:
        for table in elf.symbol_tables:
            if symbol := table.starting_at(start):
                return _shown(symbol.name)
    found = next((symbol for table in elf.symbol_tables if (symbol := table.containing(pc))), None)
    return _shown(found.name) if found else ""


def _shown(name: bytes) -> str:
    return bare_name(demangled(name.partition(b"@")[0]))


@lru_cache(maxsize=64)
def symbols_in_full(name: str) -> re.Pattern[bytes]:
    """How the symbols of functions begin whose full name is ``name``: those of a few others do, too.

    Itanium C++ ABI, 5.1.3: the parts of a nested name follow each other, each behind its length and before its template
    arguments. Those of functions inside of functions have another form, and no such name.
    """
    parts = without_template_arguments(bare_name(name).removeprefix("::")).encode().split(b"::")
    spelled = [b"St" if part == b"std" else b"L?%d%s" % (len(part), re.escape(part)) for part in parts]
    nested = b"".join(b"(?:12_GLOBAL__N_1)?%s(?:I.*E)?" % each for each in spelled)
    return re.compile(b"_Z(?:N[rVKRO]*)?" + nested)


@lru_cache(maxsize=8192)
def demangled(name: bytes) -> str:
    """The name of a symbol in C++ or Rust, or the symbol itself where it has none."""
    text = name.decode("utf-8", "replace")
    return rust_name(text) or demangle(text) if text.startswith(("_Z", "_R")) else text
