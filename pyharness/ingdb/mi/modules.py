"""MI command for the native modules of the program: what is loaded where, and whether its symbols are read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.ingdb.mi.commands import handles
from pyharness.ingdb.process import libraries
from pyharness.model.user_code import is_user_binary
from pyharness.protocol import mi

if TYPE_CHECKING:
    from pyharness.reading.process.mapped_files import Library

_VERSION = re.compile(r"\.so\.([\d.]+)$|-([\d.]+)\.so$")


@handles(mi.Modules)
def _modules(_request: mi.Modules) -> tuple[mi.Module, ...]:
    return tuple(_module(library) for library in libraries.libraries())


def _module(library: Library) -> mi.Module:
    own = is_user_binary(library.path)
    version = _VERSION.search(Path(library.path).resolve().name)
    return mi.Module(
        id=f"{library.start:#x}",
        name=Path(library.path).name,
        path=library.path,
        symbols=_symbols(library, own=own),
        symbol_file=_symbol_file(library),
        start=library.start,
        end=library.end,
        user_code=own,
        version=next(filter(None, version.groups()), "") if version else "",
        build_id=library.elf.build_id,
    )


def _symbols(library: Library, *, own: bool) -> str:
    with_lines = library.elf.with_section(".debug_line") is not None
    if libraries.is_loaded(library):
        return "symbols read" if with_lines else "names read, no debug information"
    if own:
        return "not read" if with_lines else "no debug information"
    return f"skipped: {Path(library.path).name.partition('.')[0]} is not yours"


def _symbol_file(library: Library) -> str:
    found = library.elf.with_section(".debug_line")
    return found.path if found else ""
