"""What the debug information says of an address: the function, what is inlined into it there, and the lines of each.

gdb shows the same: the innermost frame has the line of the code, and one around it the line that calls.
"""

from __future__ import annotations

import os
import posixpath
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pyharness.reading.binaries.abbreviations import ADDRESS
from pyharness.reading.binaries.debug_entries import FOLDER, LINES, NAME, Entry, Unit, unit_at, units
from pyharness.reading.binaries.line_table import UnitLines
from pyharness.reading.functions.function_name import bare_name
from pyharness.reading.functions.place import CodePlace
from pyharness.reading.functions.symbol_names import demangled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.reading.binaries.elf import Elf

_FUNCTION, _INLINED, _BLOCK, _NAMESPACE = 0x2E, 0x1D, 0x0B, 0x39
_TYPES = {0x02, 0x13, 0x17}  # classes, structures, unions
_ORIGIN, _SPECIFICATION = 0x31, 0x47
_LINKAGE_NAMES = (0x6E, 0x2007)
_CALL_FILE, _CALL_LINE, _ENTRY_PC = 0x58, 0x59, 0x52
_MOST_STEPS = 20
_LONG_TYPE = re.compile(r"\b(?:short|long)(?: (?:long|unsigned|int))+\b")


def places_at(elf: Elf, address: int) -> list[CodePlace]:
    """The functions at an address of the file's own, the innermost inlined one first; empty without debug information.

    What is damaged counts as not there.
    """
    source = elf.with_section(".debug_line")
    try:
        unit = unit_at(source, address) if source else None
        return list(_places(unit, address)) if unit else []
    except (IndexError, ValueError, KeyError):
        return []


def _places(unit: Unit, address: int) -> Iterator[CodePlace]:
    lines = _lines(unit.source, unit.root.number(LINES))
    folder = unit.text(unit.root, FOLDER)
    place = lines.place(address)
    file, line = (_path(folder, place[0]), place[1]) if place else (None, None)
    functions = _functions(unit, address)
    if not functions and place:  # as where debug information lies in files of its own
        yield CodePlace("", file, line)
    for entry in reversed(functions):
        yield CodePlace(_name(unit, entry), file, line)
        called_in, line = entry.number(_CALL_FILE), entry.number(_CALL_LINE) or None
        file = _path(folder, lines.names[called_in]) if 0 < called_in < len(lines.names) else None


@lru_cache(maxsize=64)
def _lines(source: Elf, offset: int) -> UnitLines:
    return UnitLines(source, offset)


@lru_cache(maxsize=4096)
def _path(folder: str, name: str) -> str:
    """A file as gdb names it: one that is here by its real path."""
    path = posixpath.normpath(posixpath.join(folder, name))
    return os.path.realpath(path) if os.path.exists(path) else path  # noqa: PTH110


def _functions(unit: Unit, address: int) -> list[Entry]:
    """The function that the address is in, then what is inlined into one another there."""
    found = _below(unit, unit.root, address)
    if found:
        return found
    nested = _function_at(unit, address)  # as a lambda's is
    return [nested, *_below(unit, nested, address)] if nested else []


def _function_at(unit: Unit, address: int) -> Entry | None:
    """The function that an address is in, at whatever depth it is described."""
    found = (entry for low, high, entry in _coded(unit.source, unit.offset) if low <= address < high)
    return next(found, None)


@lru_cache(maxsize=32)
def _coded(source: Elf, offset: int) -> list[tuple[int, int, Entry]]:
    """The ranges of all functions of a unit, the one that is described last first."""
    unit = Unit(source, offset)
    return [(low, high, each) for each in unit.coded(_FUNCTION) for low, high in unit.ranges(each)][::-1]


def _below(unit: Unit, parent: Entry, address: int) -> list[Entry]:
    for child in unit.children(parent):
        if child.tag in {_FUNCTION, _INLINED, _BLOCK} and _covers(unit, child, address):
            return [child] * (child.tag != _BLOCK) + _below(unit, child, address)
        if child.tag == _NAMESPACE and (found := _below(unit, child, address)):
            return found
    return []


def inlined_calls(unit: Unit, address: int) -> Iterator[tuple[int, list[int]]]:
    """Each line of the function at an address into which code is inlined, and where the parts of that code begin."""
    function = _function_at(unit, address)
    blocks = [function] if function else []
    while blocks:
        for child in unit.children(blocks.pop()):
            if child.tag == _BLOCK:
                blocks.append(child)
            elif child.tag == _INLINED:
                yield child.number(_CALL_LINE), [low for low, high in unit.ranges(child) if low < high]


