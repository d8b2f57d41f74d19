"""MI command for the native modules of the program: what is loaded where, and whether its symbols are read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.ingdb import libraries
from pyharness.ingdb.mi.commands import mi_command
from pyharness.model.user_code import is_user_binary

if TYPE_CHECKING:
    from pyharness.ingdb.libraries import Library

_VERSION = re.compile(r"\.so\.([\d.]+)$|-([\d.]+)\.so$")


@mi_command("ph-modules")
def _modules(_request: dict[str, Any]) -> Any:
    """Every mapped ELF file, in order of address."""
    return [_module(library) for library in libraries.libraries()]


def _module(library: Library) -> dict[str, Any]:
    own = is_user_binary(library.path)
    version = _VERSION.search(Path(library.path).resolve().name)
    return {
        "id": f"{library.start:#x}",
        "name": Path(library.path).name,
        "path": library.path,
        "symbols": _symbols(library, own=own),
        "symbol_file": _symbol_file(library),
        "start": library.start,
        "end": library.end,
        "user_code": own,
        "version": next(filter(None, version.groups()), "") if version else "",
        "build_id": library.elf.build_id,
    }


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
