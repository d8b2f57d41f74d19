"""Functions that Python's garbage collector calls: no line of a program's does, and Python cannot run meanwhile."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.functions.user_functions import user_functions
from pyharness.reading.functions.function_name import bare_name

if TYPE_CHECKING:
    from pyharness.reading.binaries.elf import Elf

_NAMED = re.compile(r"traverse|is_gc$", re.IGNORECASE)
"""How ``tp_traverse`` and ``tp_is_gc`` are named everywhere; what they take tells them from others of the name."""
_VISITOR = "visitproc"
_MOST = 16
"""Frames between a visitor and where the thread stands."""


def stops_in(elf: Elf, bias: int) -> set[int]:
    """Where a step would stop in such functions of a library."""
    return {stop for stop in _named(elf, bias) if _is_called(stop)}


def is_collecting() -> bool:
    """Whether the selected thread stands in what the collector calls, half of whose work is done."""
    frame: gdb.Frame | None = gdb.newest_frame()
    for _ in range(_MOST):
        function = frame.function() if frame else None
        if frame is None or function is None:
            return False
        if _is_visited(function):
            return True
        frame = frame.older()
    return False


@lru_cache(maxsize=64)
def _named(elf: Elf, bias: int) -> list[int]:
    return [each.stop_address for each in user_functions(elf, bias) if _NAMED.search(each.name)]


def _is_called(address: int) -> bool:
    block: gdb.Block | None = gdb.block_for_pc(address)
    while block and not block.function:
        block = block.superblock
    return block is not None and block.function is not None and _is_visited(block.function)


def _is_visited(function: gdb.Symbol) -> bool:
    """By what it takes: ``traverse(self, visitproc, void*)``, and ``is_gc(self)``.

    Of others that is not asked: gdb 13 crashes on the parameters of an inlined constructor that Clang has compiled.
    """
    if function.type is None or function.type.code != gdb.TYPE_CODE_FUNC or not _NAMED.search(bare_name(function.name)):
        return False
    taken = [field.type for field in function.type.fields() if field.type]
    if any(each.name == _VISITOR for each in taken):
        return True
    return function.name.partition("(")[0].endswith("is_gc") and [each.code for each in taken] == [gdb.TYPE_CODE_PTR]