class InlinedCall(NamedTuple):
    """Where the code begins that is inlined for a call."""

    line: int
    entry: int
    """The first instruction: an address of the file's own."""
    within: int
    """What the call is written in, a function or one that is inlined itself: where its entry lies."""


def calls_inlined(elf: Elf, address: int, file: str) -> list[InlinedCall]:
    """The inlined calls in lines of ``file``, of the function at an address and of what is inlined there."""
    source = elf.with_section(".debug_info")
    try:
        unit = unit_at(source, address) if source else None
        return list(_calls_inlined(unit, address, file)) if unit else []
    except (IndexError, ValueError, KeyError):
        return []


def _calls_inlined(unit: Unit, address: int, file: str) -> Iterator[InlinedCall]:
    names, folder = _lines(unit.source, unit.root.number(LINES)).names, unit.text(unit.root, FOLDER)
    files = {number for number, name in enumerate(names) if _path(folder, name) == file}
    function = _function_at(unit, address)
    around = [(function, function.offset)] if function else []
    while around:
        parent, within = around.pop()
        for child in unit.children(parent):
            if child.tag == _BLOCK:
                around.append((child, within))
            elif child.tag == _INLINED:
                around.append((child, child.offset))
                entry = _entry(unit, child)
                if entry is not None and child.number(_CALL_FILE) in files:
                    yield InlinedCall(child.number(_CALL_LINE), entry, within)


def _entry(unit: Unit, inlined: Entry) -> int | None:
    """Where code is entered; its lowest address where that is not said, ``None`` where it has none."""
    form, _ = inlined.values.get(_ENTRY_PC, (0, 0))
    if form == ADDRESS:
        return inlined.number(_ENTRY_PC)
    return min((low for low, high in unit.ranges(inlined) if low < high), default=None)


def _covers(unit: Unit, entry: Entry, address: int) -> bool:
    return any(low <= address < high for low, high in unit.ranges(entry))


def _name(unit: Unit, entry: Entry) -> str:
    """The qualified name, without parameters: by what the linker calls it, else by what it is declared in."""
    for _ in range(_MOST_STEPS):
        linkage = next(filter(None, (unit.text(entry, name) for name in _LINKAGE_NAMES)), "")
        if linkage:
            return bare_name(demangled(linkage.encode()))
        origin = unit.reference(entry, _ORIGIN)
        if origin is None:
            origin = unit.reference(entry, _SPECIFICATION)
        if origin is None:
            if (name := unit.text(entry, NAME)).startswith("_Z"):  # so GCC calls what OpenMP runs in parallel
                return bare_name(demangled(name.encode()))
            return _plain("::".join([*_scopes(unit, entry.offset), name]))
        if not unit.offset < origin < unit.end:
            unit = _unit_around(unit.source, origin)
        entry = unit.entry(origin)
    return ""


def _plain(name: str) -> str:
    """Types as linkage names have them: ``unsigned long``, not ``long unsigned int``; a lambda's name stays so."""
    if "<lambda" in name:
        return name
    return _LONG_TYPE.sub(lambda found: _plain_type(found[0]), name)


def _plain_type(words: str) -> str:
    parts = [word for word in words.split() if word != "int"]
    return " ".join([*(["unsigned"] if "unsigned" in parts else []), *(word for word in parts if word != "unsigned")])


def _scopes(unit: Unit, offset: int) -> list[str]:
    """Names of the namespaces and classes that an entry is declared in."""
    scopes, parent = [], unit.root
    for _ in range(_MOST_STEPS):
        parent = next((one for one in unit.children(parent) if one.offset <= offset < unit.after(one)), parent)
        if parent.offset == offset or offset < parent.offset:
            break
        name = unit.text(parent, NAME)
        if parent.tag == _NAMESPACE:
            scopes.append(name or "(anonymous namespace)")
        elif parent.tag in _TYPES and name:
            scopes.append(name)
        elif parent.tag == _FUNCTION:  # what is local to a function is named without it
            scopes.clear()
    return scopes


@lru_cache(maxsize=64)
def _unit_around(source: Elf, offset: int) -> Unit:
    return next(unit for unit in units(source) if unit.offset < offset < unit.end)
