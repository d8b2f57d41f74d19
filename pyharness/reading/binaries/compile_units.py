"""What was compiled into a library, from which file and how: the first entry of each unit of ``.debug_info``."""

from __future__ import annotations

import posixpath
from itertools import islice
from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.reading.binaries.debug_entries import FOLDER, NAME, PRODUCER, Unit, units

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.reading.binaries.elf import Elf

_COMPILE_UNIT, _SKELETON_UNIT = 0x11, 0x4A
_LOCATION_LISTS = 0x8C  # DW_AT_loclists_base
_SPLIT_NAMES = (0x76, 0x2130)  # DW_AT_dwo_name, DW_AT_GNU_dwo_name
_MOST_UNITS = 20_000


@frozen
class CompileUnit:
    """One translation unit."""

    file: str
    """The source file, joined with the folder that the compiler ran in."""
    producer: str
    """The compiler; GCC adds its options."""
    version: int
    """The version of DWARF."""
    location_lists: bool
    """Whether it says that it has variables that move: Clang does from DWARF 5 on, GCC never does."""
    dwo: str
    """The file beside the object file that has its debug information (``-gsplit-dwarf``); empty where none has."""


def compile_units(elf: Elf) -> Iterator[CompileUnit]:
    """Every unit of a file or of its separate debug file; a damaged one ends it."""
    source = elf.with_section(".debug_info")
    if source is None:
        return
    try:
        for unit in islice(units(source), _MOST_UNITS):
            if unit.root.tag in {_COMPILE_UNIT, _SKELETON_UNIT}:
                yield _described(unit)
    except (IndexError, ValueError, KeyError):
        return


def _described(unit: Unit) -> CompileUnit:
    name, folder, producer = (unit.text(unit.root, attribute) for attribute in (NAME, FOLDER, PRODUCER))
    split = next(filter(None, (unit.text(unit.root, attribute) for attribute in _SPLIT_NAMES)), "")
    return CompileUnit(
        file=posixpath.normpath(posixpath.join(folder, name)),
        producer=producer,
        version=unit.version,
        location_lists=_LOCATION_LISTS in unit.root.values,
        dwo=posixpath.join(folder, split) if split else "",
    )
