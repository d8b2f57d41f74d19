"""What a library of the user's offers to a debugger: lines, optimization, asserts, sources, an index."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from pyharness.host.visible import is_file
from pyharness.model.user_code import is_user_source
from pyharness.reading.binaries.compile_units import CompileUnit, compile_units

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.doctor.registry import Area
    from pyharness.model.results.diagnosis import Diagnosis
    from pyharness.reading.binaries.elf import Elf

_OPTION = re.compile(r"(?<!\S)-O(\S*)")
_UNOPTIMIZED = {"0", "g"}
_LOCATION_LISTS = (".debug_loclists", ".debug_loc")
_INDEXES = (".gdb_index", ".debug_names")
_LARGE = 16 << 20
"""Bytes of ``.debug_info`` that gdb does not read at once."""
_NDEBUG = re.compile(rb"\0NDEBUG(?: [^\0]*)?\0")
_DEBUG_BUILD = "`pyharness init` adds a debug build beside yours; or rebuild it with `-O0 -g` behind all other options"
_MAP = "Rebuild it here, or tell gdb: `set substitute-path FROM TO`."


def library(area: Area, elf: Elf, root: str = "") -> Iterator[Diagnosis]:
    """The findings on one library; ``root`` is where the file system of its process begins."""
    units = [unit for unit in compile_units(elf) if is_user_source(unit.file)]
    if elf.with_section(".debug_line") is None or elf.with_section(".debug_info") is None:
        yield _no_lines(area, elf)
        return
    yield _lines(area, elf, units)
    yield _symbols(area, elf)
    yield _optimized(area, elf, units)
    yield _asserts(area, elf)
    yield _sources(area, units, root)
    yield _index(area, elf)


def _no_lines(area: Area, elf: Elf) -> Diagnosis:
    kept = ".symtab" in elf.sections
    how = "was compiled without -g, or stripped of it" if kept else "is stripped"
    seen = f"It {how}: no line of it can be stopped at, and steps go over it."
    remedy = f"{_DEBUG_BUILD}, and let nothing strip it (`-s`, `-Wl,-s`, `strip`, CMake's install/strip)."
    return area.problem("debug-info", seen, remedy)


def _lines(area: Area, elf: Elf, units: list[CompileUnit]) -> Diagnosis:
    if any(unit.dwo for unit in units):
        seen = "Its debug information is split: it lies in .dwo files beside the object files."
        return area.warning("debug-info", seen, "Keep those, or compile without -gsplit-dwarf.")
    apart = "" if ".debug_info" in elf.sections else f" ({elf.debug_file.path if elf.debug_file else ''})"
    return area.ok("debug-info", f"It has debug information{apart} of {_count(len(units), 'source')} of yours.")


def _symbols(area: Area, elf: Elf) -> Diagnosis:
    if any(file and ".symtab" in file.sections for file in (elf, elf.debug_file)):
        return area.ok("symbols", "It has a symbol table.")
    seen = "It has no symbol table: frames in code without lines have no names."
    return area.warning("symbols", seen, "Do not strip it.")


def _optimized(area: Area, elf: Elf, units: list[CompileUnit]) -> Diagnosis:
    known = [options[-1] for unit in units if (options := _OPTION.findall(unit.producer))]
    bare = any(" -g" in unit.producer and not _OPTION.search(unit.producer) for unit in units)  # GCC's default is -O0
    worse = Counter(f"-O{level}" for level in known if level not in _UNOPTIMIZED)
    if worse:
        seen = f"Compiled with {', '.join(sorted(worse))}: {worse.total()} of {_count(len(units), 'source')}; "
        return area.warning("optimized", f"{seen}variables can be gone, and lines jump.", f"{_DEBUG_BUILD}.")
    if known or bare:
        return area.ok("optimized", "It is not optimized, as its compiler recorded.")
    if _variables_move(elf, units):
        seen = "It seems to be optimized: its variables move, which its compiler's options would say but are not kept."
        return area.warning("optimized", seen, f"{_DEBUG_BUILD}.")
    return area.ok("optimized", "It seems not to be optimized: its variables stay where they are.")


def _variables_move(elf: Elf, units: list[CompileUnit]) -> bool:
    """Whether variables have lists of places, which compilers write only where they optimize."""
    if units and all(unit.producer.startswith("clang") and unit.version >= 5 for unit in units):
        return any(unit.location_lists for unit in units)
    return any(elf.with_section(name) for name in _LOCATION_LISTS)


def _asserts(area: Area, elf: Elf) -> Diagnosis:
    if b"__assert_fail" in elf.wanted():
        return area.ok("asserts", "Its assert() is on, at least in a part of it: it calls __assert_fail.")
    source = elf.with_section(".debug_macro")
    sections = [source.section_data(name) for name in (".debug_str", ".debug_macro")] if source else []
    if any(_NDEBUG.search(bytes(data)) for data in sections):
        seen = "Its assert() is off: NDEBUG is among the macros that its compiler recorded."
        return area.warning("asserts", seen, "Put `-UNDEBUG` behind the compiler's options: Python's have -DNDEBUG.")
    seen = "Whether assert() is on cannot be told: nothing in it calls it, and the macros are not recorded."
    remedy = "Python's own compiler options have -DNDEBUG, which `-UNDEBUG` at their end undoes."
    return area.inapplicable("asserts", seen, remedy)


def _sources(area: Area, units: list[CompileUnit], root: str) -> Diagnosis:
    missing = [unit.file for unit in units if not is_file(root + unit.file)]
    if not units:
        return area.warning("sources", "None of its debug information is of a source of yours.", f"{_DEBUG_BUILD}.")
    if missing:
        seen = f"{len(missing)} of {_count(len(units), 'source')} are not where they were compiled: {missing[0]}"
        return area.warning("sources", f"{seen}{', ...' if len(missing) > 1 else '.'}", _MAP)
    lie = "lies where it was" if len(units) == 1 else "lie where they were"
    return area.ok("sources", f"Its {_count(len(units), 'source')} {lie} compiled: {units[0].file}.")


def _index(area: Area, elf: Elf) -> Diagnosis:
    source = elf.with_section(".debug_info") or elf
    size = source.sections[".debug_info"].size if ".debug_info" in source.sections else 0
    name = next((name for name in _INDEXES if name in source.sections), "")
    if name:
        return area.ok("index", f"It has an index for gdb ({name}) of {size / 1e6:,.0f} MB of debug information.")
    if size < _LARGE:
        return area.ok("index", f"It has no index for gdb, and needs none: {size / 1e6:,.1f} MB of debug information.")
    seen = f"It has no index for gdb, which reads {size / 1e6:,.0f} MB of debug information each time."
    return area.warning("index", seen, "Link it with `-Wl,--gdb-index` (lld, gold, mold), or run `gdb-add-index FILE`.")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
